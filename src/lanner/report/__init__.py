"""What a search found, made visible: the learned ratio against any variable, plots, and a report to send.

Numbers first (`characterise`), then plots of them, then one HTML file of both. matplotlib, mplhep, hist and
jinja2 are imported where they are used, so importing this package costs nothing.
"""

from lanner.report.characterise import Characterisation, characterise
from lanner.report.maps import RatioMap
from lanner.report.page import write_report
from lanner.report.plots.profile import figure_of_profile, plot_distributions, plot_ratio
from lanner.report.plots.search import plot_importance, plot_map, plot_null
from lanner.report.profiles import RatioProfile, ratio_against
from lanner.report.region import Region

__all__ = [
    "Characterisation",
    "RatioMap",
    "RatioProfile",
    "Region",
    "characterise",
    "figure_of_profile",
    "plot_distributions",
    "plot_importance",
    "plot_map",
    "plot_null",
    "plot_ratio",
    "ratio_against",
    "write_report",
]
