"""The report in a real browser: headless Chromium, watched through its console and its log of network requests."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanner.report.page import render
from tests.report.showcase import hostile_report
from tests.report.uncertain_showcase import hostile_uncertain_case

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH (Debian: apt-get install chromium)")

LURE = '<script>console.log("ran")</script><img src="http://127.0.0.1:9/x.png" onerror="console.log(2)">'


@dataclass(frozen=True)
class Visit:
    """What a page did in the browser."""

    dom: str
    console: list[str]
    requests: list[str]


def visit(page: Path) -> Visit:
    folder = page.parent
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the browser's own calls home go nowhere
        f"--user-data-dir={folder / 'profile'}", f"--log-net-log={folder / 'net.json'}", "--enable-logging=stderr",
        "--virtual-time-budget=2000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    events = json.loads((folder / "net.json").read_text())["events"]
    # The browser's own requests have "not an origin" as their initiator, a page's have the page.
    requests = [
        e["params"]["url"] for e in events if e.get("params", {}).get("initiator", "not an origin") != "not an origin"
    ]
    return Visit(done.stdout, re.findall(r":CONSOLE:?\S*\] (.*)", done.stderr), requests)


def test_this_test_sees_what_a_page_does(tmp_path: Path) -> None:
    page = tmp_path / "lure.html"
    page.write_text(f"<!DOCTYPE html><body>{LURE}")
    seen = visit(page)
    assert any("ran" in line for line in seen.console)
    assert seen.requests == ["http://127.0.0.1:9/x.png"]


def test_the_report_is_silent_and_complete(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(hostile_report(), encoding="utf-8")
    seen = visit(page)
    assert seen.console == []
    assert seen.requests == []
    figures = re.findall(r"<figure>.*?</figure>", seen.dom, re.DOTALL)
    assert len(figures) == 8
    assert all("<svg" in figure and figure.count("<path") > 10 and "<figcaption>" in figure for figure in figures)
    assert "How to cite" in seen.dom  # to the end


def test_names_of_uncertainties_do_nothing_and_every_figure_is_there(tmp_path: Path) -> None:
    case, page = hostile_uncertain_case(), tmp_path / "report.html"
    page.write_text(render(case.result, characterisation=case.characterise()), encoding="utf-8")
    seen = visit(page)
    assert seen.console == []
    assert seen.requests == []
    figures = re.findall(r"<figure.*?</figure>", seen.dom, re.DOTALL)
    assert len(figures) == 10
    assert all("<svg" in figure and figure.count("<path") > 10 and "<figcaption>" in figure for figure in figures)
    assert "How to cite" in seen.dom  # to the end


def test_the_policy_stops_what_would_slip_through(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(hostile_report().replace("<main>", f"<main>{LURE}"), encoding="utf-8")
    seen = visit(page)
    assert seen.requests == []
    assert not any('"ran"' in line or '"2"' in line for line in seen.console)
    assert sum("Content Security Policy" in line for line in seen.console) >= 2
