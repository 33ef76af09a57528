# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Systematic uncertainties
#
# The momentum scale of the data is 9 % above that of the reference, and the reference is known to 5 %. Is that a discovery?

# %%
import numpy as np

import lanner

rng = np.random.default_rng(5)
reference = rng.exponential(30.0, (60_000, 1))
data = 1.09 * rng.exponential(30.0, (rng.poisson(1500), 1))

# %% [markdown]
# Where nobody tells the search of the uncertainty, the scale looks like a departure:

# %%
told_nothing = lanner.search(reference, data, expected=1500, toys=900, seed=1, progress=False)
print(told_nothing.verdict())

# %% [markdown]
# Two more samples say what the reference would be with a scale 5 % higher or lower. log r(x; nu) is learned from them, nu is fitted to the data and to every toy, and the p-value is about what is left.

# %%
result = lanner.search(
    reference,
    data,
    expected=1500,
    toys=900,
    seed=1,
    uncertainties=[
        lanner.Normalisation("luminosity", 0.02),
        lanner.Shifted("momentum scale", up=1.05 * reference, down=reference / 1.05),
    ],
    progress=False,
)
print(result.verdict())
for nuisance in result.nuisances:
    print(f"{nuisance.name:15} {nuisance.value:+.2f} +- {nuisance.error:.2f}")

# %% [markdown]
# The nuisance parameter takes up the shift: it is pulled towards the 1.8 uncertainties that were put in, less what the auxiliary measurement holds back. Pulls and constraints as they are drawn in the report:

# %%
from lanner.report.plots.uncertainties import plot_pulls

plot_pulls(result.nuisances);
