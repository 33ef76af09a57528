# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A first search
#
# A reference of 100 000 events, and data: 1000 events are expected, and somewhere among them fourteen are hidden that do not belong there.

# %%
import numpy as np

import lanner

rng = np.random.default_rng(1)


def background(n):
    """A momentum that falls, and an angle that is even."""
    return {"pt": rng.exponential(30.0, n), "cos_theta": rng.uniform(-1, 1, n)}


reference = background(100_000)
data = background(rng.poisson(1000))
hidden = {"pt": rng.normal(110.0, 4.0, 14), "cos_theta": rng.uniform(0.2, 0.6, 14)}
data = {name: np.concatenate([data[name], hidden[name]]) for name in data}

# %% [markdown]
# The search is told how many events the reference predicts, and nothing of where to look.

# %%
result = lanner.search(reference, data, expected=1000, seed=1, progress=False)
print(result.verdict())

# %% [markdown]
# The null distribution, made of toys that follow the reference, and the data in it:

# %%
result.plot();

# %% [markdown]
# Where do the data depart? `characterise` describes the learned ratio of data to reference: which variables show it, in which region, and at which events.

# %%
found = lanner.characterise(result, reference, data)
region = found.region
print(f"{region.selection}: {region.data} events where {region.expected:.1f} are expected")
found.profile("pt").plot();

# %% [markdown]
# The learned log-ratio is a function of any events. It is smooth, so it is less than the ratio in the very place where the hidden events are, but it is largest there:

# %%
columns = np.column_stack([hidden["pt"], hidden["cos_theta"]])
print(f"hidden events: {result.ratio.log_ratio(columns).mean():+.2f}")
columns = np.column_stack([reference["pt"], reference["cos_theta"]])
print(f"the reference: {result.ratio.log_ratio(columns[:5000]).mean():+.2f}")

# %% [markdown]
# `lanner.write_report(result, "report.html", characterisation=found)` writes all of it to one page.
