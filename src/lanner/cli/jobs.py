"""What the commands do with files: read, run, write."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lanner.cli.config import load_config, write_config
from lanner.cli.processed import Processed, read_processed, uncertainties_beside
from lanner.cli.telling import shared_files
from lanner.cli.uncertain import uncertainties_of, varied_columns
from lanner.errors import InputError, StoreWarning, UncertaintyWarning
from lanner.events.io import Events, read_sample
from lanner.events.planning import PLANNING_EVENTS
from lanner.events.spread import read_by, spread
from lanner.inference.sequential import AUTO
from lanner.report.characterise import Characterisation, characterise
from lanner.report.page import write_report
from lanner.run.blinded import refuse_blind
from lanner.run.calibration import CALIBRATION_TOYS, Calibration
from lanner.run.dry_run import DryRun
from lanner.run.dry_run import dry_run as estimated
from lanner.run.execution.local import Executor, Local
from lanner.run.fingerprint import sample_digest
from lanner.run.manifest import NAME as MANIFEST
from lanner.run.manifest import written_together
from lanner.run.prepare import FROM_WEIGHTS, SCORE_TOYS, TOYS
from lanner.run.result import SearchResult
from lanner.run.result_io import CONFIG, KIND, REPORT, RESULT, data_of, harm_of, write_result
from lanner.settings import FitSettings, RunSettings
from lanner.typing import Progress
from lanner.uncertainties.declared import Uncertainty


@dataclass(frozen=True, eq=False)
class Files:
    """The samples of a run, as read."""

    reference: Events
    data: Events


def read_reference(config: RunSettings) -> Events:
    """The reference of a run."""
    if config.analysis is not None:
        return read_processed(config)
    assert config.reference is not None
    return read_sample(
        list(config.reference),
        features=_listed(config.features),
        weight=config.weight,
        where=config.where,
        extra=config.extra,
        varied=varied_columns(config),
        drop_nan=config.drop_nan,
        label="reference",
        memory=config.memory,
    )


@contextmanager
def opened_reference(config: RunSettings, executor: Executor, progress: Progress | None) -> Iterator[Events]:
    """The reference of a search: read, or left in its files for whoever computes."""
    if not config.spread or config.analysis is not None:
        yield read_reference(config)
        return
    _refuse_beside_spread(config)
    assert config.reference is not None
    source = spread(
        list(config.reference), features=_listed(config.features), where=config.where, drop_nan=config.drop_nan
    )
    with executor.rows() as mapper:
        sample = read_by(source, mapper, progress)
        words = f"{source.description}: {len(sample)} events"
        if len(sample) > PLANNING_EVENTS:
            words += f"; plots show {PLANNING_EVENTS} of them, taken at random"
        yield Events(sample, {}, words, 0, left_out=source.left_out)


def _refuse_beside_spread(config: RunSettings) -> None:
    for name, value in (("weight", config.weight), ("extra", config.extra), ("uncertainties", config.uncertainties)):
        if value:
            raise InputError(
                f"--{name}: a reference that is left in its files has features alone; leave out --{name}, or --spread"
            )


def read_like(config: RunSettings, source: Any, names: tuple[str, ...], label: str) -> Events:
    """Another sample, with the reference's features and without weights."""
    return read_sample(
        list(source),
        features=_listed(config.features) or list(names),
        where=config.where,
        extra=config.extra,
        drop_nan=config.drop_nan,
        all_missing=True,  # of what is rare in the reference, few data events may have none
        label=label,
        memory=config.memory,
    )


def read_uncertainties(config: RunSettings, reference: Events) -> list[Uncertainty]:
    """The uncertainties of a run; varied samples are read as the reference is, so their cuts follow the variation."""

    def read(files: tuple[str, ...], label: str) -> Events:
        events = read_sample(
            list(files),
            features=_listed(config.features) or list(reference.sample.names),
            weight=config.weight,
            where=config.where,
            drop_nan=config.drop_nan,
            label=label,
            memory=config.memory,
        )
        if events.dropped:
            words = f"{events.dropped} rows of the {label} had missing values and were dropped"
            warnings.warn(words, UncertaintyWarning, stacklevel=2)
        return events

    return uncertainties_beside(reference, uncertainties_of(config, reference, read))


def reference_of(calibration: Calibration, config: RunSettings) -> Events:
    """The reference that a calibration keeps, with extra variables made from its features."""
    sample = calibration.reference
    columns = dict(zip(sample.names, sample.features.T, strict=True))
    events = read_sample(columns, features=list(sample.names), extra=config.extra, label="calibration's reference")
    return replace(events, sample=sample, description=f"calibration {calibration.folder}")


def _listed(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)


def expected_of(config: RunSettings) -> float | str | None:
    """N(0), "weights" where the reference's weights say it, or None where only the shape is tested."""
    if config.expected in ("observed", FROM_WEIGHTS):
        return None if config.expected == "observed" else FROM_WEIGHTS
    return float(config.expected)  # type: ignore[arg-type]


