"""`--help` of commands with many options: in groups, in the order in which one needs them, the required ones marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

# What belongs together, by the names of settings and flags.
_INPUT = "reference data signal features weight where extra drop_nan spread blind config_file signals suite share"
_UNCERTAINTIES = "normalisation weights_up weights_down shifted shifted_yield process"
_TOYS = "null toys until_z p_precision experiments signal_events signal_alone seed"
_OUTPUT = "output as_json quiet dry_run listed"
_CLUSTER = "device executor scheduler workers threads memory tls_ca tls_cert tls_key"
_FIT = (
    "combination width penalty centers reference_size newton_steps loss solver scaling missing periodic precision "
    "tolerance trace_error max_rank hidden clip optimiser epochs starts"
)
_GROUPS = {
    "Input": _INPUT,
    "Physics": "expected statistic tests",
    "Uncertainties": _UNCERTAINTIES,
    "Toys": _TOYS,
    "Fit (the defaults are chosen from the reference)": _FIT,
    "Output": _OUTPUT,
    "Machine and cluster": _CLUSTER,
}


class Grouped(click.Command):
    """A command whose help has its options in groups; `needed` are those that one cannot do without.

    `places` are groups of its own between those of input and output.
    """

    def __init__(
        self, *args: Any, needed: Sequence[str] = (), places: Mapping[str, str] | None = None, **keywords: Any
    ) -> None:
        super().__init__(*args, **keywords)
        self.needed = tuple(needed)
        self.groups = {"Input": _INPUT} | dict(places) | {"Output": _OUTPUT} if places else _GROUPS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section for each group."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in self.groups}
        places = {name: title for title, names in self.groups.items() for name in names.split()}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, text = record
            if parameter.name in self.needed:
                text += "  [required]"
            found[places.get(parameter.name or "", "Output")].append((name, text))
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    # Required ones first: the others can be left for another day.
                    formatter.write_dl(sorted(records, key=lambda record: not record[1].endswith("[required]")))
