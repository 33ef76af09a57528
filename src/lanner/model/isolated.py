"""Pivots at the few reference events that lie apart from all others: rare categories, and the ends of tails.

Several events in one place, far from the centres, are worth a pivot: whether one of them is among the centres would
otherwise be a matter of the seed. A toy that has the pivot's own event among its data is not helped; it then counts as
if it were none.

An event that is alone in its place is worth none. A toy that has it among its data never has another one there in its
reference, but real data may have one where the reference has one, and with a pivot this would be more surprising than
all toys: of 500 null data sets with a flag that two reference events have on average, 13 had it in one event of the
data and one of the reference, each of these with a p below 0.01, and most with the smallest that there is. Without a
pivot both are out of reach, and judged alike (`inference/terms.py`).

Where many are alone, as in many dimensions, no single one of them decides, and they stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.events.scaled_rows import ScaledRows
from lanner.model.kernel import KernelColumns
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks
from lanner.model.residuals import BEYOND
from lanner.typing import Array

MOST = 100  # events apart, or alone, up to which they are few
_ROWS = 8192

Rows = NDArray[np.intp]


def with_company(basis: Basis, pivots: Rows, events: ScaledRows, reference: int, max_rank: int) -> tuple[Basis, Rows]:
    """The basis with pivots in the places apart that several reference events share, and without those of a single one.

    `pivots` are the events of the pivots; the first events, so many, are the reference.
    """
    here = events if events.spread is None else events[:reference]  # which is one pass over its files
    residuals = np.empty(reference)
    for rows in blocks(reference, _ROWS):
        phi = basis.features(here[rows])
        residuals[rows] = 1.0 - np.einsum("ij,ij->i", phi, phi)
    apart = np.flatnonzero(residuals > BEYOND)
    if 0 < len(apart) <= min(MOST, max_rank - basis.rank):
        basis, chosen = basis.extended(here[apart], least=BEYOND)
        pivots = np.concatenate([pivots, apart[chosen]])
    alone = _alone(basis, pivots, here, reference)
    if not 0 < len(alone) <= min(MOST, basis.rank - 1):
        return basis, pivots
    kept = np.setdiff1d(np.arange(basis.rank), alone)
    return basis.reduced(kept), pivots[kept]


def _alone(basis: Basis, pivots: Rows, here: ScaledRows | Array, reference: int) -> Rows:
    """Pivots that neither other pivots nor any other event of the reference are near."""
    lonely = np.flatnonzero(basis.residuals_of_pivots(basis.rank) > BEYOND)
    if not len(lonely):
        return lonely
    columns = KernelColumns.of(basis.kernel, basis.pivots[lonely])
    nearest = np.zeros(len(lonely))
    for rows in blocks(reference, _ROWS):
        k = columns(here[rows])
        own = np.flatnonzero((pivots[lonely] >= rows.start) & (pivots[lonely] < rows.stop))
        k[pivots[lonely[own]] - rows.start, own] = 0.0
        nearest = np.maximum(nearest, k.max(axis=0))
    # An event that were a pivot would leave 1 - k^2 of it unexplained.
    return lonely[1.0 - nearest**2 > BEYOND]
