# The public names and where each is defined, for type checkers; `lanner/__init__.py` imports them from here as well.

from . import errors
from .comparison.blind import BlindSearch, blind_search
from .comparison.compare import compare
from .comparison.exposure import Exposure, exposure
from .comparison.power import power
from .comparison.sensitivity import Sensitivity
from .comparison.strengths import Power
from .comparison.table import Comparison
from .comparison.tests.classifier import classifier_test
from .events import Sample, Scaling
from .events.io import read_sample
from .events.spread import Spread, spread
from .inference import WeightedChi2, analytic_null
from .model.estimator import LogRatioClassifier
from .model.fit import fit_ratio
from .model.ratio import LearnedRatio
from .monitor.monitor import Monitor
from .paper.datasets.example import write_example
from .paper.reproduce import reproduce
from .paper.suites import compare_suite, power_suite
from .report.analysis import Analysis, read_analysis
from .report.characterise import characterise
from .report.export import export
from .report.look import Look
from .report.page import write_report
from .run.apply import apply
from .run.calibration import Calibration, calibrate, load_calibration
from .run.dry_run import DryRun, dry_run
from .run.execution.dask import Dask
from .run.regions import search_regions
from .run.regions_result import RegionResult, RegionsResult
from .run.result import SearchResult
from .run.result_io import load_result, save_result
from .run.search import search
from .run.tune import tune
from .run.unblind import unblind
from .uncertainties.declared import Normalisation, Process, Shifted, Weights
from .uncertainties.effects import KnownRatio

__version__: str

__all__ = [
    "Analysis",
    "BlindSearch",
    "Calibration",
    "Comparison",
    "Dask",
    "DryRun",
    "Exposure",
    "KnownRatio",
    "LearnedRatio",
    "LogRatioClassifier",
    "Look",
    "Monitor",
    "Normalisation",
    "Power",
    "Process",
    "RegionResult",
    "RegionsResult",
    "Sample",
    "Scaling",
    "SearchResult",
    "Sensitivity",
    "Shifted",
    "Spread",
    "WeightedChi2",
    "Weights",
    "analytic_null",
    "apply",
    "blind_search",
    "calibrate",
    "characterise",
    "classifier_test",
    "compare",
    "compare_suite",
    "dry_run",
    "errors",
    "export",
    "exposure",
    "fit_ratio",
    "load_calibration",
    "load_result",
    "power",
    "power_suite",
    "read_analysis",
    "read_sample",
    "reproduce",
    "save_result",
    "search",
    "search_regions",
    "spread",
    "tune",
    "unblind",
    "write_example",
    "write_report",
]
