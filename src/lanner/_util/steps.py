"""The steps of long work as they are told: how far each is, how long it has taken, and how long it will still take."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

Clock = Callable[[], float]  # seconds since some moment

AT_MOST = ", at most"  # ends the words of work that may not need all of its total
_PART = 0.1  # of the time that a step has taken: stretches shorter than this are taken together
_FADING = 2  # how fast the past loses weight: by a factor 4 each time that the time of a step doubles
_ODD = (
    4.0  # a stretch this many times as fast or slow as the usual one (toys read from a store, a start) is cut to that
)
# Nothing is said of the time left of a step that is younger than so many seconds, or of which there are fewer stretches
# than this and less than this share is done.
_YOUNG, _FEW, _LITTLE = 1.0, 3, 0.05
_COUNTED = re.compile(r"\d+ of \d+")


def minutes(seconds: float) -> str:
    """A time as a clock would show it.

    >>> minutes(14.4), minutes(62), minutes(3723)
    ('0:14', '1:02', '1:02:03')
    """
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, 3600)
    start = f"{hours}:{rest // 60:02d}" if hours else f"{rest // 60}"
    return f"{start}:{rest % 60:02d}"


@dataclass
class _Stretch:
    """A part of the time of a step, and what was done in it."""

    began: float
    ended: float
    done: float = 0.0

    @property
    def seconds(self) -> float:
        return self.ended - self.began


class TimeLeft:
    """How long counted work will take, from the rate of the work that is done, the later parts of it above all.

    The time of a step is cut into stretches of at least a tenth of all that went before. The rate is their mean, each
    weighted by its length and by the square of the step's age at its end. Stretches that are far from the median are
    cut down to a few times that: toys that were read from a store come in no time, and the first may take an age.
    """

    def __init__(self, start: float, done: float = 0.0) -> None:
        self._start = self._last = start
        self._done = done
        self._gap = 0.0  # the longest wait between two calls, those of long ago counted less
        self._stretches: list[_Stretch] = []
        self._open = _Stretch(start, start)

    def update(self, now: float, done: float) -> None:
        """So much is done by now."""
        if done <= self._done or now < self._last:
            return
        age_before, age = self._last - self._start, now - self._start
        if age > 0:
            self._gap = max(now - self._last, self._gap * (age_before / age) ** _FADING)
        self._open.done += done - self._done
        self._open.ended = self._last = now
        self._done = done
        if self._open.seconds > 0 and self._open.seconds >= _PART * age:
            self._stretches.append(self._open)
            self._open = _Stretch(now, now)

    def left(self, now: float, total: float) -> float | None:
        """Seconds until all is done, or None where too little is known yet or nothing was heard for too long."""
        few = len(self._stretches) < _FEW and self._done < _LITTLE * total
        if not self._stretches or few or self._last - self._start < _YOUNG:
            return None
        rate, weight = self._rate()
        # Work that comes in lumps is silent for as long as a lump takes. Silence beyond that is time without work.
        waited = max(now - self._last, 0.0)
        usual = min(waited, self._gap)
        late = waited - usual
        if late > max(self._last - self._start, 1.0):
            return None
        rate *= weight / (weight + late)
        return max((total - self._done) / rate - usual, 0.0)

    def _rate(self) -> tuple[float, float]:
        """Work per second, and the seconds that it was seen in, weighted."""
        age = self._last - self._start
        weights = [s.seconds * ((s.ended - self._start) / age) ** _FADING for s in self._stretches]
        rates = [s.done / s.seconds for s in self._stretches]
        usual = _weighted_median(rates, weights)
        rates = [min(max(r, usual / _ODD), usual * _ODD) for r in rates]
        whole = sum(weights)
        return sum(r * w for r, w in zip(rates, weights, strict=True)) / whole, whole


def _weighted_median(values: list[float], weights: list[float]) -> float:
    ordered = sorted(zip(values, weights, strict=True))
    below = list(accumulate(weight for _, weight in ordered))
    return ordered[bisect_left(below, below[-1] / 2)][0]


@dataclass
class Step:
    """One step: its words, how much of it is done, and since when."""

    words: str
    done: int
    total: int
    began: float
    at_most: bool = False  # whether the total is only a limit
    ended: float | None = None  # when it was done, or another step began
    time_left: TimeLeft = field(init=False)

    def __post_init__(self) -> None:
        self.time_left = TimeLeft(self.began)

    @property
    def is_counted(self) -> bool:
        """Whether there is more than one thing to do."""
        return self.total > 1

    @property
    def is_done(self) -> bool:
        """Whether all of it is done."""
        return self.done >= self.total > 0

    def count(self) -> str:
        """How much is done: a number, or a percentage where the words have a number already."""
        if not self.is_counted:
            return ""
        if _COUNTED.search(self.words):
            return f"{100 * self.done // self.total} %"
        return f"{self.done} of {'at most ' if self.at_most else ''}{self.total}"

    def left(self, now: float) -> str:
        """The time left in words, as far as it is known."""
        if self.is_done:
            return "done"
        seconds = self.time_left.left(now, self.total) if self.is_counted and self.ended is None else None
        if seconds is None:
            return ""
        return f"{'at most' if self.at_most else 'about'} {minutes(max(seconds + 0.5, 1.0))} left"

    def seconds(self, now: float) -> float:
        """How long it has taken."""
        return (now if self.ended is None else self.ended) - self.began

    def line(self, now: float) -> str:
        """All of it in one line: "toys 1200 of 5000, about 0:40 left"."""
        count = self.count()
        if count:
            between = ", " if count.endswith("%") else ": " if "," in self.words else " "
            count = between + count
        left = self.left(now)
        return self.words + count + (f", {left}" if left else "")


class Steps:
    """All steps of some work in the order in which they began. Any thread may tell of them.

    Steps whose words begin with the same word ("preparing scale 1 of 5", "preparing scale 2 of 5") are one, as long as
    they go on counting where the one before was.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.start = self.last_told = clock()
        self.lock = threading.RLock()
        self.current: Step | None = None
        self._steps: dict[str, Step] = {}

    def __iter__(self) -> Iterator[Step]:
        return iter(list(self._steps.values()))

    def tell(self, what: str, done: int, total: int) -> tuple[bool, bool]:
        """How far something is. Returns whether it is the first of its kind, and whether its words are new."""
        words, at_most = what.removesuffix(AT_MOST), what.endswith(AT_MOST)
        key = _first_word(words)
        with self.lock:
            now = self.clock()
            step = self._steps.get(key)
            first = step is None
            renamed = self.current is None or self.current is not step or step.words != words
            if step is None or _begins_anew(step, words, done, total):
                # What is done already was done since the last word of anything.
                step = Step(words, 0, total, now if done <= 0 else self.last_told)
                self._steps.pop(key, None)  # goes to the end
                self._steps[key] = step
            if self.current is not None and self.current is not step and self.current.ended is None:
                self.current.ended = now
            step.words, step.total, step.at_most = words, total, at_most
            step.done = max(step.done, done)
            step.time_left.update(now, step.done)
            if not step.is_done:
                step.ended = None
            elif step.ended is None:
                step.ended = now
            self.current, self.last_told = step, now
            return first, renamed

    def line(self, now: float) -> str:
        """Where the work is, in one line."""
        with self.lock:
            step = self.current
            if step is None:
                return "starting"
            if self.is_between(now):
                return f"{step.words} done, working on what follows"
            return step.line(now)

    def is_between(self, now: float) -> bool:
        """Whether a step is done, and nothing was heard of the next for a while."""
        return self.current is not None and self.current.is_done and now - self.last_told > 1


def _first_word(words: str) -> str:
    return words.split(" ", 1)[0].rstrip(",:;")


def _begins_anew(step: Step, words: str, done: int, total: int) -> bool:
    """Whether a step is done again for something else, instead of going on."""
    if (words, total) == (step.words, step.total):  # less than before: told again of what is done
        return step.is_done and done < total
    if words != step.words and total != step.total:
        return True
    return done < step.done
