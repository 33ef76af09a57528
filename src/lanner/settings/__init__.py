"""Settings: each is declared here once, with its type, its default, its check and its words.

`FitSettings` says how every fit of a run is made; `search`, `calibrate`, `power` and `tune` take its settings as
keyword arguments (`FitKeywords`). `RunSettings` adds what only a whole run needs: files, toys, workers. The flags of
the command line, the keys of a configuration file and the documented parameters are made from these declarations.

To add a setting: a field of `FitSettings` and of `FitKeywords`, and the line of code that obeys it.
"""

from lanner.settings.fit import MAX_RANK, PENALTY, TOLERANCE, FitKeywords, FitSettings
from lanner.settings.run import DECLARED, EXPECTED, FIT_KEYWORDS, FIT_ONLY, RunSettings, check_known, checked
from lanner.settings.spelling import spelled_out
from lanner.settings.uncertain import DeclaredUncertainty, check_distinct

__all__ = [
    "DECLARED",
    "EXPECTED",
    "FIT_KEYWORDS",
    "FIT_ONLY",
    "MAX_RANK",
    "PENALTY",
    "TOLERANCE",
    "DeclaredUncertainty",
    "FitKeywords",
    "FitSettings",
    "RunSettings",
    "check_distinct",
    "check_known",
    "checked",
    "spelled_out",
]
