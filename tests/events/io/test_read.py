"""What `read_sample` does alike for every format: the same bits, the same choices, and what it tells."""

import numpy as np
import pandas as pd
import pytest

from lanner.errors import ColumnWarning, InputError
from lanner.events.io import columns_of, read_sample
from lanner.events.io.write import write_columns
from tests.events.io.files import NAMES, bits, formats, refusal, restored, write_csv, write_tree, written


@formats
def test_every_format_gives_back_the_same_bits(name, tmp_path):
    columns = bits()
    events = read_sample(written(tmp_path, name, columns), weight="w")
    wanted = [(new, columns[old]) for new, old in zip(restored(name), NAMES, strict=True) if old != "w"]
    wanted.sort(key=lambda pair: events.sample.names.index(pair[0]))
    assert events.sample.features.tobytes() == np.stack([column for _, column in wanted], axis=1).tobytes()
    assert events.sample.weights.tobytes() == columns["w"].tobytes()
    assert events.dropped == 0
    assert events.extra == {}


@formats
def test_every_format_selects_orders_and_derives(name, tmp_path):
    columns = {"a": np.arange(600.0), "b": np.arange(600)[::-1].copy(), "c": np.arange(600) % 3 == 0}
    source = written(tmp_path, name, columns)
    events = read_sample(
        source, features=["b", "a"], where="c and a > 100", extra=["c", "s=sqrt(a)", "`<i>`=-b"], memory="100 kB"
    )
    rows = columns["c"] & (columns["a"] > 100)
    np.testing.assert_array_equal(events.sample.features, np.stack([columns["b"], columns["a"]], axis=1)[rows])
    assert events.sample.names == ("b", "a")
    assert list(events.extra) == ["c", "s", "<i>"]
    assert (events.extra["c"] == 1).all()
    np.testing.assert_array_equal(events.extra["s"], np.sqrt(columns["a"][rows]))
    np.testing.assert_array_equal(events.extra["<i>"], -columns["b"][rows])
    refusal(events.description, source, f"{rows.sum()} of 600 events", "where c and a > 100")


@formats
def test_every_format_names_its_columns(name, tmp_path):
    source = written(tmp_path, name, bits())
    assert sorted(set(columns_of(source)) - {""}) == sorted(restored(name))


@formats
def test_every_format_refuses_infinity_by_name(name, tmp_path):
    source = written(tmp_path, name, {"a": np.array([1.0, np.inf]), "b": np.ones(2)})
    with pytest.raises(InputError, match=r"column 'a' \(1 of 2 rows\)"):
        read_sample(source, drop_nan=True)
    assert len(read_sample(source, where="isfinite(a)").sample) == 1


def test_formats_can_be_mixed(tmp_path):
    write_tree(tmp_path / "a.root", {"a": np.ones(2), "b": np.ones(2)})
    np.savez(tmp_path / "b.npz", b=np.zeros(2), a=np.zeros(2, dtype=np.float32))
    events = read_sample([f"{tmp_path}/a.root", f"{tmp_path}/b.npz"])
    assert events.sample.features.tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]


def test_an_empty_file_among_others_is_no_error(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2)})
    write_csv(tmp_path / "b.csv", {"a": np.empty(0)})
    assert len(read_sample(f"{tmp_path}/*.csv").sample) == 2


def test_all_numbers_but_the_weight_are_features_and_the_rest_is_told(tmp_path):
    frame = pd.DataFrame({"pt": [1.0, 2.0], "n": [1, 2], "ok": [True, False], "name": ["a", "b"], "w": [1.0, 2.0]})
    for name in ("t.parquet", "t.csv"):
        source = str(tmp_path / name)
        frame.to_parquet(source) if name == "t.parquet" else frame.to_csv(source, index=False)
        with pytest.warns(ColumnWarning, match=r"'name' holds text, such as 'a'\. Name the columns .*features="):
            events = read_sample(source, weight="w")
        assert events.sample.names == ("pt", "n", "ok")
        refusal(events.description, "left out of the features: 'name' holds text")


def test_an_array_in_memory_is_not_copied():
    table = np.ones((5, 2))
    assert np.shares_memory(read_sample(table).sample.features, table)


