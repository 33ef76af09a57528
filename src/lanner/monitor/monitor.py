"""`Monitor`: batches of events against one reference, one after another, with a memory that survives crashes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from lanner._util.files import write_atomically
from lanner._util.progress import shown
from lanner._util.text import as_html, as_text, count, listed
from lanner.errors import InputError
from lanner.model.fit import check_expected
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.good_runs import good_runs
from lanner.monitor.judge import BatchVerdict
from lanner.monitor.opening import Asked, calibrated, events_like
from lanner.monitor.quarantine import Refusal
from lanner.monitor.store import CALIBRATION, BatchStore
from lanner.monitor.words import batches, summary_rows
from lanner.settings import checked
from lanner.typing import PathLike

PAGE = "timeline.html"


class Monitor:
    """Judge batches of events against one reference as they come, and remember them in a folder.

    The reference is learned once, into the folder; later the folder alone is enough. Every batch gets a p-value, the
    size of its departure, the features and the place that depart, and alarms whose rate is known: of single batches, of
    windows of the last batches, and of a slow drift. What is kept of a batch is on disk before anything is decided on
    it, and everything else follows from that: a monitor that was killed goes on as if nothing had happened.

    Parameters
    ----------
    folder : path_like
        Where the calibration and the batches are kept.
    reference : array_like, mapping, data frame or Sample, optional
        Events that are known to be good, one a row. Needed the first time; later it is checked against the first.
    batch : float, optional
        Events of a typical batch. Needed the first time.
    run_length : float, optional
        Batches between two false alarms of each kind of decision, on average. Default: 1000.
    windows : sequence of int, optional
        How many of the last batches are judged together, beside each alone. Default: 2, 4 and 8.
    false_discoveries : float, optional
        The share of false ones in the list of flagged batches. Default: 0.05.
    tolerance : float, optional
        The size of a departure that does no harm: only one that is surely larger is an alarm. Default: 0.
    good : sequence of array_like, mapping, data frame or Sample, optional
        Batches that are known to be good, 10 or more: how they differ beyond chance is learned, and is no alarm.
    scaling : {"robust", "standard", "authors", None}, optional
        Scaling of the features, learned on the reference; see `search`. Default: "robust".
    missing : {"auto", "keep"}, optional
        Whether values such as -999 mean that there is none; see `search`. Default: "auto".
    periodic : sequence of str, optional
        Angles, each NAME or NAME=PERIOD: their ends are joined.
    seed : int, optional
        From which all random numbers of the calibration follow. Default: 0.
    read_only : bool, default False
        Whether to look only: beside a monitor that is at work, and without its lock.
    memory : float or str, optional
        Memory budget of the calibration in bytes, or a text such as "4 GB". Default: half of what is free.
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is; see `search`.

    Raises
    ------
    InputError
        If the folder has no calibration and no reference is given, or one of another reference or other rules.
    StoreError
        If another monitor is at work in the folder.
    FolderError
        If a file of the folder is damaged.

    See Also
    --------
    search : Test one data set, with systematic uncertainties and a picture of where it departs.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with lanner.Monitor(folder, rng.normal(size=(1000, 1)), batch=20, windows=[2]) as monitor:
    ...         good = monitor.update(rng.normal(size=(20, 1)), "run 1")
    ...         bad = monitor.update(rng.normal(2.0, size=(20, 1)), "run 2")
    ...         runs = monitor.good_runs()
    >>> good.is_alarm, [alarm.kind for alarm in bad.alarms], runs
    (False, ['batch', 'windows', 'drift'], {'run 1': [[1, 9999]]})
    """

    def __init__(
        self,
        folder: PathLike,
        reference: Any = None,
        *,
        batch: float | None = None,
        run_length: float | None = None,
        windows: Sequence[int] | None = None,
        false_discoveries: float | None = None,
        tolerance: float | None = None,
        good: Sequence[Any] = (),
        scaling: str | None = "",
        missing: str | None = None,
        periodic: Sequence[str] | None = None,
        seed: int | None = None,
        read_only: bool = False,
        memory: float | str | None = None,
        progress: Callable[..., None] | bool | None = None,
    ) -> None:
        asked = Asked.of(
            rules={
                "batch": batch,
                "run_length": run_length,
                "windows": windows,
                "false_discoveries": false_discoveries,
                "tolerance": tolerance,
                "seed": seed,
            },
            fit={"missing": missing, "periodic": periodic} | ({} if scaling == "" else {"scaling": scaling or "none"}),
        )
        self._folder = Path(str(checked("output", os.fspath(folder))))
        if reference is None and not (self._folder / CALIBRATION).is_dir():
            raise InputError(f"{self._folder} holds no calibration: give a reference, and batch=..., to make one")
        with shown(progress) as told:
            self._store = BatchStore(
                self._folder,
                lambda at: calibrated(
                    at, reference, asked, good=good, read_only=read_only, memory=memory, progress=told
                ),
                read_only=read_only,
            )

    def close(self) -> None:
        """Let another monitor have the folder."""
        self._store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def update(
        self, batch: Any, name: str | None = None, *, expected: float | None = None, details: bool = True
    ) -> BatchVerdict:
        """Judge one more batch.

        A batch whose name and events were counted before is not counted again: its verdict is returned. One without
        events is counted: where it is known how many are expected their number is tested, otherwise it says nothing.
        Of fewer than 8 events the number alone is tested, and they count within windows.

        Parameters
        ----------
        batch : array_like, mapping, data frame or Sample
            Events with the columns of the reference, without weights; there may be none.
        name : str, optional
            What it is called; no two batches have one name. Default: its number.
        expected : float, optional
            How many events are expected, from luminosity or live time. Default: their number is not tested.
        details : bool, default True
            Whether to tell the size of the departure, the features and the place, which takes as long as the p-value.

        Returns
        -------
        BatchVerdict
            Its p-value (`p_value`, `z_score`), the size of its departure (`effect`), the features and the place that
            depart (`features`, `place`), the windows that end with it (`windows`) and the `alarms`, with reasons.

        Raises
        ------
        BatchError
            If it cannot be counted: other columns, values that are NaN, weights, a name that other events have, or
            events that were counted under another name. It is recorded in `quarantine.jsonl`.
        """
        called = f"batch {len(self.store) + 1}" if name is None else str(name)
        if not called:
            raise InputError("name='': give the batch a name, or leave it out")
        number = None if expected is None else check_expected(expected)
        entry = self._store.count(
            called, lambda: events_like(self.names, batch, f"batch {called!r}"), expected=number, details=details
        )
        return entry.verdict if details else entry.decided

    @property
    def names(self) -> tuple[str, ...]:
        """The features.

        Returns
        -------
        tuple of str
            In the order of the reference.
        """
        return self.calibration.yardstick.names

    @property
    def calibration(self) -> MonitorCalibration:
        """What batches are judged by.

        Returns
        -------
        MonitorCalibration
            The rules, the thresholds, and in `refused` what cannot be promised with this reference.
        """
        return self._store.calibration

    @property
    def folder(self) -> Path:
        """Where everything is kept.

        Returns
        -------
        Path
            The folder that was given.
        """
        return self._folder

    @property
    def store(self) -> BatchStore:
        """What is kept of the batches.

        Returns
        -------
        BatchStore
            With an entry for each batch in `entries`.
        """
        return self._store

    @property
    def verdicts(self) -> list[BatchVerdict]:
        """What was said of each batch.

        Returns
        -------
        list of BatchVerdict
            In the order of their arrival.
        """
        return [entry.verdict for entry in self._store.entries]

    @property
    def alarms(self) -> list[BatchVerdict]:
        """The batches with which an alarm was given.

        Returns
        -------
        list of BatchVerdict
            In the order of their arrival, each with the reasons in `alarms`.
        """
        return [entry.verdict for entry in self._store.entries if entry.decided.is_alarm]

    @property
    def flagged(self) -> list[str]:
        """The batches that are bad, of which a stated share may be flagged by chance.

        Returns
        -------
        list of str
            Names, decided as the batches came, by e-LOND.
        """
        return [entry.record.name for entry in self._store.entries if entry.is_flagged]

    @property
    def quarantined(self) -> list[Refusal]:
        """The batches that could not be counted.

        Returns
        -------
        list of Refusal
            Each with its `name`, `reason`, `origin` and `time`; without those that were counted later.
        """
        return self._store.quarantined

    def good_runs(self, *, untested: bool = False) -> dict[str, list[list[int]]]:
        """The good runs in the form in which CMS certifies them.

        Batches are good that were tested and neither flagged nor an alarm by themselves. Where batches are luminosity
        sections of runs, the sections are listed; otherwise a run stands for all of its sections, 1 to 9999.

        Parameters
        ----------
        untested : bool, default False
            Whether batches of fewer than 8 events, of which nothing is known, are good.

        Returns
        -------
        dict of str to list
            Of each run the ranges of its luminosity sections.
        """
        return good_runs(self._store.entries, untested=untested)

    def write_page(self, path: PathLike | None = None, *, refresh: float | None = None) -> Path:
        """Write the time line as one HTML file, whole or not at all.

        Parameters
        ----------
        path : path_like, optional
            The file. Default: `timeline.html` in the folder.
        refresh : float, optional
            Seconds after which a browser that shows the page reads it again. Default: never.

        Returns
        -------
        Path
            Of the file.
        """
        from lanner.monitor.page import render

        return write_atomically(self._folder / PAGE if path is None else path, render(self._store, refresh=refresh))

    def summary(self) -> str:
        """The state in a few lines.

        Returns
        -------
        str
            How many batches, alarms and flagged ones there are, and what is promised.
        """
        return as_text(f"Monitor in {self._folder}", summary_rows(self._store))

    def _repr_html_(self) -> str:
        from lanner.monitor.page import figure_of_p

        return as_html(f"Monitor in {self._folder}", summary_rows(self._store)) + figure_of_p(self._store)

    def __repr__(self) -> str:
        entries = self._store.entries
        alarms = sum(entry.decided.is_alarm for entry in entries)
        return f"Monitor({batches(len(entries))}, {count(alarms, 'alarm')}; {listed(self.names)})"
