from dataclasses import replace
from pathlib import Path

from lanner.report.plots.figures import write_figures
from tests.report.showcase import hostile_case, the_case, the_findings


def test_every_figure_is_a_file(tmp_path: Path) -> None:
    few = replace(the_findings(), profiles=the_findings().profiles[:1])
    written = write_figures(the_case().result, few, tmp_path / "figures")
    assert len(written) == 4  # null, importance, one variable, map
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    assert written[0].name == "01-null.png"
    assert {"03-profile-mass.png", "03-profile-energy.png"} & {path.name for path in written}


def test_file_names_hold_letters_and_digits_only(tmp_path: Path) -> None:
    case = hostile_case()
    few = replace(case.characterise(), maps=(), importance=())
    written = write_figures(case.result, replace(few, profiles=few.profiles[:2]), tmp_path, suffix="svg")
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert all(
        set(path.stem) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") for path in written
    )
