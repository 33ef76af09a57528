"""Systematic uncertainties: what of the reference is known to a few per cent only, and how that changes its density.

A nuisance parameter nu_k is 0 at the central value and 1 at an uncertainty above it; r(x; nu) = n(x | nu) / n(x | 0) is
the ratio of the reference's densities, yields included. `effects` has log r of events as a function of nu;
`declared` has the forms in which people know uncertainties, and `learn` makes nuisance parameters of them.
"""
