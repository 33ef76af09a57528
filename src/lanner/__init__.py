"""Lanner: does the data follow the reference model, how surely, and where does it depart from it?

The names below are imported when they are first used, so that `import lanner` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanner import errors

if TYPE_CHECKING:
    from lanner.comparison.compare import compare
    from lanner.comparison.power import Power, power
    from lanner.comparison.table import Comparison
    from lanner.comparison.tests.classifier import classifier_test
    from lanner.events import Sample, Scaling
    from lanner.events.io import read_sample
    from lanner.inference import WeightedChi2, analytic_null
    from lanner.model.estimator import LogRatioClassifier
    from lanner.model.fit import fit_ratio
    from lanner.model.ratio import LearnedRatio
    from lanner.paper.datasets.example import write_example
    from lanner.paper.reproduce import reproduce
    from lanner.paper.suites import compare_suite, power_suite
    from lanner.report.characterise import characterise
    from lanner.report.page import write_report
    from lanner.run.calibration import Calibration, apply, calibrate, load_calibration
    from lanner.run.execution.dask import Dask
    from lanner.run.result import SearchResult
    from lanner.run.result_io import load_result, save_result
    from lanner.run.search import search
    from lanner.run.tune import tune

__version__ = "0.1.0"

_WHERE = {
    "Sample": "lanner.events",
    "Scaling": "lanner.events",
    "read_sample": "lanner.events.io",
    "fit_ratio": "lanner.model.fit",
    "LearnedRatio": "lanner.model.ratio",
    "LogRatioClassifier": "lanner.model.estimator",
    "analytic_null": "lanner.inference",
    "WeightedChi2": "lanner.inference",
    "tune": "lanner.run.tune",
    "calibrate": "lanner.run.calibration",
    "Calibration": "lanner.run.calibration",
    "load_calibration": "lanner.run.calibration",
    "search": "lanner.run.search",
    "SearchResult": "lanner.run.result",
    "apply": "lanner.run.calibration",
    "save_result": "lanner.run.result_io",
    "load_result": "lanner.run.result_io",
    "characterise": "lanner.report.characterise",
    "write_report": "lanner.report.page",
    "power": "lanner.comparison.power",
    "Power": "lanner.comparison.power",
    "Dask": "lanner.run.execution.dask",
    "power_suite": "lanner.paper.suites",
    "compare": "lanner.comparison.compare",
    "Comparison": "lanner.comparison.table",
    "compare_suite": "lanner.paper.suites",
    "classifier_test": "lanner.comparison.tests.classifier",
    "reproduce": "lanner.paper.reproduce",
    "write_example": "lanner.paper.datasets.example",
}

__all__ = [
    "Calibration",
    "Comparison",
    "Dask",
    "LearnedRatio",
    "LogRatioClassifier",
    "Power",
    "Sample",
    "Scaling",
    "SearchResult",
    "WeightedChi2",
    "analytic_null",
    "apply",
    "calibrate",
    "characterise",
    "classifier_test",
    "compare",
    "compare_suite",
    "errors",
    "fit_ratio",
    "load_calibration",
    "load_result",
    "power",
    "power_suite",
    "read_sample",
    "reproduce",
    "save_result",
    "search",
    "tune",
    "write_example",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'lanner' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
