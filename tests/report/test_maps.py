import numpy as np

from lanner.report.maps import MIN_EVENTS, most_telling_pair
from lanner.report.profiles import contents
from tests.report.showcase import the_findings


def test_the_map_agrees_with_the_profile() -> None:
    """Summed over one variable, the map's histograms are the profile's."""
    found = the_findings()
    edges = found.profile("mass").edges
    everything = [-1e9, 1e9]
    narrow = found.map_2d("mass", "eta", bins=(edges, everything))
    np.testing.assert_allclose(narrow.reweighted.values()[:, 0], contents(found.profile("mass").reweighted)[1:-1])
    assert found.map_2d() is found.maps[0]
    assert set(found.maps[0].names) & {"mass", "energy"}


def test_cells_with_few_reference_events_show_nothing() -> None:
    found = the_findings().map_2d("mass", "eta")
    events = np.histogram2d(the_findings().reference["mass"], the_findings().reference["eta"], bins=found.edges)[0]
    assert np.isnan(found.ratio[events < MIN_EVENTS]).all()
    assert np.isfinite(found.ratio[events > MIN_EVENTS]).all()
    assert found.unusual is not None
    assert not found.unusual[np.isnan(found.ratio)].any()


def test_one_variable_has_no_pair() -> None:
    found = the_findings()
    assert most_telling_pair(found.learned, found.reference, found.data, ["mass"]) is None
