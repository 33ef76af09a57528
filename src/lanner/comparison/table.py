"""`Comparison`: what several tests find, as data and as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lanner._util.text import at_most, is_beyond, markdown_table, text_table, three_digits
from lanner.errors import InputError

LEVELS = (2.0, 3.0)  # significances whose chance is shown


@dataclass(frozen=True)
class Found:
    """What a test makes of a signal: 16 %, 50 % and 84 % of Z, and how often it reaches a level."""

    signal: str
    signal_events: float
    z: tuple[float, float, float]
    probability: tuple[float, ...]  # of LEVELS
    error: float  # of the median Z


@dataclass(frozen=True)
class SuiteSignal:
    """A signal and its strength; `known` if the default test was chosen with it in view."""

    name: str
    events: float
    ideal: float  # Z of a test that knows it; not a number where nobody asked
    known: bool
    alone: bool = False


@dataclass(frozen=True)
class Row:
    """One test: what it finds, or what it says of the data, and what it costs."""

    test: str
    toys: int  # that its p-values are counted on
    reach: float  # the largest Z that these can show
    most: float  # the largest Z that can be shown at all, by a tail that is fitted to them
    unsettled: int = 0  # toys whose training or fit did not end
    seconds_preparing: float = 0.0
    seconds_per_toy: float = float("nan")
    found: tuple[Found, ...] = ()
    statistic: str = "single"  # or which of several: a combination, or one of the scales
    p_value: float | None = None
    p_interval: tuple[float, float] | None = None
    z_score: float | None = None

    @property
    def is_scale(self) -> bool:
        """Whether it is one of several scales by itself."""
        return self.statistic.startswith("width")

    @property
    def title(self) -> str:
        """The test and, where there are several, its statistic."""
        return self.test if self.statistic == "single" else f"{self.test}: {self.statistic}"

    def of(self, signal: str) -> Found:
        """What it makes of one signal."""
        return next(f for f in self.found if f.signal == signal)

    def is_bound(self, signal: str) -> bool:
        """Whether more than half of the toys with a signal lie beyond what can be shown."""
        return is_beyond(self.of(signal).z[1], self.most)

    def median(self, signal: str) -> str:
        """Median Z and its error, or the most that can be shown."""
        found = self.of(signal)
        return at_most(found.z[1], self.most) + ("" if self.is_bound(signal) else f" ± {found.error:.2f}")


@dataclass(frozen=True)
class Comparison:
    """A table of tests: what each finds of some signals, or says of the data, and what it costs.

    Parameters
    ----------
    rows : tuple of Row
        One for each test, with `test`, `found` (or `p_value` and `z_score`), `toys`, `reach` and the time it takes.
    experiments : int
        Toy data sets with each signal; 0 where data were tested.
    signals : tuple of SuiteSignal
        The signals of a suite, with the significance of an ideal test; empty otherwise.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, signal = rng.normal(size=(2000, 1)), rng.normal(3.0, 0.1, (400, 1))
    >>> found = lanner.compare(
    ...     reference, signal, expected=100, signal_events=15, tests=["ks", "chi2"], toys=60, experiments=10
    ... )
    >>> [row.test for row in found.rows], found.row("chi2").toys
    (['ks', 'chi2'], 60)
    """

    rows: tuple[Row, ...]
    experiments: int
    signals: tuple[SuiteSignal, ...] = ()

    def row(self, test: str, statistic: str | None = None) -> Row:
        """One of the rows.

        Parameters
        ----------
        test : str
            The name of the test.
        statistic : str, optional
            Which of its statistics. Default: the first.

        Returns
        -------
        Row
            The row.

        Raises
        ------
        InputError
            If there is no such test.
        """
        for row in self.rows:
            if row.test == test and statistic in (None, row.statistic):
                return row
        raise InputError(f"test {test!r} was not compared; there are {', '.join(r.title for r in self.rows)}")

    def best_scale(self, test: str, signal: str) -> Row:
        """The scale of a test that has the highest median Z for a signal.

        Parameters
        ----------
        test : str
            The name of the test.
        signal : str
            The name of the signal.

        Returns
        -------
        Row
            The row of that scale.
        """
        scales = (r for r in self.rows if r.test == test and r.is_scale)
        return max(scales, key=lambda r: r.of(signal).z[1])

    def counts(self) -> str:
        """How many toys stand behind the table, in words.

        Returns
        -------
        str
            The numbers of null toys and of toys per signal.
        """
        nulls = "; ".join(f"{test}: {number}" for test, number in {r.test: r.toys for r in self.rows}.items())
        return f"null toys ({nulls}) and {self.experiments} toys per signal"

    def to_dict(self) -> dict[str, Any]:
        """The table as plain JSON.

        Returns
        -------
        dict
            Levels, rows, experiments and signals.
        """
        found = {"levels": list(LEVELS)} | asdict(self)
        for row in found["rows"]:
            if not np.isfinite(row["seconds_per_toy"]):
                row["seconds_per_toy"] = None  # nothing was made here
        return found

    def table(self) -> list[list[str]]:
        """Header and rows as text.

        Returns
        -------
        list of list of str
            For a suite, a column for each signal; otherwise the spread of Z, the chances, and what each test costs.
        """
        return self._brief() if self.signals else self._full()

    def markdown(self) -> str:
        """The table for a page.

        Returns
        -------
        str
            Markdown, with a line about the toys for a suite.
        """
        head = f"Median Z of empirical p-values, from {self.counts()}.\n\n" if self.signals else ""
        return head + markdown_table(self.table())

    def __str__(self) -> str:
        tail = f"\nMedian Z of empirical p-values, from {self.counts()}." if self.signals else ""
        return text_table(self.table()) + tail

    def _full(self) -> list[list[str]]:
        signals = list(dict.fromkeys((f.signal, f.signal_events) for r in self.rows for f in r.found))
        header = ["test"]
        for name, events in signals:
            header += [f"{name} {events:g}: Z (16 %, 84 %)", *(f"P({level:g}σ)" for level in LEVELS)]
        if not signals:
            header += ["p-value", "95 % interval", "Z"]
        header += ["null toys", "reach", "ms per toy", "preparing"]
        unsettled = any(r.unsettled for r in self.rows)
        lines = [header + (["not converged"] if unsettled else [])]
        for row in self.rows:
            cells = [row.title]
            by_signal = {(f.signal, f.signal_events): f for f in row.found}
            for signal in signals:
                cells += _cells_of(by_signal.get(signal), row.most)
            if not signals:
                assert row.p_interval is not None
                far = " (no toy above)" if row.p_interval[0] == 0 else ""
                cells += [f"{row.p_value:.3g}{far}", "{:.2g} to {:.2g}".format(*row.p_interval), f"{row.z_score:z.2f}"]
            cells += [str(row.toys), f"{row.reach:.2f}", three_digits(1e3 * row.seconds_per_toy)]
            cells += [f"{three_digits(row.seconds_preparing)} s"] + ([str(row.unsettled)] if unsettled else [])
            lines.append(cells)
        return lines

    def _brief(self) -> list[list[str]]:
        """The ideal test, then every test's combinations and its best single scale."""
        names = [s.name for s in self.signals]
        known, further = ([s.name for s in self.signals if s.known is k] for k in (True, False))
        groups = {"mean": known or further}
        if known and further:
            groups = {f"mean of the first {len(known)}": known, f"mean of the other {len(further)}": further}

        def line(title: str, by_signal: dict[str, Row]) -> list[str]:
            cells = [by_signal[n].median(n) for n in names]
            for group in groups.values():
                bound = "≥ " if any(by_signal[n].is_bound(n) for n in group) else ""
                cells.append(f"{bound}{np.mean([by_signal[n].of(n).z[1] for n in group]):.2f}")
            return [title, *cells]

        ideal = {s.name: s.ideal for s in self.signals}
        means = [f"{np.mean([ideal[n] for n in group]):.2f}" for group in groups.values()]
        lines = [["test", *names, *groups], ["ideal", *(f"{ideal[n]:.2f}" for n in names), *means]]
        for test in dict.fromkeys(r.test for r in self.rows):
            rows = [r for r in self.rows if r.test == test]
            lines += [line(row.title, dict.fromkeys(names, row)) for row in rows if not row.is_scale]
            if any(r.is_scale for r in rows):
                best = {n: self.best_scale(test, n) for n in names}
                lines.append(line(f"{test}: best single scale for each signal", best))
        return lines


def chance(probability: float, level: float, most: float) -> str:
    """How often a level is reached; one beyond what can be shown is unknown, not one that is never reached."""
    return f"{probability:.0%}" if level <= most else "unknown"


def spread_of_z(z: Sequence[float], most: float) -> str:
    """Median Z with its 16 % and 84 % quantiles."""
    low, middle, high = (at_most(x, most) for x in z)
    return f"{middle} ({low}, {high})"


def _cells_of(found: Found | None, most: float) -> list[str]:
    if found is None:
        return [""] * (1 + len(LEVELS))
    chances = (chance(p, level, most) for level, p in zip(LEVELS, found.probability, strict=True))
    return [spread_of_z(found.z, most), *chances]
