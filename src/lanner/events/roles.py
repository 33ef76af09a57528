"""What a column is for, by its name and its numbers: identifiers, event weights and labels are no features.

Only one sample is looked at, never two: a column that is left out because samples differ in it would be a discovery
that is lost. For the same reason a column that has one value only always stays: data with another are an alarm.
"""

from __future__ import annotations

import re

import numpy as np

from lanner.typing import Array

WEIGHTS = "looks like event weights"  # the reason of columns that may be asked for as such
ROWS = 2**16  # of a file that are looked at, at most: enough to tell, and read in no time
_FEWEST = 1000  # rows below which different whole numbers say nothing of an identifier
_LARGE = 100  # counts, charges, flags and classes are no larger; runs, events and luminosity blocks are
# Of measured whole numbers (an energy in MeV) more than one row in a thousand has the value of another, unless they
# spread over more than a thousand times as many values as there are rows.
_DIFFERENT = 0.999

_WEIGHT = {"weight", "weights", "wgt", "wgts", "wt", "wts"}  # as a word of the name: genWeight, weight_mc
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# What identifiers are called, in small letters without signs, and what that means.
_IDENTIFIERS = {
    "a run number": "run runnumber runno runnr runnum runid",
    "an event number": "event eventnumber eventno eventnr eventnum eventid evt evtnumber evtno evtnum evtid",
    "a luminosity block": "lumi lumiblock lumiblocknumber lumisection lumisec luminosityblock luminositysection ls",
    "a bunch crossing": "bx bxid bcid bunchcrossing bunchid orbit orbitnumber",
    "a time stamp": "timestamp gpstime unixtime eventtime",
    "the number of a row": "index idx id uid row rowid rownumber rownum entry entryid entrynumber rdfentry unnamed0",
}
_NAMED = {name: words for words, names in _IDENTIFIERS.items() for name in names.split()}
_LABEL_NAMES = (
    "label labels target truth truthlabel issignal issig isbkg isbackground sigbkg process processid procid sample "
    "sampleid dataset datasetid dsid mcchannelnumber channelnumber"
)
_LABELS = set(_LABEL_NAMES.split())


def role_by_name(name: str) -> str | None:
    """What a column is for by its name alone, in words; None for all that may well be a feature.

    >>> role_by_name("genWeight"), role_by_name("luminosityBlock"), role_by_name("pt1")
    ('event weights', 'a luminosity block', None)
    """
    if name == "w" or _WEIGHT & {word.lower() for word in _WORDS.findall(name)}:
        return "event weights"
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return "a label" if plain in _LABELS else _NAMED.get(plain)


def why_no_feature(name: str, values: Array) -> str | None:
    """Why a column is no feature, from its name and rows in the order of the file; None for a feature.

    >>> why_no_feature("Event", np.array([109060857.0, 109275715.0]))
    'looks like an event number (whole numbers up to 109275715)'
    >>> why_no_feature("charge", np.array([1.0, -1.0])), why_no_feature("run", np.array([1.0, 1.0]))
    (None, None)
    """
    values = values[np.isfinite(values)]
    if not len(values) or values.min() == values.max():
        return None
    role, whole = role_by_name(name), bool((values == np.floor(values)).all())
    if role == "event weights":
        return WEIGHTS
    if role == "a label":
        return "looks like a label of the events" if whole else None
    if not whole:
        return None
    largest = np.abs(values).max()
    if role is not None:
        return f"looks like {role} (whole numbers up to {largest:.0f})" if largest > _LARGE else None
    if len(values) < _FEWEST or largest <= _LARGE:
        return None
    different = len(np.unique(values))
    if different >= _DIFFERENT * len(values):
        return "looks like an identifier (whole numbers, nearly all different)"
    steps = np.diff(values)
    if different > _LARGE and ((steps >= 0).all() or (steps <= 0).all()):
        return "looks like an identifier (whole numbers in the order of the rows)"
    return None
