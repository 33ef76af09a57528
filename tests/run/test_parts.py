"""Parts of a result that decide something."""

from dataclasses import replace

from tests.report.text.test_verdict import with_terms


def test_a_term_leads_where_it_is_more_significant_than_every_scale() -> None:
    combined = with_terms().combined
    assert combined is not None
    assert combined.leading_term is not None
    assert combined.leading_term.label == "out of reach, width 0.23"
    quiet = replace(combined, terms=tuple(replace(term, local_p=0.9) for term in combined.terms))
    assert quiet.leading_term is None
    assert replace(combined, terms=()).leading_term is None


def test_the_p_value_of_a_scale_counts_its_toys() -> None:
    combined = with_terms().combined
    assert combined is not None
    scale = replace(combined.scales[0], exceedances=4, toys=99)
    assert scale.empirical.p_value == 0.05
