# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Toys on Dask
#
# `pip install 'lanner[dask]'`. Each toy has a seed of its own, so it does not matter who makes it: the result is the same to the last bit with one process, with several, or on a batch cluster
# (`lanner.Dask(scheduler="tls://...")`). In a script the second search belongs under `if __name__ == "__main__":`, because every worker imports the script.

# %%
import numpy as np

import lanner

rng = np.random.default_rng(1)
reference, data = rng.standard_normal((40_000, 3)), rng.standard_normal((400, 3))
settings = {"expected": 400, "toys": 900, "seed": 1, "progress": False}

# %%
here = lanner.search(reference, data, **settings)

there = lanner.search(reference, data, **settings, executor=lanner.Dask(workers=2))

print(here.verdict())
print("the same toys:", np.array_equal(here.null, there.null))