def number_expected(config: RunSettings) -> float | None:
    """The same where the weights cannot say it."""
    expected = expected_of(config)
    if isinstance(expected, str):
        raise InputError(f"expected={expected!r} is for search and calibrate: give a number")
    return expected


def finish(
    result: SearchResult, config: RunSettings, files: Files, folder: Path, *, tuning: Any = None
) -> tuple[SearchResult, Path]:
    """Write the result, its configuration and its report; returns the result with its inputs and the report's path."""
    inputs = (("reference", files.reference.description), ("data", files.data.description))
    dropped = tuple(
        f"{events.dropped} rows of the {label} had missing values and were dropped"
        for label, events in (("reference", files.reference), ("data", files.data))
        if events.dropped
    )
    shared = shared_files(config)
    said = (*([shared] if shared else []), *result.warnings, *dropped)
    left_out = tuple(files.reference.left_out.items())
    result = replace(result, inputs=inputs, warnings=said, left_out=left_out)
    with written_together(folder, KIND) as written:
        written.remove(REPORT, others=True)
        write_result(result, written)
        write_config(folder / CONFIG, config.to_dict())
        written.include(CONFIG)
    return result, report_again(result, files, folder, tuning=tuning)


def report_again(result: SearchResult, files: Files, folder: Path, *, output: str | None = None, **how: Any) -> Path:
    """Write the report of a finished run; in its folder it becomes one of the files that belong together."""
    path, found = Path(output or folder / REPORT), describe(result, files)
    if path.resolve() != (folder / REPORT).resolve() or not (folder / MANIFEST).exists():
        return Path(write_report(result, path, characterisation=found, **how))
    with written_together(folder, KIND, to=True) as written:
        write_report(result, path, characterisation=found, **how)
        written.include(REPORT)
    return path


def describe(result: SearchResult, files: Files, *, variables: tuple[str, ...] | None = None) -> Characterisation:
    """Where the data depart from the reference."""
    return characterise(
        result,
        files.reference.sample,
        files.data.sample,
        extra_reference=files.reference.extra,
        extra_data=files.data.extra,
        variables=variables,
        data_rows=files.data.rows,
        look=files.reference.look if isinstance(files.reference, Processed) else None,
    )


def check_folder(folder: Path, data: Events) -> None:
    """Refuse a folder that holds the result of other data, which would be lost; say if it holds a damaged one."""
    refuse_blind(folder)
    if not (folder / RESULT).exists():
        return
    digest, name = data_of(folder)
    if digest not in (None, sample_digest(data.sample)):
        raise InputError(
            f"{folder} holds the result of other data ({name}) in {RESULT}; use another folder, or remove that file if "
            "it was copied here. For several data sets with the same toys, use `lanner calibrate` and `lanner apply`"
        )
    harm = harm_of(folder)
    if harm is not None:
        warnings.warn(f"{harm}. It is made again now, from the toys that are kept", StoreWarning, stacklevel=2)


def reopen(
    folder: Path,
    result: SearchResult,
    *,
    extra: tuple[str, ...] = (),
    reference_file: str | None = None,
    data_file: str | None = None,
) -> tuple[RunSettings, Files]:
    """Read the samples of a finished run again, from where its configuration or the user says they are."""
    path = folder / "config.yaml"
    if not path.exists():
        raise InputError(f"{folder} holds no config.yaml, which says where its samples are; run the search again")
    config = RunSettings.of(load_config(path))
    moved: dict[str, Any] = {k: v for k, v in (("reference", reference_file), ("data", data_file)) if v is not None}
    features = config.features or result.plan.names
    config = replace(config, extra=(*config.extra, *extra), features=features, **moved)
    assert config.data is not None
    with opened_reference(config, Local(), None) as reference:  # of which this process reads what is shown
        return config, Files(reference, read_like(config, config.data, result.plan.names, "data"))


def dry_run(config: RunSettings, purpose: str, progress: Progress | None) -> DryRun:
    """What "search", "calibrate", "power" or "exposure" would do with these settings, and what it would take."""
    if config.spread and config.uncertainties:
        _refuse_beside_spread(config)
    reference = read_reference(config)
    data, toys = None, config.toys
    uncertainties = read_uncertainties(config, reference)
    score = FitSettings(**config.fit_keywords()).chosen_statistic == "score"
    if purpose == "search" and not config.blind:
        data = read_like(config, config.data, reference.sample.names, "data").sample
    elif toys == AUTO:
        toys = (CALIBRATION_TOYS if purpose == "calibrate" else SCORE_TOYS) if score else TOYS
    if purpose == "power":
        assert config.signal_events is not None
        toys = int(toys) + config.experiments * len(config.signal_events)
    if purpose == "exposure":
        toys = int(toys) + config.experiments * 2 * len(uncertainties)
    return estimated(
        reference.sample,
        data,
        expected=expected_of(config),
        toys=toys,
        uncertainties=uncertainties,
        memory=config.memory,
        device=config.device,
        progress=progress,
        **config.fit_keywords(),
    )
