# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Weights and several samples
#
# Two simulated processes, one of them with generator weights of either sign, make the reference; an analysis file says what belongs to what.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import lanner

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(4)


def drell_yan(n):
    """At next-to-leading order a tenth of the events has a negative weight."""
    sign = np.where(rng.random(n) < 0.1, -1.0, 1.0)
    return pd.DataFrame({"pt": rng.exponential(30.0, n), "ht": rng.exponential(60.0, n), "generator": 2.5 * sign})


def top(n):
    """Harder, and all weights are one."""
    return pd.DataFrame({"pt": 20 + rng.exponential(50.0, n), "ht": 80 + rng.exponential(90.0, n), "generator": 1.0})


drell_yan(60_000).to_parquet(folder / "drell_yan.parquet")
top(20_000).to_parquet(folder / "top.parquet")
# What an experiment might have recorded: the same two, without weights.
recorded = [drell_yan(rng.poisson(800)), top(rng.poisson(200))]
pd.concat(recorded)[["pt", "ht"]].to_parquet(folder / "data.parquet")

# %%
(folder / "analysis.yaml").write_text("""
luminosity: 1.0                      # fb^-1
samples:
  drell-yan: {files: drell_yan.parquet, process: Drell-Yan, cross_section: 0.8, weights: generator}
  top: {files: top.parquet, cross_section: 0.2, weights: generator}
data: data.parquet
features:
  pt: {label: "$p_T$", unit: GeV}
  ht: {label: "$H_T$", unit: GeV}
settings: {seed: 1, toys: 1500}
""")
analysis = lanner.read_analysis(folder / "analysis.yaml")
for one in analysis.reference.yields():
    print(f"{one.process:10} {one.expected:6.1f} +- {one.error:.1f} expected, {one.negative:.0%} negative weights")

# %%
result = analysis.search(progress=False)
print(result.verdict())

# %% [markdown]
# Plots stack the processes, with the words of the file on the axes:

# %%
analysis.characterise(result).profile("ht").plot();
