from dataclasses import replace

import pytest

from lanner.report.text.words import meaning, number, p_value, z_score
from tests.report.showcase import the_case


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"),
        (2000.0, "2000"),
        (-0.5, "−0.5"),
        (1e-300, "1 × 10⁻³⁰⁰"),
        (float("inf"), "∞"),
        (1234567.0, "1230000"),
    ],
)
def test_numbers_read_well(x: float, text: str) -> None:
    assert number(x) == text


def test_a_p_value_is_never_nothing() -> None:
    assert p_value(0.0) == "< 10⁻³⁰⁰"
    assert z_score(float("-inf")) == "−∞"


@pytest.mark.parametrize("kind", ["reference", "permutation", "generator"])
def test_the_meaning_has_five_sentences_that_fit_the_null(kind: str) -> None:
    result = the_case().result
    sentences = meaning(replace(result, null=replace(result.null, kind=kind)))
    assert len(sentences) == 5
    assert len({meaning(replace(result, null=replace(result.null, kind=k)))[3] for k in ("reference", kind)}) == (
        1 if kind == "reference" else 2
    )
    assert any("not the chance that the reference model is true" in s for s in sentences)