def test_a_selection_in_the_signs_of_root_is_the_one_in_words(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.arange(5.0), "b": np.arange(5.0)[::-1]})
    words = read_sample(tmp_path / "a.csv", where="a > 0 and not b == 1 or b > 3")
    signs = read_sample(tmp_path / "a.csv", where="a > 0 && !(b == 1) || b > 3")
    assert words.rows.tolist() == signs.rows.tolist() == [0, 1, 2, 4]


def test_an_array_in_memory_is_described():
    assert read_sample(np.ones((2, 1))).description == "ndarray in memory: 2 events"
    assert read_sample({"a": [1.0]}).description == "dict in memory: 1 event"


def test_rows_are_counted_through_all_files(tmp_path):
    for name in ("a", "b"):
        write_csv(tmp_path / f"{name}.csv", {"x": np.array([1.0, 2.0, 3.0])})
    assert read_sample(f"{tmp_path}/*.csv", where="x > 2").rows.tolist() == [2, 5]


def test_the_columns_of_several_files_are_those_of_the_first(tmp_path):
    write_csv(tmp_path / "a.csv", {"x": np.ones(1), "y": np.ones(1)})
    write_csv(tmp_path / "b.csv", {"z": np.ones(1)})
    assert columns_of(f"{tmp_path}/*.csv") == ["x", "y"]


@formats
def test_varied_columns_go_with_the_events_and_are_no_features(name, tmp_path):
    rng = np.random.default_rng(1)
    columns = {"a": rng.normal(size=600), "w": rng.random(600), "up": rng.random(600), "down": rng.random(600)}
    columns["down"][::50] = np.nan
    source = written(tmp_path, name, columns)
    events = read_sample(
        source, features="a", weight="w", varied=["up", "`down of x`=down"], where="a > 0", drop_nan=True
    )
    rows = (columns["a"] > 0) & ~np.isnan(columns["down"])
    assert list(events.varied) == ["up", "down of x"]
    np.testing.assert_array_equal(events.sample.features[:, 0], columns["a"][rows])
    np.testing.assert_array_equal(events.sample.weights, columns["w"][rows])
    np.testing.assert_array_equal(events.varied["up"], columns["up"][rows])
    np.testing.assert_array_equal(events.varied["down of x"], columns["down"][rows])
    assert events.dropped == np.count_nonzero(columns["a"][::50] > 0)
    with pytest.raises(InputError, match="has NaN or missing values in 12 rows of 600: column 'down'"):
        read_sample(source, features="a", varied="down")


def test_all_columns_but_the_varied_ones_are_features():
    columns = {"a": [1.0, 2.0], "b": [3.0, 4.0], "w": [1.0, 1.0], "up": [1.1, 0.9]}
    assert read_sample(columns, weight="w", varied="up").sample.names == ("a", "b")
    assert read_sample(columns, weight="w", varied="up", features=["a", "up"]).sample.names == ("a", "up")
    with pytest.warns(ColumnWarning, match="because formulas of uncertainties need them: 'up', 'b'"):
        events = read_sample(columns, weight="w", varied="v=w * up * b")
    assert events.sample.names == ("a",)
    np.testing.assert_allclose(events.varied["v"], [3.3, 3.6])


def test_further_files_may_have_the_varied_columns(tmp_path):
    columns = {"a": np.arange(5.0), "up": np.arange(5.0)}
    files = [tmp_path / f"{i}.csv" for i in range(2)]
    for file in files:
        write_csv(file, columns)
    events = read_sample(files, varied="up")
    assert events.sample.names == ("a",)
    assert events.varied["up"].tolist() == [*range(5), *range(5)]


@pytest.mark.parametrize("memory", [None, "8 MB"])
def test_a_total_is_of_all_rows_whatever_is_selected(tmp_path, memory):
    rng = np.random.default_rng(1)
    columns = {"x": rng.normal(size=200_000), "w": rng.normal(1, 1, 200_000)}
    write_columns(tmp_path / "a.parquet", columns)
    events = read_sample(tmp_path / "a.parquet", features=["x"], where="x > 1", total="w", memory=memory)
    assert events.total == pytest.approx(columns["w"].sum(), rel=1e-12)
    twice = read_sample(columns, features=["x"], total="t=2 * w", memory=memory)
    assert twice.total == pytest.approx(2 * columns["w"].sum(), rel=1e-12)
    assert read_sample(columns, features=["x"]).total is None
    with pytest.raises(InputError, match="nearest: 'w'"):
        read_sample(columns, features=["x"], total="ww")
