"""Events: samples of them, how they are read and selected, and the units in which their features are measured."""

from lanner.events.matching import match_columns
from lanner.events.sample import Sample
from lanner.events.scaling import Scaling

__all__ = ["Sample", "Scaling", "match_columns"]
