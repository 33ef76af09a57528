"""What an HDF5 file does not hold itself is refused, and never read as zeros."""

import h5py
import numpy as np
import pytest

from lanner.events.io import columns_of, read_sample
from lanner.events.io.hdf5_storage import Elsewhere, member_of
from tests.events.io.files import refused


@pytest.fixture
def source(tmp_path):
    """Another file, and the one to read, still open, with an ordinary column `b`."""
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.arange(1.0, 5.0)
        other["group/x"] = np.arange(1.0, 5.0)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["b"] = np.ones(4)
        yield file


@pytest.mark.parametrize("missing", [False, True])
def test_a_virtual_dataset_is_refused_whether_its_source_is_there_or_not(source, tmp_path, missing):
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource("lost.h5" if missing else "other.h5", "x", shape=(4,))
    source.create_virtual_dataset("a", layout)
    source.close()
    path = tmp_path / "t.h5"
    refused(path, "column 'a'", str(path), "virtual dataset", "lost.h5" if missing else "other.h5", "zeros")
    refused(f"{path}:a", "t.h5:a is a virtual dataset")
    assert read_sample(path, features="b").sample.names == ("b",)


def test_links_into_other_files_are_refused_by_column_group_and_soft_link(source, tmp_path):
    source["a"] = h5py.ExternalLink("other.h5", "/x")
    source["deep/group"] = h5py.ExternalLink("other.h5", "/group")
    source["soft"] = h5py.SoftLink("/deep/group/x")
    source.close()
    path = tmp_path / "t.h5"
    assert columns_of(path) == ["a", "b", "soft"]
    refused(path, "column 'a'", str(path), "'other.h5'", "'other.h5:x'")
    refused(path, "column 'soft'", "'other.h5:group'", features="soft")
    refused(f"{path}:deep", "column 'group'", "link into another file")
    refused(f"{path}:deep/group", "t.h5:deep/group is a link into another file")
    refused(f"{path}:soft", "t.h5:soft is a link into another file")
    assert len(read_sample(path, features="b").sample) == 4


def test_the_other_file_of_a_link_is_not_opened(source):
    source["a"] = h5py.ExternalLink("/dev/zero", "/x")
    assert member_of(source, "a") == Elsewhere("/dev/zero", "/x")


def test_soft_links_within_the_file_are_followed_and_end(source):
    source["group/c"] = np.ones(4)
    source["soft"] = h5py.SoftLink("/group/c")
    source["group/near"] = h5py.SoftLink("./c")
    source["twice"] = h5py.SoftLink("/soft")
    source["round"] = h5py.SoftLink("/round")
    source["wrong"] = h5py.SoftLink("/b/c")
    for name in ("soft", "twice"):
        assert member_of(source, name) == source["group/c"]
    assert member_of(source["group"], "near") == source["group/c"]
    assert member_of(source, "round") is None
    assert member_of(source, "wrong") is None


def test_values_outside_of_the_file_are_refused(source, tmp_path):
    np.arange(4.0).tofile(tmp_path / "raw.bin")
    source.create_dataset("a", (4,), "f8", external=str(tmp_path / "raw.bin"))
    source.close()
    refused(tmp_path / "t.h5", "column 'a'", "outside of the HDF5 file", "raw.bin")


@pytest.mark.parametrize("chunks", [None, (2,)])
def test_rows_that_were_never_written_are_refused(source, tmp_path, chunks):
    column = source.create_dataset("a", (4,), "f8", chunks=chunks)
    if chunks:
        column[:2] = 1.0
    source.close()
    refused(tmp_path / "t.h5", "column 'a'", "never written")


def test_rows_that_have_a_fill_value_of_somebodys_choice_are_read(source, tmp_path):
    column = source.create_dataset("a", (4,), "f8", chunks=(2,), fillvalue=-999.0)
    column[:2] = 1.0
    source.close()
    assert read_sample(tmp_path / "t.h5", features="a").sample.features.ravel().tolist() == [1, 1, -999, -999]


def test_a_damaged_column_is_not_left_out_without_a_word(source, tmp_path):
    source["a"] = np.arange(4.0)
    at = h5py.h5o.get_info(source["a"].id).addr
    source.close()
    path = tmp_path / "t.h5"
    content = bytearray(path.read_bytes())
    content[at : at + 8] = b"\xff" * 8  # its header
    path.write_bytes(content)
    refused(path, str(path), "cannot be read as HDF5")


def test_groups_that_hold_each_other_end_with_an_error(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["one/two/three"] = file.create_group("x")
        del file["x"]
        file["one/two/three/back"] = file["one/two"]
        file["alone/itself"] = h5py.SoftLink("/alone")
    refused(f"{tmp_path}/t.h5:one", "holds no columns", "link back")
    refused(f"{tmp_path}/t.h5:alone", "holds no columns", "link back")
