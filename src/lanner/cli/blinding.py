"""`lanner search --blind` and `lanner unblind`: all that needs no data first, and then the data, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lanner._util.progress import begin, shown
from lanner.cli.folders import with_output
from lanner.cli.options import WORKERS, flags, moved_flags
from lanner.cli.telling import in_words, tell_samples
from lanner.cli.terminal import plain_errors
from lanner.errors import InputError
from lanner.settings import RunSettings


def run_blind(config: RunSettings, *, as_json: bool, quiet: bool) -> None:
    """Prepare a search blind: read the reference, and of the data the names of their columns."""
    _refuse(config)
    config = with_output(config, "search", quiet=quiet)
    assert config.output is not None
    folder = Path(config.output)
    # Lines of a log without a clock: nothing that is written may differ from run to run, or with the data.
    with shown(not quiet, timed=False) as told:
        import lanner
        from lanner.cli.config import executor_chosen, write_config
        from lanner.cli.jobs import expected_of, read_like, read_reference
        from lanner.cli.processed import Processed
        from lanner.events.io.header import check_header
        from lanner.run.blinded import KIND, digests_of_files, refuse_opened
        from lanner.run.manifest import written_together
        from lanner.run.result_io import CONFIG

        refuse_opened(folder)
        begin(told, "reading the reference")
        files = digests_of_files(_files_of_reference(config))
        reference = read_reference(config)
        features = list(config.features or reference.sample.names)
        assert config.data is not None
        check_header(list(config.data), features=features, where=config.where, extra=config.extra)
        samples = {"reference": reference}
        if config.signal is not None:
            samples["signal"] = read_like(config, config.signal, reference.sample.names, "signal")
        tell_samples(config, quiet=quiet, **samples)
        expected = expected_of(config)
        if expected is None:
            raise InputError(
                "expected=None tests the shape alone: toys then have as many events as the data, and a blind search "
                "does not even know their number; give the number that the reference predicts, or expected='weights'"
            )
        found = lanner.blind_search(
            reference.sample,
            expected=expected,
            output=folder,
            toys=config.toys,
            until_z=config.until_z,
            p_precision=config.p_precision,
            signal=samples["signal"].sample if "signal" in samples else None,
            signal_events=config.signal_events or (),
            alone=config.signal_alone,
            look=reference.look if isinstance(reference, Processed) else None,
            variables=reference.extra,
            files=files,
            memory=config.memory,
            executor=executor_chosen(config),
            device=config.device,
            progress=told,
            **config.fit_keywords(),
        )
        with written_together(folder, KIND, to=True) as written:
            write_config(folder / CONFIG, replace(config, output=None).to_dict())
            written.include(CONFIG)
    click.echo(found.to_json() if as_json else f"{found}\n\nreport: {found.page}\nnext: lanner unblind {folder}")


def _refuse(config: RunSettings) -> None:
    """Refuse what a blind search cannot do, before anything is read."""
    declared = [one.name for one in config.uncertainties]
    if config.analysis is not None:
        from lanner.events.analysis.file import read_analysis_file

        declared += [one.name for one in read_analysis_file(config.analysis).uncertainties]
    if declared:
        names = ", ".join(declared)
        raise InputError(
            f"--blind with uncertainties ({names}): toys are drawn at the values of the nuisance parameters that "
            "fit the data, so none can be made before these are read. `lanner calibrate` makes toys at a fixed design "
            "of them without data, and `lanner apply` looks at the data later"
        )
    if config.spread:
        raise InputError(
            "--blind with --spread: what may be found is measured on a reference in memory; leave out --spread"
        )


def _files_of_reference(config: RunSettings) -> list[Path]:
    """The files that say what the reference is."""
    from lanner.events.analysis.file import read_analysis_file
    from lanner.events.io.paths import files_of

    if config.analysis is not None:
        samples = read_analysis_file(config.analysis).samples
        return [Path(config.analysis), *(f.path for one in samples for f in files_of(list(one.files), one.name))]
    assert config.reference is not None
    return [file.path for file in files_of(list(config.reference), "reference")]


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@moved_flags
@flags("memory", *WORKERS)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no warnings on stderr.")
def unblind(
    folder: str, as_json: bool, quiet: bool, data_file: str | None, reference_file: str | None, **given: Any
) -> None:
    """Look at the data of a blind search, once, and write the result and its report.

    FOLDER is that of lanner search --blind. Its settings and toys are used as they are; when the data were looked at is
    kept. Interrupted, the same command goes on where it was.
    """
    with plain_errors(quiet=quiet):
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.config import executor_chosen
            from lanner.cli.jobs import Files, finish, read_like, read_reference
            from lanner.events.io.header import check_header
            from lanner.run.blinded import digests_of_files, open_folder, opened_at, read_blinded
            from lanner.run.result_io import REPORT, RESULT

            where = Path(folder)
            blinded, when = read_blinded(where), opened_at(where)
            if when is not None and (where / RESULT).exists():
                result, report = lanner.load_result(where), where / REPORT
                click.echo(f"{folder} was unblinded {when}: this is its result, and nothing is run again", err=True)
            else:
                config = _config_of(where, data_file, reference_file)
                machine = replace(config, **{name: value for name, value in given.items() if value is not None})
                assert config.data is not None
                begin(told, "reading the reference")
                blinded.check_files(digests_of_files(_files_of_reference(config)))
                reference = read_reference(config)
                names = reference.sample.names
                check_header(
                    list(config.data), features=config.features or names, where=config.where, extra=config.extra
                )
                executor = executor_chosen(machine)
                when = open_folder(where)  # written down before the first event is read
                begin(told, "reading the data")
                data = read_like(config, config.data, names, "data")
                tell_samples(config, quiet=quiet, reference=reference, data=data)
                result = lanner.unblind(
                    where,
                    reference.sample,
                    data.sample,
                    memory=machine.memory,
                    executor=executor,
                    device=machine.device,
                    progress=told,
                )
                begin(told, "writing the report")
                result, report = finish(result, config, Files(reference, data), where)
        click.echo(result.to_json() if as_json else f"{in_words(result)}\nunblinded: {when}\nreport: {report}")


def _config_of(folder: Path, data: str | None, reference: str | None) -> RunSettings:
    """The settings of a blind folder, which nobody has changed, and where its files are now."""
    from lanner.cli.config import load_config
    from lanner.errors import FolderError
    from lanner.run.blinded import KIND
    from lanner.run.manifest import Manifest
    from lanner.run.result_io import CONFIG

    try:
        Manifest.read(folder, KIND).content(CONFIG)
    except FolderError as error:
        raise FolderError(
            f"{error}. What was decided blind holds for the settings as they were: restore them, or run the same blind "
            "search again into this folder, which writes them anew"
        ) from error
    moved = {name: file for name, file in (("data", data), ("reference", reference)) if file is not None}
    return RunSettings.of(load_config(folder / CONFIG) | moved)
