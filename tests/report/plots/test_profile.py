from dataclasses import replace

import numpy as np

from lanner.report.characterise import characterise
from lanner.report.plots.profile import figure_of_profile, plot_distributions, plot_ratio
from lanner.report.plots.style import new_axes
from tests.report.showcase import the_case, the_findings
from tests.report.uncertain_showcase import the_uncertain_case


def test_points_off_the_axis_are_pointed_at() -> None:
    profile = the_findings().profile("mass")
    ax = plot_ratio(profile)
    bottom, top = ax.get_ylim()
    ratio = profile.data_ratio[0]
    ratio = ratio[np.isfinite(ratio)]
    marked = sum(np.size(line.get_xdata()) for line in ax.lines if line.get_marker() in ("^", "v"))
    assert marked == np.count_nonzero((ratio > top) | (ratio < bottom))


def test_the_axis_carries_the_name() -> None:
    profile = the_findings().profile("energy")
    assert plot_ratio(replace(profile, name="$m$")).get_xlabel() == r"\$m\$  (not used in the fit)"


def test_both_panels_share_their_axis() -> None:
    upper, lower = figure_of_profile(the_findings().profile("mass")).axes
    assert upper.get_xlim() == lower.get_xlim()
    assert upper.get_xlabel() == ""
    assert lower.get_xlabel() == "mass"


def test_whole_numbers_have_a_tick_each_and_counts_a_legend() -> None:
    ax = plot_distributions(the_findings().profile("charge"), new_axes())
    assert all(float(x).is_integer() for x in ax.get_xticks())
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["reference", "reference × learned ratio", "data"]


def test_numbers_of_runs_and_events_get_a_few_ticks(rng: np.random.Generator) -> None:
    case = the_case()
    extra = [{"event": rng.integers(1, 10**9, n).astype(float)} for n in (8000, 425)]
    found = characterise(case.result, case.reference, case.data, extra_reference=extra[0], extra_data=extra[1])
    ticks = plot_ratio(found.profile("event")).get_xticks()
    assert 2 <= len(ticks) <= 12
    assert all(float(tick).is_integer() for tick in ticks)


def test_the_axis_says_how_many_events_lack_the_variable() -> None:
    profile = replace(the_findings().profile("energy"), without=(3, 4))
    assert plot_ratio(profile).get_xlabel() == "energy  (not used in the fit, without 7 events that lack it)"


def test_the_error_from_uncertainties_is_a_band_around_the_reference_and_named() -> None:
    profile = the_uncertain_case().characterise().profile("mass")
    error = profile.ratio_uncertainty
    assert error is not None
    assert 0.0 < np.nanmin(error) < np.nanmax(error) < 1.0
    ax = plot_ratio(profile)
    legend = ax.get_legend()
    assert legend is not None
    assert "uncertainties, ±1σ" in [text.get_text() for text in legend.get_texts()]
    band = next(patch for patch in ax.patches if patch.get_label() == "uncertainties, ±1σ")
    values, _, baseline = band.get_data()  # type: ignore[attr-defined]
    shown = error[1:] if len(values) < len(error) else error  # no event lies below the first bin
    np.testing.assert_allclose(values, 1 + shown, rtol=1e-12)
    np.testing.assert_allclose(baseline, 1 - shown, rtol=1e-12)
    names = plot_distributions(profile).get_legend()
    assert names is not None
    assert names.get_texts()[0].get_text() == "reference, uncertainties as fitted"
    assert the_findings().profile("mass").ratio_uncertainty is None
    assert "reference_uncertainty" in profile.to_dict()
