# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A hidden resonance
#
# Pairs of muons from proton collisions, made with Pythia (`pip install 'lanner[physics]'`). In the data 30 of about 2000 pairs come from a Z' of 300 GeV.
# The search sees momenta and angles of the muons. It is not told of their mass.

# %%
import lanner
from lanner.paper.datasets import dimuon

reference = dimuon.generate(events=8000, cuts=dimuon.Cuts(mass=60.0), seed=1)
data = dimuon.generate(events=2000, signal="zprime-300", signal_events=30, poisson=True, cuts=dimuon.Cuts(mass=60.0), seed=2)
muons = ["pt1", "pt2", "eta1", "eta2", "delta_phi"]

# %%
result = lanner.search(
    {name: reference[name] for name in muons},
    {name: data[name] for name in muons},
    expected=2000,
    toys=3000,
    seed=1,
    progress=False,
)
print(result.summary())

# %% [markdown]
# The mass was not in the fit, but every event has one. Against it the learned ratio is largest near 300 GeV:

# %%
found = lanner.characterise(
    result,
    {name: reference[name] for name in muons},
    {name: data[name] for name in muons},
    extra_reference={"mll": reference["mll"]},
    extra_data={"mll": data["mll"]},
)
found.profile("mll").plot()
region = found.region
print(f"{region.selection}: {region.data} events where {region.expected:.1f} are expected")
