"""What is said of systematic uncertainties."""

from dataclasses import replace

import numpy as np

from lanner.inference.significance import EmpiricalP
from lanner.report.text.uncertainties import closing, cost, fitted, looks_like, rows, table, which
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult
from lanner.run.systematics import Systematics, WithoutUncertainties
from lanner.run.uncertain import Nuisance
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.pulls import FeaturePulls
from tests.report.text.test_verdict import kept


def closure(name: str, direction: str, p: float, resolution: float = 0.1) -> Closure:
    bins = FeaturePulls("x", np.array([1.0]), np.array([0.5, -0.2]), np.array([0.1, -0.1]))
    return Closure(name, direction, p, 0.005, 0.3, 0.2, resolution, (bins,))


def with_nuisances(*nuisances: Nuisance, **systematics: object) -> SearchResult:
    return replace(kept("combined"), nuisances=nuisances, systematics=Systematics(**systematics))  # type: ignore[arg-type]


JES = Nuisance("jes", 0.634, 0.4, "samples", 0.82, 0.61)
LUMI = Nuisance("lumi", -1.25, 0.9, "normalisation", -0.2, 0.9)


def test_it_is_said_which_are_in_and_that_there_are_none() -> None:
    assert which(kept("combined")).startswith("No systematic uncertainties were given: the reference is taken as exact")
    assert which(with_nuisances(JES)).endswith("takes 1 systematic uncertainty of the reference into account: jes.")
    assert "2 systematic uncertainties of the reference into account: jes, lumi." in which(with_nuisances(JES, LUMI))
    many = which(with_nuisances(*(replace(JES, name=f"n{k}") for k in range(25))))
    assert "25 systematic uncertainties" in many
    assert many.endswith("n6, n7 and 17 more.")


def test_of_many_the_largest_pulls_are_told() -> None:
    assert fitted(with_nuisances(JES, LUMI)).startswith("jes +0.63 ± 0.40, lumi -1.25 ± 0.90 (in units of each")
    many = fitted(with_nuisances(*(Nuisance(f"n{k}", 0.1 * k, 1.0) for k in range(25))))
    assert many.startswith("n24 +2.40 ± 1.00, n23")
    assert "and 17 others of smaller pull" in many


def test_the_cost_is_z_with_and_without() -> None:
    law = Extrapolation(1e-6, 4.75, 0.3)
    without = WithoutUncertainties(40.0, EmpiricalP(0, 1000), "tail fitted to the toys", law)
    result = with_nuisances(JES, without=without)
    assert cost(result) == (
        "Z = 1.86 with them; Z ≥ 3.09 (extrapolates to 4.8 ± 0.3) without, where none of 1000 toys is as extreme"
    )
    plain = replace(without, empirical=EmpiricalP(9, 999), law=None, extrapolation=None)
    assert "; Z = 2.33 without, where 9 of 999 toys are" in str(cost(with_nuisances(JES, without=plain)))
    assert cost(with_nuisances(JES)) is None
    assert "cost of these" in result.summary()


def test_the_nuisance_that_the_departure_looks_like_is_named() -> None:
    assert looks_like(with_nuisances(JES, LUMI)) == "jes at 0.82; 95 % of null toys stay below 0.61"
    usual = replace(JES, resemblance_of_toys=0.9)
    assert looks_like(with_nuisances(usual)) == "jes at 0.82; 95 % of null toys stay below 0.90, so that means little"
    assert str(looks_like(with_nuisances(LUMI))).startswith("none of the uncertainties (most lumi at −0.20")
    assert looks_like(with_nuisances(Nuisance("old", 0.1, 1.0))) is None
    assert looks_like(kept("combined")) is None


def test_variations_that_do_not_close_are_named() -> None:
    good = (closure("jes", "up", 0.4), closure("jes", "down", 0.9))
    assert closing(with_nuisances(JES, closures=good)) == "all 2 learned variations close"
    bad = (*good, closure("pdf", "up", 1e-5), closure("isr", "up", 0.5, resolution=2.0))
    assert closing(with_nuisances(JES, closures=bad)) == (
        "3 of 4 learned variations close, not pdf up (p = 1 × 10⁻⁵); too few events to tell of isr up"
    )
    assert closing(with_nuisances(JES)) is None


def test_the_table_has_a_clear_sign_where_a_variation_fails() -> None:
    closures = (closure("jes", "up", 1e-5), closure("jes", "down", 0.4, resolution=2.0), closure("pdf", "up", 0.3))
    found = table(with_nuisances(JES, LUMI, replace(JES, name="pdf", value=0.1), closures=closures))
    assert [row["nuisance"] for row in found] == ["lumi", "jes", "pdf"]  # the largest pull first
    lumi, jes, pdf = found
    assert (lumi["given as"], lumi["ν̂"], lumi["error"]) == ("normalisation", "−1.25", "0.90")
    assert lumi["closure p up"] == "exact"
    assert jes["closure p up"] == "✗ fails: 1 × 10⁻⁵"
    assert jes["closure p down"] == "too few events: 0.40"
    assert (pdf["closure p up"], pdf["closure p down"]) == ("0.30", "mirrored")
    assert jes["resemblance"] == "0.82 (toys: 0.61)"


def test_a_result_without_uncertainties_has_no_further_lines() -> None:
    assert rows(kept("combined")) == []
