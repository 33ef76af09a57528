"""What is exported is read back, by what others read it with, and compared with the result."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import hist
import numpy as np
import pytest
import uhi.io.json
import yaml

import lanner
from lanner.errors import InputError, LannerWarning
from lanner.report.export import KINDS
from lanner.report.export import hepdata as of_hepdata
from lanner.report.export.tables import tables_of
from lanner.report.profiles import contents
from tests.report.showcase import the_case


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("export")
    case = the_case()
    events = {"signal": {name: values[:50] for name, values in case.data.items()}}
    only = [kind for kind in KINDS if kind != "hepdata"]
    lanner.export(case.result, made, characterisation=case.characterise(), events=events, only=only)
    return made


def test_the_files_are_those_that_the_page_names(folder: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "commands" / "export.md").read_text()
    found = sorted(path.name for path in folder.iterdir())
    assert found == [
        "citation.bib",
        "histograms.json",
        *(f"ratio_{n}.npz" for n in ("data", "reference", "signal")),
        "toys.npz",
    ]
    assert all(f"`{name.replace('signal', 'NAME')}`" in page for name in found)


def test_toys_are_those_of_the_null(folder: Path) -> None:
    result = the_case().result
    with np.load(folder / "toys.npz") as toys:
        assert np.array_equal(toys["statistic"], result.null.statistics)
        assert np.array_equal(toys["converged"] == 1, result.null.converged)
        counted = np.count_nonzero(toys["statistic"] >= result.statistic)
    assert (counted + 1) / (len(result.null) + 1) == result.p_value


def test_ratios_are_those_of_the_fit(folder: Path) -> None:
    case = the_case()
    with np.load(folder / "ratio_reference.npz") as found:
        assert np.array_equal(found["mass"], case.reference["mass"])
        assert np.array_equal(found["energy"], case.extra_reference["energy"])
        assert found["log_ratio"] == pytest.approx(case.result.ratio.log_ratio(case.reference))
        assert found["expected_weight"].sum() == pytest.approx(400)
    with np.load(folder / "ratio_data.npz") as found:
        assert np.array_equal(found["row"], np.arange(425))
    with np.load(folder / "ratio_signal.npz") as found:
        some = {name: values[:50] for name, values in case.data.items()}
        assert np.array_equal(found["log_ratio"], case.result.ratio.log_ratio(some))


def test_histograms_are_read_by_hist(folder: Path) -> None:
    case = the_case()
    with (folder / "histograms.json").open() as file:
        read = {name: hist.Hist(one) for name, one in json.load(file, object_hook=uhi.io.json.object_hook).items()}
    for profile in case.characterise().profiles:
        assert read[f"{profile.name}/data"] == profile.data
        assert read[f"{profile.name}/reference"] == profile.reference
        assert read[f"{profile.name}/learned"] == profile.reweighted
    assert read["null"].sum(flow=True) == len(case.result.null)


def test_processes_have_histograms_of_their_own(tmp_path: Path) -> None:
    case = the_case()
    of = (case.reference["mass"] > 1).astype(np.intp)
    look = lanner.Look({"mass": "$m$ [GeV]"}, ("light", "heavy"), of)
    found = lanner.characterise(case.result, case.reference, case.data, look=look)
    lanner.export(case.result, tmp_path, characterisation=found, only="histograms")
    with (tmp_path / "histograms.json").open() as file:
        read = {name: hist.Hist(one) for name, one in json.load(file, object_hook=uhi.io.json.object_hook).items()}
    parts = [read[f"mass/process/{name}"] for name in look.processes]
    assert sum(part.sum(flow=True) for part in parts) == pytest.approx(400)
    assert parts[0].sum(flow=True) == pytest.approx(400 * np.mean(of == 0))
    columns = next(t for t in tables_of(case.result, found) if "mass" in t.name).columns
    assert (columns[0].name, columns[0].units) == ("$m$", "GeV")
    assert [c.name for c in columns[3:5]] == ["Reference: light", "Reference: heavy"]


def test_tables_have_the_numbers_of_the_result() -> None:
    case = the_case()
    found = case.characterise()
    tables = {table.name: table for table in tables_of(case.result, found)}
    significance = tables["Significance"]
    assert significance.column("p-value").values[0] == case.result.p_value
    low, high = case.result.p_value_interval
    (errors,) = significance.column("p-value").errors
    assert (case.result.p_value - errors.down[0], case.result.p_value + errors.up[0]) == pytest.approx((low, high))
    assert sum(tables["Null distribution"].column("Toys").values) == len(case.result.null)
    profile = found.profiles[0]
    table = tables[f"Distribution 1 {profile.name}"]
    assert table.column("Data").values == tuple(contents(profile.data)[1:-1])
    assert table.column("Reference").errors[0].up == pytest.approx(np.sqrt(profile.reference.variances()))
    assert f"{contents(profile.data)[-1]:g}." in table.description or "above the last" in table.description
    ratio = tables[f"Learned ratio 1 {profile.name}"]
    assert ratio.column("Median of null toys").values == tuple(profile.band[2][1:-1])


def test_a_toy_that_is_no_number_counts_as_extreme_in_the_table() -> None:
    from dataclasses import replace

    result = the_case().result
    t = result.null.statistics.copy()
    t[0] = np.nan
    table = tables_of(replace(result, null=replace(result.null, statistics=t)))[1]
    assert sum(table.column("Toys").values) == len(t) - 1
    assert "1 toy without a finite statistic" in table.description


def test_names_of_tables_fit_hepdata_and_differ() -> None:
    from tests.report.showcase import make_case

    case = make_case(("x" * 80, "X" * 80, "a/b\\c", "<b>", "é"))
    names = [table.name for table in tables_of(case.result, case.characterise())]
    assert len({name.lower() for name in names}) == len(names) == 12
    assert max(map(len, names)) <= 64
    assert not set("".join(names)) & set("/\\<>")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of HEPData's validator
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_submission_is_what_hepdata_validates(tmp_path: Path) -> None:
    pytest.importorskip("hepdata_lib", reason="needs lanner[hepdata]", exc_type=ImportError)
    from hepdata_validator.full_submission_validator import FullSubmissionValidator

    case = the_case()
    found = case.characterise()
    for _ in range(2):  # the second time in the place of the first
        files = lanner.export(case.result, tmp_path, characterisation=found, only=["hepdata"])
    assert [file.name for file in files] == ["submission.yaml", "hepdata.tar.gz"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hepdata", "hepdata.tar.gz"]
    checks = FullSubmissionValidator()
    assert checks.validate(archive=str(files[1])), checks.get_messages()
    head, *entries = yaml.safe_load_all(files[0].read_text())
    assert case.result.verdict() in head["comment"]
    tables = tables_of(case.result, found)
    with tarfile.open(files[1]) as packed:
        assert len(packed.getnames()) == len(tables) + 1
    for table, entry in zip(tables, entries, strict=True):
        assert entry["name"] == table.name
        read = yaml.safe_load((tmp_path / "hepdata" / entry["data_file"]).read_text())
        columns = [*read["independent_variables"], *read["dependent_variables"]]
        for column, back in zip(sorted(table.columns, key=lambda c: not c.independent), columns, strict=True):
            assert back["header"]["name"] == column.name
            values = [v["value"] if "value" in v else (v["low"], v["high"]) for v in back["values"]]
            if column.values and not isinstance(column.values[0], str):
                assert np.array(values, dtype=float) == pytest.approx(np.array(column.values, dtype=float), rel=1e-13)
            for k, errors in enumerate(column.errors):
                for v, down, up in zip(back["values"], errors.down, errors.up, strict=True):
                    if "errors" not in v:  # the library leaves out errors that are all 0
                        assert down == up == 0
                        continue
                    one = v["errors"][k]
                    both = one.get("asymerror", {"minus": -one.get("symerror", 0), "plus": one.get("symerror", 0)})
                    assert (-both["minus"], both["plus"]) == pytest.approx((down, up), rel=1e-12)


def test_without_the_library_tables_are_left_out_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_hepdata, "is_there", lambda: False)
    with pytest.warns(LannerWarning, match="no HEPData tables"):
        files = lanner.export(the_case().result, tmp_path)
    assert [file.name for file in files] == ["histograms.json", "toys.npz", "citation.bib"]
    with pytest.raises(InputError, match=r"pip install 'lanner\[hepdata\]'"):
        lanner.export(the_case().result, tmp_path, only=["hepdata"])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"only": ["toy"]}, "'toy' .*nearest: 'toys'"),
        ({"only": []}, "nothing is no part"),
        ({"only": ["toys"], "suffix": ".xls"}, "no format for .xls"),
        ({"only": ["toys"], "events": {"a": [[1.0]]}}, "has no 'ratios'"),
        ({"only": ["ratios"], "events": {"../a": [[1.0]]}}, "a name that a file can have"),
        ({"only": ["ratios"], "events": {"a": {"mass": [1.0]}}}, "missing: 'eta', 'charge'"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        lanner.export(the_case().result, tmp_path, **how)


def test_features_keep_their_names_where_ours_are_taken(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    reference, data = ({"log_ratio": rng.exponential(size=n)} for n in (4000, 200))
    result = lanner.search(reference, data, expected=200, toys=60, seed=1, width=0.5)
    lanner.export(result, tmp_path, events={"a": data}, only=["ratios"], suffix=".csv")
    assert (tmp_path / "ratio_a.csv").read_text().splitlines()[0] == '"log_ratio","log_ratio_"'
