# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A scikit-learn pipeline
#
# `LogRatioClassifier` is the model of one fit as an estimator of scikit-learn: its `decision_function` is the log-ratio f of class 1 to class 0, and it goes wherever estimators go.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lanner

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(0.0, 1.0, (2000, 2)), rng.normal(0.5, 1.0, (2000, 2))])
y = np.repeat([0, 1], 2000)

model = make_pipeline(StandardScaler(), lanner.LogRatioClassifier(width=2.0, random_state=0))
print("area under the curve:", cross_val_score(model, x, y, scoring="roc_auc", cv=4).round(3))

# %% [markdown]
# The true log-ratio of the two is x0/2 + x1/2 - 1/4; the learned one follows it:

# %%
f = model.fit(x, y).decision_function(x)
true = 0.5 * x.sum(axis=1) - 0.25
print(f"correlation with the true log-ratio: {np.corrcoef(f, true)[0, 1]:.3f}")
fig, ax = plt.subplots()
ax.plot(true, f, ".", ms=2)
ax.axline((0, 0), slope=1, color="black")
ax.set(xlabel="true log-ratio", ylabel="learned log-ratio");

# %% [markdown]
# Settings are chosen as those of any estimator:

# %%
grid = GridSearchCV(model, {"logratioclassifier__width": [0.3, 1.0, 3.0]}, scoring="neg_log_loss", cv=3).fit(x, y)
print(grid.best_params_)
