"""`characterise`: where and how the data depart from the reference, in numbers.

To be read after the verdict, not instead of it: everything here describes the one learned ratio whose significance the
search has measured. Nothing here is a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import with_nearest
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.events.planning import for_planning
from lanner.events.spread import SpreadSample
from lanner.report.binning import Bins
from lanner.report.importance import Importance, rank_importance
from lanner.report.learned import Learned
from lanner.report.look import Look, checked_look
from lanner.report.maps import RatioMap, map_2d, most_telling_pair
from lanner.report.profiles import RatioProfile, make_profile
from lanner.report.region import Region, find_region
from lanner.report.variables import columns_to_show, is_complete, with_values
from lanner.run.fingerprint import sample_digest
from lanner.run.result import SearchResult
from lanner.settings import spelled_out
from lanner.typing import Array

_STREAM = 0x5105  # keeps the random rows of the null band apart from the toys' own seeds
_LISTED = 20  # events in a table


@dataclass(frozen=True, eq=False)
class TopEvents:
    """The data events with the highest f, highest first, with all their variables."""

    names: tuple[str, ...]
    rows: NDArray[np.intp]  # in the data as they were given
    log_ratio: Array
    values: Array  # (events, variables)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ratio(self) -> Array:
        """e^f: how many times more events like this one the data have than the reference."""
        return np.exp(self.log_ratio)


@dataclass(frozen=True, eq=False)
class Characterisation:
    """The learned ratio f on all events, and what it looks like along every variable."""

    learned: Learned
    profiles: tuple[RatioProfile, ...]  # in the order of `importance`
    importance: tuple[Importance, ...]
    maps: tuple[RatioMap, ...]  # the most telling pair; empty for a single variable
    top: TopEvents
    region: Region | None
    reference: Mapping[str, Array]  # the variables looked at, row by row
    data: Mapping[str, Array]
    data_rows: NDArray[np.intp] | None = None  # where they stand in their file; None: in the order given
    beyond: TopEvents | None = None  # data events out of reach of the reference, where there are more than expected

    @property
    def log_ratio_reference(self) -> Array:
        """f of every reference event."""
        return self.learned.log_ratio_reference

    @property
    def log_ratio_data(self) -> Array:
        """f of every data event."""
        return self.learned.log_ratio_data

    @property
    def null_toys(self) -> int:
        """Null toys behind the bands."""
        return 0 if self.learned.null is None else self.learned.null.shape[1]

    @property
    def null_events(self) -> int:
        """Reference events, drawn at random where there are more, on which the null toys were evaluated."""
        return len(self.learned.rows)

    def profile(self, name: str) -> RatioProfile:
        """The profile along one variable."""
        self._check(name)
        return next(p for p in self.profiles if p.name == name)

    def map_2d(self, x: str | None = None, y: str | None = None, *, bins: tuple[Bins, Bins] = (None, None)) -> RatioMap:
        """The learned ratio over two variables; by default the most telling two."""
        if x is None or y is None:
            if not self.maps:
                raise InputError("a map needs two variables, and there is only one: give another with extra_reference=")
            return self.maps[0]
        self._check(x, y)
        for name in (x, y):
            if not is_complete(self.reference, self.data, name):
                raise InputError(f"the variable {name!r} is NaN in some events: choose another for a map")
        return map_2d(self.learned, self.reference, self.data, (x, y), bins)

    def top_events(self, k: int = 20) -> TopEvents:
        """The k data events with the highest f."""
        return _top(self.learned.log_ratio_data, self.data, k, self.data_rows)

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain JSON: importance, region, top events, and every variable's ratios."""
        region = None
        if self.region is not None:
            region = {k: v for k, v in asdict(self.region).items() if k != "cuts"} | {
                "selection": self.region.selection
            }
        return {
            "importance": [asdict(i) for i in self.importance],
            "region": region,
            "top_events": [
                {"row": int(row), "log_ratio": float(f)}
                | {"variables": dict(zip(self.top.names, map(_or_none, v), strict=True))}
                for row, f, v in zip(self.top.rows, self.top.log_ratio, self.top.values.tolist(), strict=True)
            ],
            "beyond_the_reference": [] if self.beyond is None else self.beyond.rows.tolist(),
            "profiles": [p.to_dict() for p in self.profiles],
            "null_toys": self.null_toys,
            "null_events": self.null_events,
        }

    def __str__(self) -> str:
        from lanner.report.text.summary import findings

        return findings(self)

    __repr__ = __str__

    def _check(self, *names: str) -> None:
        missing = [name for name in names if name not in self.reference]
        if missing:
            raise InputError(
                f"no variable {with_nearest(missing, self.reference)}; there are {', '.join(self.reference)}"
            )


