# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Reading the report
#
# One result, number by number. The data have a broad soft excess of an eighth.

# %%
import numpy as np

import lanner

rng = np.random.default_rng(2)
reference = {"energy": rng.exponential(1.0, 60_000)}
data = {"energy": np.concatenate([rng.exponential(1.0, rng.poisson(600)), rng.exponential(0.3, 75)])}
result = lanner.search(reference, data, expected=600, seed=1, progress=False)

# %% [markdown]
# **The verdict** has one number that counts: the empirical p-value, from counting toys.

# %%
print(result.verdict())
p = result.empirical
print(f"{p.exceedances} of {p.toys} toys are as extreme: p = {result.p_value:.3g}, Z = {result.z_score:.2f}")
print("what so many toys can know of p (95 %):", [float(f"{x:.2g}") for x in result.p_value_interval])

# %% [markdown]
# **Scales.** The same data were looked at through windows of several widths; each found something of its own. Their p-values are combined, and the combination is calibrated by toys, so the trials are paid for. A local Z is not.

# %%
print(result.summary())

# %% [markdown]
# **What depends on the seed** is small beside the significance itself:

# %%
print(result.spread)

# %% [markdown]
# **Where.** Everything from here on describes one learned ratio on the same data. It is no test.

# %%
found = lanner.characterise(result, reference, data)
found.profile("energy").plot()
region = found.region
print(f"{region.selection}: {region.data} events where {region.expected:.1f} are expected")
