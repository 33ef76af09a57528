from __future__ import annotations

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import higgs, susy
from lanner.paper.generators.units import Unit, normalised, physical


@pytest.mark.parametrize("units", [susy.UNITS, higgs.UNITS])
def test_units_there_and_back(rng, units):
    columns = {name: rng.normal(size=5) for name in units}
    back = normalised(physical(columns, units), units)
    assert tuple(back) == tuple(units)
    for name, column in columns.items():
        np.testing.assert_allclose(back[name], column)


def test_a_column_without_unit():
    with pytest.raises(InputError, match="'x' has no known unit; known: pt"):
        physical({"x": np.zeros(1)}, {"pt": Unit(1.0)})
