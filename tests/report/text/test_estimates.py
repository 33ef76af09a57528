from dataclasses import replace

import numpy as np

from lanner.report.text.estimates import Estimate, estimates
from tests.report.showcase import the_case
from tests.report.text.test_verdict import kept


def test_the_result_comes_first_and_the_rest_are_extrapolations() -> None:
    for result in (kept("combined"), kept("single"), the_case().result):
        first, *laws = estimates(result)
        assert first.name == "empirical"
        assert not first.is_extrapolation
        assert laws
        assert all(law.is_extrapolation for law in laws)


def test_a_line_says_what_kind_of_number_it_is() -> None:
    assert Estimate("law", "0.01", "2.33", "fine").line == "p = 0.01, Z = 2.33 (extrapolation; fine)"
    assert Estimate("law", "none", "none", "too few toys", "Make more.").line == "too few toys"
    assert Estimate("law", "none", "none", "too few toys", "Make more.").sentences == "Too few toys. Make more."


def test_a_tail_beyond_its_limit_quotes_a_limit_only() -> None:
    far = estimates(replace(kept("combined"), statistic=40.0))[1]
    assert far.p.startswith("< ")
    assert far.z.startswith("> ")
    assert "so only a limit is quoted" in far.remark


def test_a_tail_is_not_used_where_there_are_many_toys_or_too_few() -> None:
    result = kept("combined")
    assert estimates(replace(result, statistic=0.5))[1].line == "not needed: the data lie where there are many toys"
    none = replace(result, null=replace(result.null, tail=None))
    assert estimates(none)[1].line == "too few toys to fit a tail to"


def test_a_tail_that_the_toys_contradict_is_called_so() -> None:
    result = kept("combined")
    assert result.null.tail is not None
    poor = replace(result, null=replace(result.null, tail=replace(result.null.tail, goodness_of_fit=0.001)))
    assert "do not use it" in estimates(poor)[1].remark


def test_without_a_chi2_it_is_said_what_to_change() -> None:
    result = kept("single")
    toys = np.append(result.null.statistics[:-1], -1.0)
    chi2 = estimates(replace(result, null=replace(result.null, statistics=toys, chi2=None)))[2]
    assert chi2.line == "no χ² fits: 1 toy with t ≤ 0, 0 not finite"
    assert "A penalty above 1 × 10⁻⁵" in chi2.sentences


def test_data_that_agree_better_than_all_toys_have_bounds_that_can_be_read() -> None:
    first = estimates(replace(kept("combined"), statistic=-1e3))[0]
    assert (first.p, first.z[0]) == ("1.0", "≤")
    assert first.details.endswith("and below.")
    assert "∞" not in first.line + first.details
