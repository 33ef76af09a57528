"""Run Pythia 8 in chunks, so that the same seed gives the same events with any number of processes.

Chunk k has its own random numbers and its own, freshly initialised generator. The chunks' events are joined in the
order of k and cut to the number asked for.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module, metadata
from itertools import count
from multiprocessing import active_children, get_context
from typing import Any, TypedDict

import numpy as np

from lanner.errors import InputError
from lanner.typing import Columns, Progress

# Turns a batch of generated events into the columns of those that are selected. Other processes have to unpickle it.
Reconstruct = Callable[[Any, np.random.Generator], Columns]

VERSION = "8.317.2"
BATCH = 2000  # events held in memory at once
CHUNK = 10_000  # generated events of a chunk; the first ones are smaller, for small samples
SEEDS = 900_000_000  # Pythia's range of seeds
# No multiparton interactions: they cost most of the time and add only soft activity, which the detector's
# resolutions stand for.
COMMON = (
    "Print:quiet = on",
    "PartonLevel:MPI = off",
    "Next:numberCount = 0",
    "Next:numberShowEvent = 0",
    "Next:numberShowInfo = 0",
    "Next:numberShowProcess = 0",
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Process:
    """What collides and what comes out: Pythia's settings, a particle spectrum if it needs one, and a bias in mass.

    With a `bias` (b1, b2), events of squared mass s (TeV^2) are generated 1 + b1 s + b2 s^2 times as often as they
    occur.
    """

    name: str
    lines: tuple[str, ...]
    spectrum: str = ""  # an SLHA file's text
    bias: tuple[float, float] | None = None

    def settings(self) -> dict[str, Any]:
        """How events of this process are made, to be written beside them."""
        return {"sample": self.name, "generator": f"Pythia {version()}", "pythia": [*COMMON, *self.lines]}


class Running(TypedDict, total=False):
    """How `run` does its work: random seed (0), number of processes (1), and what is told of the progress (nothing)."""

    seed: int
    processes: int
    progress: Progress | None


@dataclass(frozen=True, eq=False)
class Run:
    """Reconstructed events, and how many events were generated and selected for them."""

    columns: Columns
    generated: int
    selected: int

    @property
    def acceptance(self) -> float:
        """The fraction of the generated events that was selected."""
        return self.selected / self.generated


@dataclass(frozen=True)
class _Task:
    process: Process
    reconstruct: Reconstruct = field(repr=False)
    seed: int

    def __call__(self, k: int) -> tuple[Columns, int]:
        entropy = (self.seed, *self.process.name.encode())
        first, _ = np.random.SeedSequence(entropy).generate_state(2)
        # Seeds that follow one another give independent sequences.
        pythia, _hooks = _start(self.process, 1 + (int(first) + k) % SEEDS)
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(k,)))
        size = chunk_size(k)
        parts = [self.reconstruct(pythia.nextBatch(min(BATCH, size - at)), rng) for at in range(0, size, BATCH)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, size


def chunk_size(k: int) -> int:
    """How many events chunk k generates.

    >>> [chunk_size(k) for k in range(6)]
    [1000, 2000, 4000, 8000, 10000, 10000]
    """
    return int(min(1000 * 2 ** min(k, 10), CHUNK))


def run(
    process: Process,
    reconstruct: Reconstruct,
    n: int,
    *,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
) -> Run:
    """n selected events of a process, each column an array."""
    if processes < 1:
        raise InputError(f"processes={processes!r}: at least one process has to do the work")
    need("pythia8mc")
    task = _Task(process, reconstruct, seed)
    parts: list[Columns] = []
    generated = selected = 0
    with closing(_in_order(task, processes)) as chunks:
        for columns, size in chunks:
            parts.append(columns)
            generated += size
            selected += len(next(iter(columns.values())))
            if progress is not None:
                progress("events", min(selected, n), n)
            if selected >= n:
                break
            if generated > 100 * CHUNK and selected < generated * 1e-5:
                raise InputError(f"{process.name}: {selected} of {generated} generated events pass; loosen the cuts")
    log.info("%s: %d of %d generated events selected", process.name, selected, generated)
    joined = {name: np.concatenate([part[name] for part in parts])[:n] for name in parts[0]}
    return Run(joined, generated, selected)


def _in_order(task: _Task, processes: int) -> Generator[tuple[Columns, int]]:
    """The chunks' results, one after the other, without end."""
    if processes == 1:
        yield from map(task, count())
        return
    others = set(active_children())
    # Spawned, not forked: the caller may have threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_let_interrupt_kill) as pool:
        pending = [pool.submit(task, k) for k in range(processes)]
        try:
            for k in count(processes):
                yield pending.pop(0).result()
                pending.append(pool.submit(task, k))
        finally:  # after enough events, an error or Ctrl-C, nobody waits for the chunks under way
            for worker in set(active_children()) - others:
                worker.terminate()


def _let_interrupt_kill() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the main process reports an interrupt, the workers just end


def _start(process: Process, seed: int) -> tuple[Any, Any]:
    """An initialised generator, and the hooks that it calls, which it does not keep alive itself."""
    pythia8 = need("pythia8mc")
    pythia = pythia8.Pythia("", False)
    with tempfile.NamedTemporaryFile("w", suffix=".slha") as spectrum:
        lines = [*COMMON, *process.lines, "Random:setSeed = on", f"Random:seed = {seed}"]
        if process.spectrum:
            spectrum.write(process.spectrum)
            spectrum.flush()
            lines += ["SLHA:verbose = 0", f"SLHA:file = {spectrum.name}"]
        for line in lines:
            if not pythia.readString(line):
                raise InputError(f"{process.name}: Pythia does not take the setting {line!r}")
        hooks = None if process.bias is None else _mass_bias(pythia8, *process.bias)
        if hooks is not None:
            pythia.setUserHooksPtr(hooks)
        if not pythia.init():
            raise InputError(f"{process.name}: Pythia refuses the settings {'; '.join(process.lines)}")
    return pythia, hooks


def _mass_bias(pythia8: Any, b1: float, b2: float) -> Any:
    class MassBias(pythia8.UserHooks):  # type: ignore[misc]
        def canModifySigma(self) -> bool:
            return True

        def multiplySigmaBy(self, sigma: Any, phase_space: Any, in_event: bool) -> float:
            s = float(phase_space.sHat()) * 1e-6
            return 1 + b1 * s + b2 * s * s

    return MassBias()


def version() -> str:
    """The version of Pythia that is installed; without one, the version that the extra `physics` installs."""
    try:
        return metadata.version("pythia8mc")
    except metadata.PackageNotFoundError:
        return VERSION


def installed() -> bool:
    """Whether events can be generated."""
    try:
        need("pythia8mc"), need("fastjet"), need("vector")
    except InputError:
        return False
    return True


def need(module: str) -> Any:
    """Import a module of the optional part of the installation."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"events are generated with {module}, which is not installed; get it with: pip install 'lanner[physics]'"
        ) from error
