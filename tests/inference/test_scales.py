import numpy as np
import pytest
from scipy.spatial.distance import pdist

from lanner.errors import InputError
from lanner.inference.scales import QUANTILES, deviation_of, ladder_of_widths, penalty_for
from lanner.model.loss import loss_by_name
from tests.conftest import shaped


def test_widths_go_in_equal_ratios_between_quantiles_of_the_distances(rng: np.random.Generator) -> None:
    events = shaped(2, 800)
    widths = ladder_of_widths(events, rng)
    fine, coarse = np.quantile(pdist(events), QUANTILES)
    truth = np.geomspace(fine, coarse, 4)
    np.testing.assert_allclose(widths, truth, rtol=0.1)  # of some pairs, drawn at random
    np.testing.assert_allclose(np.diff(np.log(widths)), np.log(widths[-1] / widths[0]) / 3)


def test_the_number_of_widths_can_be_chosen(rng: np.random.Generator) -> None:
    assert len(ladder_of_widths(shaped(1, 300), rng, number=7)) == 7


def test_events_in_one_place_have_no_ladder(rng: np.random.Generator) -> None:
    events = np.zeros((500, 1))
    events[:50] = 1.0
    with pytest.raises(InputError, match="give width="):
        ladder_of_widths(events, rng)


@pytest.mark.parametrize(("loss", "c"), [("logistic", 2.0), ("extended", 1.0)])
def test_a_penalty_is_named_by_the_deviations_it_expects(loss: str, c: float) -> None:
    """tau = (c lambda n)^(-1/2), the prior spread of f at a point."""
    found = penalty_for(0.7, events=1000, loss=loss_by_name(loss))
    assert (c * found * 1000) ** -0.5 == pytest.approx(0.7)


def test_one_is_the_inverse_of_the_other() -> None:
    loss = loss_by_name("logistic")
    assert deviation_of(penalty_for(0.2, events=5e4, loss=loss), events=5e4, loss=loss) == pytest.approx(0.2)
