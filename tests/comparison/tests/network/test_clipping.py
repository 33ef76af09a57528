from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lanner.comparison.tests.network.clipping import Notebook, bisect_clip

DOF, TOYS = 13, 40


def null(clip: float, toys: range):
    """Toys whose degrees of freedom grow with the clipping: 13 at a clipping of 7."""
    return np.array([stats.chi2(DOF * (clip / 7) ** 0.5).ppf(np.random.default_rng(i).uniform()) for i in toys])


def tuned(path: Path | None = None, *, null=null, about="network", progress=None):
    return bisect_clip(null, DOF, TOYS, notebook=Notebook(path, about), progress=progress)


def test_the_clipping_gives_the_right_degrees_of_freedom() -> None:
    found = tuned()
    best = next(one for one in found.tried if one.clip == found.clip)
    assert abs(best.mean - DOF) < 0.5 * best.error
    assert found.clip == pytest.approx(7, rel=0.3)
    assert best.ks_p > 0.05


def test_far_from_it_a_quarter_of_the_toys_is_enough() -> None:
    toys = {one.toys for one in tuned().tried}
    assert toys == {TOYS // 4, TOYS}


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "test" / "clip.json"
    whole, seen = tuned(), []

    def interrupted(clip, toys):
        seen.append(clip)
        if len(set(seen)) == 3:
            raise KeyboardInterrupt
        return null(clip, toys)

    with pytest.raises(KeyboardInterrupt):
        tuned(path, null=interrupted)
    before, again = set(seen[:-1]), []
    assert tuned(path, null=lambda clip, toys: again.append(clip) or null(clip, toys)) == whole
    assert again
    assert not before & set(again)
    assert tuned(path, null=None) == whole


@pytest.mark.parametrize("content", ["", "[]", '{"tried": [{"clip": 1}], "made_for": "network"}', '{"tried": 1}'])
def test_a_damaged_notebook_is_begun_again(tmp_path: Path, content: str) -> None:
    path = tmp_path / "clip.json"
    path.write_text(content)
    assert tuned(path) == tuned()


def test_what_was_tried_for_another_network_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "clip.json"
    tuned(path, null=lambda clip, toys: 3 * null(clip, toys), about="another")
    assert tuned(path) == tuned()


def test_progress_ends_at_its_end() -> None:
    told = []
    tuned(progress=lambda _, done, total: told.append((done, total)))
    assert told[0] == (0, 8)
    assert told[-1] == (8, 8)
    assert told == sorted(told)
