"""What a run would do and take, told without doing it."""

import json
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.combination import AUTO_MAP_TOYS
from lanner.inference.sequential import FIRST
from lanner.run import dry_run as module
from lanner.run.dry_run import _clock, _Cost, _Machine
from tests.conftest import exponential

R, D = exponential(8000, 200, seed=1)


def test_it_has_the_ranks_and_the_settings_of_the_search() -> None:
    found = lanner.dry_run(R, D, expected=200, seed=1)
    searched = lanner.search(R, D, expected=200, seed=1, toys=90)
    assert searched.combined is not None
    # Isolated events may become further centres, which only the whole reference tells.
    ranks = {s.width: s.rank for s in searched.combined.scales}
    assert {width for width, _ in found.ranks} == set(ranks)
    assert all(rank <= ranks[width] <= rank + 100 for width, rank in found.ranks)
    assert dict(found.settings).keys() == {c.setting for c in searched.plan.chosen} - {"widths"}


def test_toys_are_between_the_fewest_and_the_most_or_as_many_as_were_asked_for() -> None:
    fewest, most = lanner.dry_run(R, D, expected=200).toys
    assert fewest == AUTO_MAP_TOYS + FIRST
    assert most > fewest
    assert lanner.dry_run(R, D, expected=200, toys=500).toys == (500, 500)
    assert lanner.dry_run(R, D, expected=200, width=0.3, penalty=1e-5).toys == (300, 300)
    with pytest.raises(InputError, match="toys='many'"):
        lanner.dry_run(R, D, expected=200, toys="many")


def test_more_events_and_directions_cost_more(tmp_path: Path) -> None:
    plan = lanner.calibrate(R, expected=200, output=tmp_path, toys=60).plan
    machine = _Machine(1e-9, 1e-10, 1e-11, 1e-9, 1e-9)
    small = _Cost.of(plan, 10_000, 200, 100, machine)
    for larger in (_Cost.of(plan, 100_000, 200, 100, machine), _Cost.of(plan, 10_000, 200, 200, machine)):
        assert larger.prepare > small.prepare
        assert larger.held > small.held


def test_it_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    found = lanner.dry_run(R, D, expected=200)
    text = str(found)
    assert text.startswith("A dry run: nothing was computed")
    for word in ("widths", "toys", "time on this machine", "memory", "at most"):
        assert word in text
    assert "<table" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["toys"] == list(found.toys)
    assert not capsys.readouterr().err


def test_seconds_are_the_sum_of_the_parts() -> None:
    found = lanner.dry_run(R, D, expected=200, toys=1000)
    assert found.seconds[0] == pytest.approx(found.prepare_seconds + 1000 * found.toy_seconds + module._REPORT)
    assert np.isfinite(found.memory)


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.2, "3 s"), (75.0, "1:15 min"), (9000.0, "2.5 h"), (899_278.0, "10 days")]
)
def test_times_are_told_in_the_unit_that_suits_them(seconds: float, words: str) -> None:
    assert _clock(seconds) == words
