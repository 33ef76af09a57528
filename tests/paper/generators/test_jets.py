from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

from lanner.paper.generators import jets
from lanner.paper.generators.vectors import momenta


def event(p: np.ndarray, codes: list[int]) -> ak.Array:
    """One event of particles."""
    import vector

    vector.register_awkward()
    fields = {x: ak.Array([getattr(p, x).tolist()]) for x in "xyzt"}
    return ak.zip({**fields, "id": ak.Array([codes])}, with_name="Momentum4D")


def test_jets_are_those_of_a_known_event():
    pytest.importorskip("fastjet", reason="jets are found with fastjet")
    pt, eta, phi = np.array([[100.0, 20.0, 50.0], [0.0, 0.3, -1.0], [0.0, 0.2, 3.0]])
    p = momenta(pt=pt, eta=eta, phi=phi, mass=0.0)
    found = jets.cluster(event(p, [1, 1, 1]))
    merged = p[0] + p[1]  # closer than 0.5
    assert ak.num(found)[0] == 2
    assert found.pt[0, 0] == pytest.approx(merged.pt)
    assert found.mass[0, 0] == pytest.approx(merged.mass)
    assert (found.pt[0, 1], found.eta[0, 1]) == (pytest.approx(50.0), pytest.approx(-1.0))


def test_flavours_of_measured_jets(rng):
    pytest.importorskip("fastjet", reason="jets are found with fastjet")
    pt, eta = np.array([200.0, 150.0, 100.0]), np.array([0.0, 1.0, -1.0])
    p = momenta(pt=pt, eta=eta, phi=np.array([0.0, 2.0, -2.0]), mass=0.0)
    found = jets.measured(event(p, [5, -4, 21]), rng, smallest=15.0, largest_eta=3.0)
    order = np.argsort(found.eta[0, :3])
    np.testing.assert_array_equal(found.flavour[0, :3][order], [0, 5, 4])
    np.testing.assert_array_equal(found.valid[0], [True] * 3 + [False] * 3)
    np.testing.assert_array_equal(found.number, [3])
    assert found.take(np.array([False])).pt.shape == (0, jets.MAX_JETS)


def some_jets(flavours: list[int], n: int) -> jets.Jets:
    shape = (n, len(flavours))
    ones = np.ones(shape)
    return jets.Jets(50 * ones, 0 * ones, ones, ones, np.tile(flavours, (n, 1)), np.ones(shape, dtype=bool))


def test_exactly_two_tags_in_the_right_proportions(rng):
    n = 200_000
    tags, accepted = jets.tag_two(some_jets([5, 5, 4, 0], n), rng)
    assert np.all((tags > 0).sum(axis=1) == 2)
    e = np.array([0.7, 0.7, 0.2, 0.015])
    none = np.prod(1 - e)

    def pair(i: int, j: int) -> float:
        return none * e[i] * e[j] / (1 - e[i]) / (1 - e[j])

    total = sum(pair(i, j) for i in range(4) for j in range(i))
    assert accepted.mean() == pytest.approx(total / jets.MAX_TAGGED, abs=0.005)
    for i in range(4):
        for j in range(i):
            share = np.mean((tags[accepted][:, i] > 0) & (tags[accepted][:, j] > 0))
            assert share == pytest.approx(pair(i, j) / total, abs=0.005)
    assert np.mean(tags[tags > 0] == 2) == pytest.approx(0.82, abs=0.01)


def test_no_event_would_be_tagged_more_often_than_the_bound(rng):
    for flavours in ([5] * 6, [5, 5, 4, 4, 4, 4], [5, 5, 0, 0, 0, 0], [5, 4, 4, 4, 4, 4]):
        e = np.select([np.equal(flavours, 5), np.equal(flavours, 4)], [0.7, 0.2], 0.015)
        none = np.prod(1 - e)
        odds = e / (1 - e)
        assert none * (odds.sum() ** 2 - (odds**2).sum()) / 2 < jets.MAX_TAGGED
