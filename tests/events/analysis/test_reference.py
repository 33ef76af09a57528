"""The reference that an analysis file stands for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file, read_simulated
from lanner.events.analysis.reference import read_data
from lanner.events.io import read_sample
from lanner.events.missing import ABSENT
from tests.events.analysis.conftest import columns


def test_weights_add_up_to_the_events_expected(folder: Path) -> None:
    reference = read_simulated(read_analysis_file(folder / "analysis.yaml"))
    first, second, high, top = (columns(1000 + 100 * k, k) for k in range(4))
    dy = {name: np.concatenate([first[name], second[name]]) for name in first}
    by_hand = [
        2.0 * 0.5 * 1000 / dy["gen"].sum() * (dy["gen"] * dy["pileup"])[dy["pt"] > 20],
        2.0 * 0.1 * 1000 / 4000 * high["gen"][high["pt"] > 20],
        2.0 * 0.3 * 1000 / 1300 * np.ones(int((top["pt"] > 20).sum())),
    ]
    assert reference.sample.weights is not None
    np.testing.assert_allclose(reference.sample.weights, np.concatenate(by_hand), rtol=1e-12)
    np.testing.assert_array_equal(reference.sample.features[:, 1], 2 * reference.sample.features[:, 0])
    drell_yan, tops = reference.yields()
    assert drell_yan.expected == pytest.approx(sum(w.sum() for w in by_hand[:2]))
    assert tops.expected == pytest.approx(by_hand[2].sum())
    assert drell_yan.error == pytest.approx(np.sqrt(sum((w**2).sum() for w in by_hand[:2])))
    assert drell_yan.negative == pytest.approx(0.2, abs=0.03)
    assert tops.worth == pytest.approx(tops.events)
    assert reference.of_process("top").sum() == tops.events


def test_data_have_the_same_selection_and_no_weights(folder: Path) -> None:
    data = read_data(read_analysis_file(folder / "analysis.yaml"))
    assert data.sample.weights is None
    assert data.sample.names == ("pt", "twice", "phi")
    assert data.sample.features[:, 0].min() > 20


def test_without_luminosity_weights_are_the_events_expected(folder: Path) -> None:
    text = "samples:\n  a: {files: top.parquet, weights: pileup}\nfeatures: [pt]\n"
    (folder / "plain.yaml").write_text(text)
    reference = read_simulated(read_analysis_file(folder / "plain.yaml"))
    assert reference.sample.total_weight == pytest.approx(columns(1300, 3)["pileup"].sum())


def test_a_negative_total_is_refused(folder: Path) -> None:
    text = "samples:\n  a: {files: top.parquet, weights: '-pileup'}\nfeatures: [pt]\n"
    (folder / "plain.yaml").write_text(text)
    said = r"plain.yaml:2: samples.a: .*top.parquet cannot be used: the total weight is -1300[.]42, but must be"
    with pytest.raises(InputError, match=said) as caught:
        read_simulated(read_analysis_file(folder / "plain.yaml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("twice: 2 * pt", "twice: 2 * pz", r":20: features.twice: data .*data.parquet, .*has no column 'pz'"),
        ("selection: pt > 20", "selection: pt > 1e9", r":17: data: .*selects none of the 1400 rows"),
        ("data: data.parquet", "data: date.parquet", r":17: data: .*no file 'date.parquet' \(nearest: 'data.parquet'"),
    ],
)
def test_what_the_data_lack_is_named_by_the_entry_that_asks_for_it(folder: Path, old: str, new: str, said: str) -> None:
    path = folder / "analysis.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        read_data(read_analysis_file(path))
    assert "\n" not in str(caught.value)


def test_a_process_that_is_none_is_refused(folder: Path) -> None:
    reference = read_simulated(read_analysis_file(folder / "analysis.yaml"))
    with pytest.raises(InputError, match="'ttbar' is none of the processes 'Drell-Yan', 'top'"):
        reference.of_process("ttbar")


def test_data_of_which_no_event_has_an_object_are_read(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, lists in (("two", [[30.0, 20.0], [25.0]] * 50), ("one", [[30.0], [25.0]])):
        pq.write_table(pa.table({"mu": lists}), folder / f"{name}.parquet")
    text = "samples:\n  a: {files: two.parquet}\ndata: one.parquet\nfeatures:\n  mu1: mu[0]\n  mu2: mu[1]\n"
    (folder / "lists.yaml").write_text(text)
    file = read_analysis_file(folder / "lists.yaml")
    assert np.isfinite(read_simulated(file).sample.features).all()
    assert (read_data(file).sample.features[:, 1] == ABSENT).all()
    (folder / "lists.yaml").write_text(text.replace("two", "one"))
    with pytest.raises(InputError, match=r"lists.yaml:6: features.mu2: mu\[1\]: no event of .* \(at most 1\)"):
        read_simulated(read_analysis_file(folder / "lists.yaml"))


def test_each_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(files: list[str], **how: Any) -> Any:
        read.extend(files)
        return read_sample(files, **how)

    monkeypatch.setattr("lanner.events.analysis.reference.read_sample", counted)
    read_simulated(read_analysis_file(folder / "analysis.yaml"))
    assert [Path(name).name for name in read] == ["dy_*.parquet", "high.parquet", "top.parquet"]
