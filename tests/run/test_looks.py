from pathlib import Path
from typing import Any

import jsonschema
import pytest

import lanner
from lanner.run.search import search
from tests.conftest import exponential
from tests.run.test_result_schema import SCHEMA

R, D = exponential(4000, 100, seed=1)
HOW: dict[str, Any] = {"expected": 100, "width": 0.5, "penalty": 1e-5, "centers": 40}


def looked(folder: Path, toys: int = 20, data: Any = D, **changes: Any) -> tuple[int, ...]:
    return search(R, data, output=folder, toys=toys, **(HOW | changes)).looks


def test_a_result_knows_those_with_fewer_toys_before_it(tmp_path: Path) -> None:
    assert [looked(tmp_path, toys) for toys in (20, 40, 60)] == [(), (20,), (20, 40)]


def test_the_same_result_again_is_no_look(tmp_path: Path) -> None:
    assert [looked(tmp_path, toys) for toys in (40, 40, 20)] == [(), (), ()]


def test_without_a_folder_nothing_is_known() -> None:
    assert search(R, D, toys=20, **HOW).looks == ()


def test_other_data_have_not_been_looked_at(tmp_path: Path) -> None:
    looked(tmp_path)
    assert looked(tmp_path, 40, data=D[:90]) == ()


def test_toys_until_p_is_known_are_no_look(tmp_path: Path) -> None:
    looked(tmp_path, 500, until_z=1)
    assert looked(tmp_path, 600) == ()


def test_toys_until_p_is_known_after_a_look_say_so(tmp_path: Path) -> None:
    looked(tmp_path)
    assert looked(tmp_path, 500, until_z=1) == (20,)


def test_an_interrupted_run_is_no_look(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(*_: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        looked(tmp_path, 20, progress=stop)
    assert looked(tmp_path, 40) == ()


def test_files_of_others_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    looked(tmp_path)
    (look,) = (tmp_path / "looks").iterdir()
    look.with_name(look.name.replace("-20", "-many")).write_text("{}")
    look.write_text("damaged")
    assert looked(tmp_path, 40) == (20,)


def test_looks_are_kept_with_the_result(tmp_path: Path) -> None:
    looked(tmp_path)
    result = search(R, D, output=tmp_path, toys=40, **HOW)
    lanner.save_result(result, tmp_path)
    assert lanner.load_result(tmp_path).looks == (20,)
    jsonschema.Draft202012Validator(SCHEMA).validate(lanner.load_result(tmp_path).to_dict())
    assert "This folder held a result with 20 toys before" in result.summary()
