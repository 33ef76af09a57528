"""An analysis in one file: several simulated samples with their cross-sections and weights, the data, the features."""

from lanner.events.analysis.declared import AnalysisFile, Feature, Simulated
from lanner.events.analysis.file import read_analysis_file
from lanner.events.analysis.reference import ProcessedReference, read_simulated

__all__ = ["AnalysisFile", "Feature", "ProcessedReference", "Simulated", "read_analysis_file", "read_simulated"]
