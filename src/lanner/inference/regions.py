"""A region: some of the events of a pool, seen by every toy that is drawn from the whole pool.

Toys are drawn once, from all events that there are. A region is judged by those of a toy's data that lie in it, against
those of its reference that do, so regions that share events share them in every toy as in the data. The reference of a
toy is normalised as a whole, a0 = N(0) / (its total weight): how many events a region expects follows from the events
that are reference in that toy, and fluctuates with them as the data's own prediction does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.inference.resampling import PermutationScheme, ReferenceScheme
from lanner.model.bunches import Bunches
from lanner.model.splits import Splits
from lanner.model.weightings import Draw


@dataclass(frozen=True, eq=False)
class RegionScheme:
    """Toys and data of a pool as one region sees them."""

    whole: ReferenceScheme | PermutationScheme
    bunches: Bunches  # the pool's rows with the events of the region alone
    place: NDArray[np.intp]  # of each row of the whole pool among these, or -1
    expected: float  # N(0) in the region

    @classmethod
    def of(cls, whole: ReferenceScheme | PermutationScheme, inside: NDArray[np.bool_], expected: float) -> RegionScheme:
        """Of the events of a pool (the reference's, then the data's) that are inside the region."""
        return cls(whole, *whole.bunches.within(inside), expected)

    @property
    def splits(self) -> Splits | None:
        """Which rows give the moments that judge a toy: as in the whole pool."""
        splits = None if isinstance(self.whole, PermutationScheme) else self.whole.splits
        if splits is None:
            return None
        place = self.place[: len(splits.labels)]
        labels = np.empty(np.count_nonzero(place >= 0), dtype=np.int8)
        labels[place[place >= 0]] = splits.labels[place >= 0]
        return Splits(labels, splits.blocks)

    @property
    def held_out(self) -> NDArray[np.intp] | None:
        """Rows that are never a toy's data: none, where candidate centres may be."""
        return None

    def toy(self, i: int) -> Draw:
        """What toy i takes of the region's rows."""
        return self._within(self.whole.toy(i))

    def data(self, draw: int) -> Draw:
        """What the data's fit takes of them, with one of several draws of the reference."""
        return self._within(self.whole.data(draw))

    def _within(self, draw: Draw) -> Draw:
        data, left_out = (self._here(rows) for rows in (draw.data, draw.left_out))
        scale = self.whole.expected / (self._mass - _mass_inside(self.whole.bunches, draw.data, draw.left_out))
        surplus = scale * (self._own_mass - _mass_inside(self.bunches, data, left_out)) - self.expected
        sizes, drawn = self.bunches.sizes, self.bunches.drawn
        return Draw(len(sizes), drawn, data, left_out, draw.split, sizes, scale=scale, surplus=surplus)

    def _here(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        place = self.place[rows]
        return place[place >= 0]

    @cached_property
    def _mass(self) -> float:
        """What the whole reference weighs."""
        return float(self.whole.bunches.mass[: self.whole.bunches.drawn].sum())

    @cached_property
    def _own_mass(self) -> float:
        """What of it lies in the region."""
        return float(self.bunches.mass[: self.bunches.drawn].sum())


def _mass_inside(bunches: Bunches, *rows: NDArray[np.intp]) -> float:
    """What rows weigh that are taken from the reference."""
    return sum(float(bunches.mass[r[bunches.inside[r]]].sum()) for r in rows)
