"""Verdicts of batches: windows are batches together, states follow from states, and words say why."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.decisions import log_e_value
from lanner.monitor.judge import BatchVerdict, Judge, StreamState
from lanner.typing import Array
from tests.monitor.conftest import BATCH, REFERENCE, events


def run(judge: Judge, batches: list[Array], **options) -> tuple[StreamState, list[BatchVerdict]]:
    state, found = judge.start(), []
    for k, batch in enumerate(batches):
        state, verdict = judge.after(state, judge.sums(batch), f"run {k}", **options)
        found.append(verdict)
    return state, found


def shifted(n: int, seed: int, by: float) -> Array:
    return events(n, seed) + np.array([0.0, by])


def test_p_values_of_new_batches_are_uniform(judge: Judge) -> None:
    _, found = run(judge, [events(n, 1000 + n) for n in range(20, 320)], details=False)
    assert stats.kstest([v.p_value for v in found], "uniform").pvalue > 1e-3


def test_a_window_is_a_batch_of_all_its_events(judge: Judge) -> None:
    batches = [events(30, 5), events(70, 6)]
    _, (_, last) = run(judge, batches)
    _, (together,) = run(judge, [np.vstack(batches)])
    assert (last.windows[0].batches, last.windows[0].events) == (2, 100)
    assert last.windows[0].p_value == pytest.approx(together.p_value, rel=1e-6)


def test_windows_begin_when_they_are_full(judge: Judge) -> None:
    _, found = run(judge, [events(BATCH, 20 + k) for k in range(9)])
    assert [len(v.windows) for v in found] == [0, 1, 1, 2, 2, 2, 2, 3, 3]


def test_a_departure_is_found_with_its_feature_and_its_size(judge: Judge) -> None:
    _, (verdict,) = run(judge, [shifted(2 * BATCH, 8, 1.0)])
    assert verdict.is_alarm
    assert verdict.alarms[0].kind == "batch"
    assert "once in 50 batches" in verdict.alarms[0].reason
    assert verdict.features[0].name == "angle"
    assert verdict.effect.low > 0
    assert verdict.place is not None
    assert verdict.is_limit
    assert verdict.p_extrapolated < verdict.p_value


def test_a_small_change_that_stays_is_plainer_in_windows_than_in_single_batches(judge: Judge) -> None:
    _, found = run(judge, [shifted(BATCH, 40 + k, 0.15) for k in range(60)], details=False)
    eight = [w.p_value for v in found for w in v.windows if w.batches == 8]
    assert np.median(eight) < 0.3 * np.median([v.p_value for v in found])


def test_after_an_alarm_windows_and_evidence_begin_anew(judge: Judge) -> None:
    batches = [shifted(BATCH, 60 + k, 1.0) for k in range(2)]
    state, found = run(judge, batches)
    kinds = {alarm.kind for alarm in found[-1].alarms}
    assert {"windows", "drift"} <= kinds
    assert state.last == ()
    assert state.evidence.log_r == -np.inf
    assert state.evidence.log_product == pytest.approx(found[-1].log_product)


def test_the_same_sums_give_the_same_decisions_again(judge: Judge) -> None:
    batches = [events(BATCH, 80 + k) for k in range(10)]
    _, once = run(judge, batches)
    kept = [judge.sums(b) for b in batches]
    state = judge.start()
    for k, sums in enumerate(kept):
        state, verdict = judge.after(state, sums, f"run {k}")
        assert verdict == once[k]


def test_few_events_have_no_p_but_count_in_windows(judge: Judge) -> None:
    _, found = run(judge, [events(3, 1), events(0, 2), events(4, 3), events(5, 4)])
    assert [v.p_value for v in found] == [None] * 4
    assert [v.events for v in found] == [3, 0, 4, 5]
    assert found[-1].windows[-1].events == 12
    assert found[-1].effect is None
    assert found[-1].features == ()


def test_the_number_of_events_is_tested_where_it_is_known(judge: Judge) -> None:
    sums = judge.sums(events(BATCH, 5))
    _, plain = judge.after(judge.start(), sums, "a")
    _, found = judge.after(judge.start(), sums, "a", expected=40.0)
    assert found.p_count == pytest.approx(2 * stats.poisson.sf(BATCH - 1, 40.0))
    assert found.p_shape == plain.p_value
    assert found.p_value == pytest.approx(1 - (1 - min(found.p_count, found.p_shape)) ** 2)
    _, empty = judge.after(judge.start(), judge.sums(events(0, 1)), "b", expected=40.0)
    assert empty.p_value == pytest.approx(2 * np.exp(-40.0))
    assert empty.is_alarm


def test_a_batch_as_large_as_the_reference_counts_as_a_smaller_one_in_what_is_accumulated(judge: Judge) -> None:
    (_, (small,)), (_, (large,)) = run(judge, [shifted(400, 8, 0.2)]), run(judge, [shifted(4000, 8, 0.2)])
    most = REFERENCE / 12
    of = judge.calibration
    readings = of.yardstick.read(judge.sums(shifted(4000, 8, 0.2))[None])
    log_p, _, _ = of.log_p(readings * most / 4000)
    assert large.log_product == pytest.approx(float(log_e_value(log_p)[0]))
    # Below that it counts as it is, and its own p-value is that of all its events.
    assert small.log_product == pytest.approx(float(log_e_value(np.log([small.p_value]))[0]))
    assert large.p_value < np.exp(log_p[0])


def test_a_departure_below_the_tolerance_is_no_alarm(calibration: MonitorCalibration) -> None:
    batch = shifted(8 * BATCH, 8, 0.3)
    tolerant = Judge(replace(calibration, rules=replace(calibration.rules, tolerance=2.0)))
    strict = Judge(replace(calibration, rules=replace(calibration.rules, tolerance=0.05)))
    (_, (small,)), (_, (large,)) = run(tolerant, [batch]), run(strict, [batch])
    assert small.alarms == ()
    assert small.tolerated == large.alarms != ()


def test_without_details_the_decisions_are_the_same(judge: Judge) -> None:
    batches = [events(BATCH, 80 + k) for k in range(4)]
    (_, with_them), (_, without) = run(judge, batches), run(judge, batches, details=False)
    assert [v.p_value for v in with_them] == [v.p_value for v in without]
    assert without[0].effect is None
    assert without[0].place is None


def test_a_verdict_is_plain_json(judge: Judge) -> None:
    _, found = run(judge, [shifted(BATCH, 1, 1.0), events(2, 1)])
    for verdict in found:
        again = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
        assert again["name"] == verdict.name
    assert again["p_value"] is None
    assert "words" in json.loads(json.dumps(found[0].to_dict()))["features"][0]
