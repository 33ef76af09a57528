# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Two simulators
#
# Do two programs make the same events? Neither is the reference, both samples are of the same size, and only shapes are compared: `expected=None`.
# Toys are then made by relabelling the events of both, and the p-value is exact whatever the sizes.

# %%
import numpy as np

import lanner

rng = np.random.default_rng(7)


def simulated(n, smearing):
    """Energies in two detector layers: the share of the first is smeared."""
    energy = rng.gamma(4.0, 10.0, n)
    share = np.clip(rng.normal(0.6, 0.1, n) + smearing * rng.standard_normal(n), 0, 1)
    return {"layer 1": energy * share, "layer 2": energy * (1 - share)}


full, fast = simulated(4000, 0.0), simulated(4000, 0.03)

# %%
result = lanner.search(full, fast, expected=None, toys=2000, seed=1, progress=False)
print(result.verdict())

# %% [markdown]
# The same program twice, with other random numbers:

# %%
print(lanner.search(full, simulated(4000, 0.0), expected=None, toys=2000, seed=1, progress=False).verdict())

# %% [markdown]
# Where is the difference? In the plane of the two layers: the learned ratio of fast to full.

# %%
found = lanner.characterise(result, full, fast)
found.map_2d("layer 1", "layer 2").plot();
