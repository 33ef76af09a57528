"""Matching the columns of two samples, by name where both have names and by position otherwise."""

from __future__ import annotations

from lanner._util.text import count, listed, with_nearest
from lanner.errors import InputError
from lanner.events.sample import Sample, default_names


def match_columns(reference: Sample, data: Sample, *, labels: tuple[str, str] = ("reference", "data")) -> Sample:
    """Return `data` with its columns in the order of `reference`, matched by name.

    If only one of the two has names, columns are matched by position: unnamed data take the names of
    the reference, and named data keep theirs beside an unnamed reference.

    Parameters
    ----------
    reference : Sample
        The sample that sets the order.
    data : Sample
        The sample to be ordered.
    labels : tuple of two str, default ("reference", "data")
        What error messages call the two.

    Returns
    -------
    Sample
        The data, in a copy only where the order differs.

    Raises
    ------
    InputError
        If the two do not have the same columns; the message names the missing and the extra ones.

    Examples
    --------
    >>> reference = Sample.of({"pt": [1, 2], "eta": [3, 4]})
    >>> match_columns(reference, Sample.of({"eta": [5, 6], "pt": [7, 8]})).names
    ('pt', 'eta')
    """
    return match_names(reference.names, data, labels=labels)


def match_names(names: tuple[str, ...], data: Sample, *, labels: tuple[str, str]) -> Sample:
    """Match the columns of `data` as `match_columns` does, to a reference of which only the names are at hand."""
    reference_label, data_label = labels
    if data.names == names:
        return data
    if set(data.names) == set(names):
        position = {name: column for column, name in enumerate(data.names)}
        ordered = data.features[:, [position[name] for name in names]]
        return Sample(ordered, names, data.weights, label=data_label)

    reference_named = names != default_names(len(names))
    if reference_named != data.named:
        if len(names) == data.dimensions:
            return data if data.named else Sample(data.features, names, data.weights, label=data_label)
        raise InputError(
            f"{data_label} has {count(data.dimensions, 'column')} "
            f"({listed(data.names) if data.named else 'without names'}), {reference_label} has {len(names)} "
            f"({listed(names) if reference_named else 'without names'}): give both the same features"
        )
    missing = [name for name in names if name not in data.names]
    extra = [name for name in data.names if name not in names]
    raise InputError(
        f"{data_label} does not have the columns of {reference_label} "
        f"(missing: {with_nearest(missing, extra) or 'none'}; extra: {listed(extra) or 'none'}): "
        f"rename them, or select the same features of both with names=[...]"
    )
