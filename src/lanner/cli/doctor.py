"""`lanner doctor`: what Lanner finds on this machine, for people whose runs are slow and for reports of problems."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import click

from lanner.cli.terminal import plain_errors

_LIBRARIES = [
    "numpy",
    "scipy",
    "scikit-learn",
    "threadpoolctl",
    "pandas",
    "h5py",
    "pyarrow",
    "uproot",
    "awkward",
    "hist",
    "matplotlib",
    "dask",
    "distributed",
    "torch",
    "pythia8mc",
]
Section = dict[str, Any]


@click.command()
@click.option("--memory", metavar="SIZE", help="Memory budget, such as '4 GB' (default: half of what is free).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def doctor(memory: str | None, as_json: bool) -> None:
    """Tell what Lanner finds here: versions, cores, threads, memory, GPU and folders."""
    with plain_errors(quiet=False):
        found = findings(memory)
    click.echo(json.dumps(found, indent=1) if as_json else _text(found))


def findings(memory: str | None = None) -> dict[str, Section]:
    """What there is, in sections of plain values; None where something is absent."""
    return {
        "versions": _versions(),
        "processor": _processor(),
        "memory": _memory(memory),
        "gpu": _gpu(),
        "folders": _folders(),
    }


def _versions() -> Section:
    return {"python": platform.python_version(), "lanner": _version("lanner")} | {
        name: _version(name) for name in _LIBRARIES
    }


def _version(name: str) -> str | None:
    if name == "lanner":
        import lanner

        return lanner.__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> Section:
    import numpy as np
    import scipy.linalg  # noqa: F401 (loads the BLAS that is asked about)
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    blas = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "cores this process may use": usable,
        "BLAS": ", ".join(sorted({f"{pool['internal_api']} {pool['version']}" for pool in blas})) or None,
        "BLAS threads": max((pool["num_threads"] for pool in blas), default=None),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
    }


def _memory(memory: str | None) -> Section:
    import psutil

    from lanner._util.machine import megabytes, memory_budget

    machine = psutil.virtual_memory()
    return {
        "installed": megabytes(machine.total),
        "free": megabytes(machine.available),
        "budget of a run": megabytes(memory_budget(memory)),
    }


def _gpu() -> Section:
    if find_spec("torch") is None:
        return {"torch": None}
    import torch

    found = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"torch": torch.__version__, "CUDA devices": ", ".join(found) or None}


def _folders() -> Section:
    import tempfile

    from lanner.paper.datasets.library import cache_folder

    cache = cache_folder()
    return {
        "cache of generated samples": f"{cache}{'' if cache.exists() else ' (not there yet)'}",
        "temporary files": tempfile.gettempdir(),
    }


def _text(found: dict[str, Section]) -> str:
    """A line for each value, under the title of its section."""
    width = max(len(name) for section in found.values() for name in section)
    absent = {"versions": "not installed", "processor": "not set", "gpu": "none"}
    lines = []
    for title, section in found.items():
        lines.append(title)
        for name, value in section.items():
            lines.append(f"  {name.ljust(width)}  {absent.get(title, 'none') if value is None else value}")
    return "\n".join(lines)
