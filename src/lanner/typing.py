"""Types that every part of the package shares."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = dict[str, Array]
PathLike = str | os.PathLike[str]
# Progress of long work: what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
# Progress within a batch: how many more toys have ended.
ToysEnded = Callable[[int], None]