@spelled_out
def characterise(
    result: SearchResult,
    reference: Any,
    data: Any,
    *,
    extra_reference: Any = None,
    extra_data: Any = None,
    variables: Iterable[str] | None = None,
    bins: Mapping[str, Bins] | int | None = None,
    data_rows: NDArray[np.intp] | None = None,
    look: Look | None = None,
    rng: np.random.Generator | None = None,
) -> Characterisation:
    """Show where and how the data depart from the reference: the learned ratio along every variable.

    To be read after the verdict, not instead of it: nothing here is a test of its own.

    Parameters
    ----------
    result : SearchResult
        What `search`, `apply` or `load_result` returned.
    reference, data : array, mapping of columns, data frame or Sample
        The samples given to the search, all their events in the same order.
    extra_reference, extra_data : mapping of columns or data frame, optional
        Further variables that the fit did not use (high-level features, say), row by row. A column that the fit used
        is taken from the samples instead. A variable is shown without the events in which it is NaN.
    variables : iterable of str, optional
        Which variables to look at; by default all.
    bins : int or mapping of str to (int or sequence of float), optional
        A number of bins, or for some variables their number or edges, in the units of the variable. By default about
        30 over the central 99.5 % of the events, and one for each value of a whole number.
    data_rows : ndarray of int, optional
        Where each data event stands in its file, if a selection has left rows out (`Events.rows`).
    look : Look, optional
        Words for the axes of plots, and the processes of the reference, which are then stacked.
    rng : numpy.random.Generator, optional
        Draws the reference events for the null band where there are more than 50 000; by default from the search's
        seed.

    Returns
    -------
    Characterisation
        Profiles, importance, maps, the region that stands out, and the events with the highest ratio.

    Raises
    ------
    lanner.errors.InputError
        If the samples are not those of the search, or variables or bins cannot be used.

    See Also
    --------
    write_report : Write it all to one HTML file.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search({"x": reference[:, 0]}, {"x": data[:, 0]}, expected=200, toys=90, seed=1)
    >>> found = lanner.characterise(result, {"x": reference[:, 0]}, {"x": data[:, 0]})
    >>> [profile.name for profile in found.profiles]
    ['x']
    """
    samples = _samples_of(result, reference, data)
    look = checked_look(look, len(samples["reference"]))
    extra = {
        label: None if isinstance(given, Mapping) and not given else given
        for label, given in (("reference", extra_reference), ("data", extra_data))
    }
    if (extra["reference"] is None) != (extra["data"] is None):
        raise InputError("one sample has extra variables, the other none: give both extra_reference and extra_data")
    of_reference, of_data = (
        columns_to_show(sample, extra[label], label, variables) for label, sample in samples.items()
    )
    different = set(of_reference) ^ set(of_data)
    if different:
        raise InputError(
            f"only one of the two samples has {_quoted(different)}: give the same extra variables for both"
        )
    of_reference, of_data = with_values(of_reference, of_data)
    learned = Learned.evaluate(
        result.ratio,
        samples["reference"],
        samples["data"],
        expected=result.plan.expected,
        null_coefficients=result.null_coefficients,
        fitted=result.systematics.fitted,
        rng=np.random.default_rng([result.plan.seed, _STREAM]) if rng is None else rng,
    )
    found = {
        name: make_profile(
            learned,
            values,
            of_data[name],
            name=name,
            fitted=name in samples["reference"].names,
            bins=bins.get(name) if isinstance(bins, Mapping) else bins,
            look=look,
        )
        for name, values in of_reference.items()
    }
    ranked = rank_importance(found.values())
    # A selection or a map of variables that some events lack would be one of other events.
    complete = [name for name in of_reference if is_complete(of_reference, of_data, name)]
    pair = most_telling_pair(learned, of_reference, of_data, [i.name for i in ranked if i.name in complete])
    return Characterisation(
        learned=learned,
        profiles=tuple(found[i.name] for i in ranked),
        importance=ranked,
        maps=() if pair is None else (map_2d(learned, of_reference, of_data, pair),),
        top=_top(learned.log_ratio_data, of_data, _LISTED, data_rows),
        data_rows=data_rows,
        region=find_region(learned, *({name: of[name] for name in complete} for of in (of_reference, of_data))),
        reference=of_reference,
        data=of_data,
        beyond=_beyond(result, learned.log_ratio_data, of_data, data_rows),
    )


def _samples_of(result: SearchResult, reference: Any, data: Any) -> dict[str, Sample]:
    """Both samples with the columns of the search, if they are its samples."""
    like = Sample(result.ratio.scaling.inverse(result.ratio.centers[:1]), result.ratio.names)
    samples = {}
    for label, given, size in (("reference", reference, result.reference_total), ("data", data, result.data_size)):
        sample = match_columns(like, Sample.of(given, label=label), labels=("search", label))
        if len(sample) != size:
            raise InputError(
                f"the {label} has {len(sample)} events, the search's had {size}: give the samples of the search"
            )
        if dict(result.digests).get(label) not in (None, sample_digest(sample)):
            raise InputError(
                f"the {label} has as many events as the search's, but others, or in another order: give the samples of "
                "the search"
            )
        # Of a reference that is left in its files a part is shown.
        samples[label] = for_planning(sample) if isinstance(sample, SpreadSample) else sample
    return samples


def _top(log_ratio: Array, data: Mapping[str, Array], k: int, places: NDArray[np.intp] | None) -> TopEvents:
    return _events(np.argsort(-log_ratio, kind="stable")[: max(k, 0)], log_ratio, data, places)


def _beyond(
    result: SearchResult, log_ratio: Array, data: Mapping[str, Array], places: NDArray[np.intp] | None
) -> TopEvents | None:
    """The data events that the reference does not reach, those furthest out first."""
    found = result.out_of_reach
    if found is None or not found.surprising:
        return None
    return _events(np.array(found.rows[:_LISTED], dtype=np.intp), log_ratio, data, places)


def _events(
    rows: NDArray[np.intp], log_ratio: Array, data: Mapping[str, Array], places: NDArray[np.intp] | None
) -> TopEvents:
    values = np.stack([data[name][rows] for name in data], axis=1)
    return TopEvents(tuple(data), rows if places is None else places[rows], log_ratio[rows], values)


def _or_none(value: float) -> float | None:
    """A number as JSON has it: NaN is none."""
    return value if np.isfinite(value) else None


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
