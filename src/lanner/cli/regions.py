"""`lanner search` of an analysis file with regions: one folder, with the whole and a folder for each region."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lanner._util.progress import begin, shown
from lanner.cli.folders import with_output
from lanner.cli.terminal import in_flags
from lanner.errors import InputError
from lanner.settings import RunSettings

if TYPE_CHECKING:
    from lanner.cli.processed import Processed
    from lanner.report.analysis import Analysis
    from lanner.run.regions_result import RegionsResult

_UNUSED = ("blind", "uncertainties", "executor", "scheduler", "workers", "threads")


def has_regions(config: RunSettings) -> bool:
    """Whether an analysis file asks for regions."""
    if config.analysis is None:
        return False
    from lanner.events.analysis import read_analysis_file

    return bool(read_analysis_file(config.analysis).regions)


def search_in_regions(config: RunSettings, *, as_json: bool, quiet: bool, dry_run: bool) -> None:
    """Search the regions of an analysis, and write what was found."""
    _refuse(config, dry_run=dry_run)
    config = with_output(config, "search", quiet=quiet)
    assert config.output is not None
    folder = Path(config.output)
    with shown(not quiet) as told:
        from lanner.cli.jobs import expected_of
        from lanner.cli.processed import read_processed
        from lanner.cli.telling import lines_on_samples

        begin(told, "reading the reference")
        reference = read_processed(config)
        assert reference.analysis is not None
        begin(told, "reading the data")
        data = reference.analysis.data
        _check_folder(folder, reference.analysis)
        if not quiet:
            for line in lines_on_samples(config, reference=reference, data=data):
                click.echo(line, err=True)
        result = reference.analysis.search_regions(
            expected=expected_of(config),
            toys=config.toys,
            until_z=config.until_z,
            p_precision=config.p_precision,
            memory=config.memory,
            device=config.device,
            progress=told,
            **config.fit_keywords(),
        )
        begin(told, "writing the reports")
        result = replace(result, inputs=(("reference", reference.description), ("data", data.description)))
        report = _write(result, config, reference, folder)
    if as_json:
        click.echo(result.to_json())
        return
    told_in_flags = replace(result, warnings=tuple(map(in_flags, result.warnings)))
    click.echo(f"{told_in_flags}\nreport: {report}")


def _refuse(config: RunSettings, *, dry_run: bool) -> None:
    """Refuse what regions do not take."""
    given = [f"--{name}" for name in _UNUSED if getattr(config, name)]
    if dry_run:
        given.append("--dry-run")
    if given:
        raise InputError(
            f"{', '.join(given)}: {config.analysis} has regions, which are searched without; leave it out, or take the "
            "regions out of the file and select one with --where"
        )


def _check_folder(folder: Path, analysis: Analysis) -> None:
    """Refuse a folder that holds the result of other data, or of a search without regions, which would be lost."""
    from lanner.run.fingerprint import sample_digest
    from lanner.run.manifest import NAME
    from lanner.run.result_io import RESULT, data_of

    if not (folder / RESULT).exists():
        return
    digest, name = data_of(folder)
    if (folder / NAME).exists():
        raise InputError(f"{folder} holds the result of a search without regions in {RESULT}; use another folder")
    if digest not in (None, sample_digest(analysis.data.sample)):
        raise InputError(f"{folder} holds the result of other data ({name}) in {RESULT}; use another folder")


def _write(result: RegionsResult, config: RunSettings, reference: Processed, folder: Path) -> Path:
    """The result and report of each region, then those of all of them; the path of the last."""
    from lanner._util.files import write_atomically
    from lanner.cli.config import write_config
    from lanner.cli.jobs import Files, finish
    from lanner.cli.processed import processed_of
    from lanner.events.analysis.regions import selection_with
    from lanner.report.regions import write_regions_report
    from lanner.run.regions_result import FOLDER
    from lanner.run.result_io import CONFIG, REPORT, RESULT

    analysis = reference.analysis
    assert analysis is not None
    for name in (RESULT, REPORT):  # those of an earlier run must not stand beside the regions of this one
        (folder / name).unlink(missing_ok=True)
    for name, one in result.regions.items():
        place = folder / FOLDER / name
        if not one.observed:
            one.result.save(place)  # there is nothing to show of data that there are not
            (place / REPORT).unlink(missing_ok=True)
            continue
        inside = analysis.in_region(name)
        settings = replace(config, where=selection_with(analysis.file, name), output=str(place))
        finish(one.result, settings, Files(processed_of(inside), inside.data), place)
    write_config(folder / CONFIG, config.to_dict())
    write_atomically(folder / RESULT, result.to_json())
    return write_regions_report(result, folder / REPORT)
