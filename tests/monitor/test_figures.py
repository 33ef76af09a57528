"""The figures: a mark for each batch, alarms in their colour, names escaped."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from lanner.monitor import figures
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.drift import Shifts
from lanner.monitor.history import Entry
from lanner.report.plots.style import VERMILION
from tests.monitor.folders import batch, monitor_of


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory, calibration: MonitorCalibration) -> list[Entry]:
    with monitor_of(Path(tmp_path_factory.mktemp("m")), calibration) as monitor:
        for k in range(6):
            monitor.update(batch(k), f"run {k}")
        monitor.update(batch(7, 3), "few")
        for k in range(8, 12):
            monitor.update(batch(k, shift=1.0), f"<i>run {k}")
        return monitor.store.entries


def hints(svg: str) -> list[str]:
    return [element.text for element in ET.fromstring(svg).iter("title")]


def test_every_batch_has_a_mark_that_leads_to_it(entries: list[Entry], calibration: MonitorCalibration) -> None:
    svg = figures.figure_of_p(entries, calibration.thresholds.single)
    links = [element.attrib["href"] for element in ET.fromstring(svg).iter("a")]
    assert links == [f"#batch-{k}" for k in range(11)]
    assert hints(svg)[6] == "few: 3 events, not tested alone"
    assert hints(svg)[8].startswith("<i>run 9: p ")
    alarms = sum(any(a.kind == "batch" for a in e.decided.alarms) for e in entries)
    assert alarms >= 4
    assert svg.count(f'fill="{VERMILION}"><title>') == alarms


def test_alarms_of_windows_and_of_drift_have_their_reasons(
    entries: list[Entry], calibration: MonitorCalibration
) -> None:
    windows = figures.figure_of_windows(entries, calibration.windows, calibration.thresholds.windows)
    assert any("of the last" in hint for hint in hints(windows))
    evidence = figures.figure_of_evidence(entries, calibration.thresholds.drift)
    assert any("evidence e^" in hint for hint in hints(evidence))


def test_a_shift_is_a_cell_and_noise_is_none() -> None:
    shift = np.array([[0.5, 0.01], [-0.4, 0.0]])
    found = hints(figures.figure_of_drift(Shifts(("a", "b"), shift, np.array([0.02, 0.02])), ["x", "y"]))
    assert found == ["x, a: +0.500 ± 0.020", "x, b: -0.400 ± 0.020"]


def test_bins_are_drawn_also_of_a_feature_with_one_value(entries: list[Entry], calibration: MonitorCalibration) -> None:
    feature = entries[-1].verdict.features[0]
    ET.fromstring(figures.figure_of_bins(feature, np.array([-np.inf]), np.ones(1), np.array([3.0]), 100.0))
    bins = calibration.yardstick.bins
    j = bins.names.index(feature.name)
    svg = figures.figure_of_bins(feature, bins.edges[j], bins.shares[j], np.arange(20.0), 6000.0)
    assert svg.count(f'stroke="{VERMILION}" stroke-width="5"') == 1


def test_one_batch_is_enough_for_all_of_them(entries: list[Entry], calibration: MonitorCalibration) -> None:
    for svg in (
        figures.figure_of_p(entries[:1], -3.0),
        figures.figure_of_windows(entries[:1], (2,), -3.0),
        figures.figure_of_evidence(entries[:1], 4.0),
    ):
        ET.fromstring(svg)
