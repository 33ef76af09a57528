"""Good runs in the form of CMS."""

from types import SimpleNamespace

from lanner.monitor.good_runs import good_runs


def entry(name: str, good: bool | None, *key: float) -> SimpleNamespace:
    return SimpleNamespace(record=SimpleNamespace(name=name, key=key), is_good=good)


def listed(*entries: SimpleNamespace, untested: bool = False) -> dict[str, list[list[int]]]:
    return good_runs(entries, untested=untested)  # type: ignore[arg-type]


def test_sections_that_are_neighbours_are_joined() -> None:
    sections = [entry("", k != 4, 163286.0, float(k)) for k in (3, 1, 2, 4, 5, 9)]
    assert listed(*sections, entry("", False, 7.0, 1.0)) == {"163286": [[1, 3], [5, 5], [9, 9]]}


def test_a_run_stands_for_all_of_its_sections_and_runs_are_in_order() -> None:
    found = listed(entry("x", True, 1000.0), entry("y", True, 99.0), entry("run7", True), entry("z", False, 5.0))
    assert list(found.items()) == [("99", [[1, 9999]]), ("1000", [[1, 9999]]), ("run7", [[1, 9999]])]


def test_what_was_not_tested_is_good_only_if_one_says_so() -> None:
    few = entry("few", None, 3.0)
    assert listed(few) == {}
    assert listed(few, untested=True) == {"3": [[1, 9999]]}


def test_a_run_in_several_files_is_good_if_no_part_is_bad_and_one_was_tested() -> None:
    assert listed(entry("a", True, 1.0), entry("b", None, 1.0)) == {"1": [[1, 9999]]}
    assert listed(entry("a", True, 1.0), entry("b", False, 1.0)) == {}
    assert listed(entry("a", None, 1.0), entry("b", None, 1.0)) == {}
