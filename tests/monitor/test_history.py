"""A history is a fold: the same records give the same verdicts, details can wait, and empty batches say nothing."""

import numpy as np

from lanner.monitor.history import History
from lanner.monitor.journal import Record
from lanner.monitor.judge import Judge
from tests.monitor.conftest import events


def records(judge: Judge, number: int) -> list[Record]:
    origin = {"path": "f", "size": 1, "time": 2}
    sums = [judge.sums(events(60, k) + (k > 6)) for k in range(number)]
    return [Record(f"run {k}", str(k), 60, None, s, (), origin) for k, s in enumerate(sums)]


def test_verdicts_are_those_of_the_judge_and_flags_belong_to_their_batches(judge: Judge) -> None:
    kept = records(judge, 9)
    history, state = History(judge, kept), judge.start()
    for k, entry in enumerate(history.entries):
        state, verdict = judge.after(state, kept[k].sums, f"run {k}")
        assert entry.verdict == verdict
    assert [k for k, entry in enumerate(history.entries) if entry.is_flagged] == list(state.flagged.by_e)
    assert history.entries[8].is_flagged
    assert history.entries[8].is_good is False
    assert history.by_origin["f", 1, 2] == history.entries


def test_a_batch_without_events_changes_nothing_unless_some_are_expected(judge: Judge) -> None:
    kept = records(judge, 4)
    silent = Record("silent", "s", 0, None, None)
    plain, beside = History(judge, kept), History(judge, [kept[0], silent, *kept[1:]])
    decided = [e.decided for e in beside.entries if e.record.name != "silent"]
    assert [(v.p_value, v.log_r, v.windows) for v in decided] == [
        (e.decided.p_value, e.decided.log_r, e.decided.windows) for e in plain.entries
    ]
    assert [e.decided.number for e in beside.entries] == list(range(5))
    assert beside.entries[1].is_good is None
    dead = History(judge, [Record("dead", "d", 0, 40.0, None)]).entries[0]
    assert dead.verdict.p_value < 1e-15
    assert dead.verdict.is_alarm


def test_of_few_events_nothing_is_said_alone(judge: Judge) -> None:
    tiny = Record("tiny", "t", 5, None, judge.sums(events(5, 1)))
    entry = History(judge, [tiny]).entries[0]
    assert entry.verdict.p_value is None
    assert entry.is_good is None
    again = History(judge, [tiny, Record("next", "n", 60, None, judge.sums(events(60, 2)))]).entries[1]
    assert again.decided.windows[0].events == 65
    assert np.isfinite(again.decided.windows[0].p_value)
