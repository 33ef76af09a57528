"""The sentences for a few outcomes are kept as text files beside this one, so that a change of words is seen."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lanner import SearchResult
from lanner.inference.significance import z_of_log_p
from lanner.inference.terms import OutOfReach
from lanner.report.text.verdict import earlier_looks, law_z, meaning, verdict
from lanner.run.parts import Extrapolation, Spread, TermResult
from lanner.run.uncertain import Nuisance
from tests.conftest import kept_result
from tests.report.showcase import the_case

TEXTS = Path(__file__).with_name("data")


@cache
def kept(kind: str) -> SearchResult:
    return kept_result(kind)


@cache
def with_terms() -> SearchResult:
    """Several scales as this version combines them: beside terms, with a spread, and with events out of reach."""
    result = kept("combined")
    assert result.combined is not None
    terms = (
        TermResult("number of events", None, 1.204, 63, 220, 0.3, z_of_log_p(math.log(0.3))),
        TermResult("out of reach, width 0.23", 0.23, 9.210, 0, 220, 1e-4, z_of_log_p(math.log(1e-4))),
        TermResult("out of reach, width 1.52", 1.52, 0.105, 150, 220, 0.9, 0.0),
    )
    return replace(
        result,
        combined=replace(result.combined, terms=terms),
        spread=Spread(subsamples=0.03, splits=0.04, maps=0.12),
        out_of_reach=OutOfReach(0.23, 0.052, 4, (104, 7, 31, 2)),
    )


def many_toys() -> SearchResult:
    """A single scale with toys that the analytic null describes."""
    result = kept("single")
    law = result.null.analytic
    assert law is not None
    toys = law.rvs(400, np.random.default_rng(1))
    return replace(result, null=replace(result.null, statistics=toys, converged=np.ones(400, dtype=bool)))


OUTCOMES = {
    "compatible": lambda: kept("combined"),
    "beyond_the_toys": lambda: replace(kept("combined"), statistic=10.0),
    "beyond_the_tail": lambda: replace(kept("combined"), statistic=40.0),
    "too_few_toys": lambda: kept("single"),
    "far_beyond_few_toys": lambda: replace(kept("single"), statistic=90.0),
    "analytic_null": lambda: replace(many_toys(), statistic=50.0),
    "hint": lambda: replace(many_toys(), statistic=19.0),
    "contradicted_law": lambda: replace(
        many_toys(), statistic=200.0, null=replace(many_toys().null, statistics=3 * many_toys().null.statistics)
    ),
    "shape_only": lambda: replace(many_toys(), statistic=5.0, plan=replace(kept("single").plan, fixed=105)),
}


def test_the_sentences_are_those_kept() -> None:
    found = "".join(f"{name}: {verdict(make())}\n" for name, make in OUTCOMES.items())
    assert found == (TEXTS / "verdicts.txt").read_text(encoding="utf-8")


def test_a_law_with_an_error_shows_it_and_a_limit_is_marked() -> None:
    assert law_z(Extrapolation(0.1, 1.284)) == "1.28"
    assert law_z(Extrapolation(1e-5, 4.123, 0.62, is_bound=True)) == "> 4.1 ± 0.6"


@pytest.mark.parametrize("kind", ["reference", "permutation", "generator"])
def test_the_meaning_has_five_sentences_that_fit_the_null(kind: str) -> None:
    result = the_case().result
    sentences = meaning(replace(result, null=replace(result.null, kind=kind)))
    assert len(sentences) == 5
    assert len({meaning(replace(result, null=replace(result.null, kind=k)))[3] for k in ("reference", kind)}) == (
        1 if kind == "reference" else 2
    )
    assert any("not the chance that the reference model is true" in s for s in sentences)


def test_earlier_looks_are_named_in_the_meaning_and_the_summary() -> None:
    result = replace(kept("single"), looks=(1000, 2000))
    assert earlier_looks(result).startswith("This folder held results with 1000 and 2000 toys before: if toys were")
    assert meaning(result)[-1] == earlier_looks(result)
    assert earlier_looks(result) in result.summary()


def test_a_significance_beyond_what_the_reference_supports_says_so() -> None:
    result = kept("combined")
    far = replace(result, statistic=1e9, null=replace(result.null, statistics=np.zeros(100_000)))
    assert far.plan.null == "reference"
    assert "beyond 4 sigma it is limited by the size of the reference" in verdict(
        replace(far, reference_total=int(30 * far.plan.expected))
    )
    nearer = replace(far, null=replace(far.null, statistics=np.zeros(1000)))
    assert "limited" not in verdict(replace(nearer, reference_total=int(30 * far.plan.expected)))
    relabelled = replace(far, plan=replace(far.plan, null="permutation"))
    assert "limited" not in verdict(relabelled)


def test_the_meaning_names_the_uncertainties_that_are_in_it() -> None:
    result = replace(kept("combined"), nuisances=(Nuisance("jes", 0.5, 0.4), Nuisance("lumi", -0.1, 0.9)))
    sentence = meaning(result)[3]
    assert "into account (jes, lumi)" in sentence
    assert sentence != meaning(kept("combined"))[3]
