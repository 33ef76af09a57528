"""The page: whole, escaped, light, silent in a browser, and read again by it while it is open."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.page import _digest, render
from tests.monitor.folders import batch, monitor_of
from tests.report.test_page_in_browser import CHROMIUM, visit

EVIL = '<script>console.log("ran")</script><img src="http://127.0.0.1:9/x.png">&\u202e'


@pytest.fixture
def monitor(tmp_path: Path, calibration: MonitorCalibration) -> Iterator[lanner.Monitor]:
    with monitor_of(tmp_path / "monitor", calibration) as made:
        for k in range(6):
            made.update(batch(k, shift=1.0 * (k == 4)), f"run {k}", expected=60.0)
        made.update(batch(9, shift=1.0), EVIL)
        made.store.refuse(EVIL + "2", EVIL, {"path": EVIL})
        yield made


def test_it_has_what_people_look_for(monitor: lanner.Monitor) -> None:
    page = render(monitor.store)
    assert "Alarms with 2 of 7 batches: run 4, " in page
    for words in ("Time line", "Accumulated evidence", "Which features drift", "Not counted", "What is promised"):
        assert words in page, words
    assert page.count("<details>") == 7
    described = page[page.index('id="batch-4"') :]
    assert "a kernel of one width can represent" in page
    assert "Size of the departure" in described
    assert "angle: " in described
    assert "The largest local excess" in described or "The largest local deficit" in described
    assert described.count("<svg") >= 2


def test_nothing_from_files_is_taken_as_html(monitor: lanner.Monitor) -> None:
    page = render(monitor.store)
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', page) == []


def test_a_page_that_is_read_again_has_one_script_and_says_so(monitor: lanner.Monitor) -> None:
    page = render(monitor.store, refresh=15)
    assert page.count("<script>") == 1
    assert "15 * 1000" in page
    assert '<noscript><meta http-equiv="refresh" content="15">' in page
    assert "script-src 'sha256-" in page
    assert "refresh" not in re.sub(r"(?s)<style>.*?</style>", "", render(monitor.store))


def test_a_monitor_without_batches_has_a_page(tmp_path: Path, calibration: MonitorCalibration) -> None:
    with monitor_of(tmp_path, calibration) as monitor:
        assert "No batch has come yet." in render(monitor.store)
        monitor.update([], "empty")
        assert "No alarm in 1 batch." in render(monitor.store)


def test_a_page_of_hundreds_of_batches_is_light(tmp_path: Path, calibration: MonitorCalibration) -> None:
    rng = np.random.default_rng(3)
    with monitor_of(tmp_path, calibration) as monitor:
        for k in range(300):
            x = {"energy": rng.exponential(size=30), "angle": rng.standard_normal(30) + 0.5 * (k % 9 == 0)}
            table = np.column_stack(list(x.values()))
            monitor.store.count(f"run {k}", partial(np.array, table), wait=False)
        page = render(monitor.store)
    assert len(page) < 2_500_000
    assert page.count("<details>") >= 200


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
def test_it_is_silent_in_a_browser(monitor: lanner.Monitor, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    path = monitor.write_page(tmp_path / "b" / "timeline.html", refresh=30)
    seen = visit(path)
    assert seen.console == []
    assert seen.requests == []
    assert "Which features drift" in seen.dom


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
def test_a_browser_reads_it_again_while_it_is_open(monitor: lanner.Monitor, tmp_path: Path) -> None:
    path = tmp_path / "timeline.html"

    def write() -> None:
        page = render(monitor.store, refresh=0.3)
        script = page[page.index("<script>") + 8 : page.index("</script>")]
        says = 'console.log("says " + document.querySelector(".verdict").textContent);' + script
        path.write_text(page.replace(script, says).replace(_digest(script), _digest(says)))

    write()
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
        "--remote-debugging-port=0", path.as_uri(),
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as browser:
        watchdog = threading.Timer(60, lambda: os.killpg(browser.pid, signal.SIGKILL))
        watchdog.start()
        try:
            said = (line for line in browser.stderr if "says " in line)
            assert "Alarms with 2 of 7 batches" in next(said)
            monitor.update(batch(20), "one more")
            write()
            assert any("Alarms with 2 of 8 batches" in line for line in said)
        finally:
            watchdog.cancel()
            os.killpg(browser.pid, signal.SIGKILL)
