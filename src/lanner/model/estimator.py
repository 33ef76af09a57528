"""`LogRatioClassifier`: the same model as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from lanner._util.machine import memory_budget
from lanner._util.values import as_number
from lanner.model.fit import default_centers
from lanner.model.kernel import GaussianKernel, kernel_sum, pairwise_width
from lanner.model.single_fit import fit_single, warn_unless_converged
from lanner.model.weightings import DATA, REFERENCE, Weightings
from lanner.settings import FitSettings
from lanner.typing import Array


class LogRatioClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel logistic regression whose `decision_function` is the learned log-ratio f(x).

    The first class is the reference, the second the data. It obeys scikit-learn's rules, so it takes what
    `fit_ratio` refuses (tiny samples, constant columns), and weights are repetitions: n of the objective is
    the total weight.

    Parameters
    ----------
    width : float, optional
        Width of the Gaussian kernel. Default: the 90th percentile of the distances between reference events.
    penalty : float, default 1e-6
        Lambda, the weight of |f|^2 / 2.
    centers : int, optional
        Number of candidate centres; all distinct rows where there are no more than that. Default: about 10 sqrt(n).
    expected : float, optional
        Number of data events that the reference predicts. Default: as many as there are.
    newton_steps : int, optional
        Newton steps of the fit. Default: to convergence.
    loss : {"logistic", "extended"}, default "logistic"
        Loss of the fit.
    solver : {"newton", "falkon"}, default "newton"
        Solver of the fit; see `lanner.fit_ratio`.
    precision : {"single", "double"}, default "double"
        In which features are stored and multiplied.
    tolerance : float, optional
        Newton decrement at which the fit has converged. Default: 1e-3 in single precision, 1e-7 in double.
    trace_error : float, optional
        Part of the kernel to leave out. Default: what the penalty makes harmless.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    random_state : int, RandomState instance or None, default None
        Random numbers for the draw of centres.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes: the reference, then the data.
    width_ : float
        Width of the kernel that was used.
    centers_ : ndarray of shape (rank, features)
        The centres that were kept.
    coef_ : ndarray of shape (rank,)
        The weight of each centre's kernel in f.
    statistic_ : float
        The test statistic t.
    converged_ : bool
        Whether the fit converged.
    n_iter_ : int
        Passes over the events.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> bool(LogRatioClassifier(width=0.5, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        *,
        width: float | None = None,
        penalty: float = 1e-6,
        centers: int | None = None,
        expected: float | None = None,
        newton_steps: int | None = None,
        loss: str = "logistic",
        solver: str = "newton",
        precision: str = "double",
        tolerance: float | None = None,
        trace_error: float | None = None,
        memory: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.penalty = penalty
        self.centers = centers
        self.expected = expected
        self.newton_steps = newton_steps
        self.loss = loss
        self.solver = solver
        self.precision = precision
        self.tolerance = tolerance
        self.trace_error = trace_error
        self.memory = memory
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogRatioClassifier:
        """Learn the ratio of the second class to the first.

        Parameters
        ----------
        X : array_like of shape (events, features)
            Events of both classes.
        y : array_like of shape (events,)
            The class of each event; two different values.
        sample_weight : array_like of shape (events,), optional
            How often each event counts. Default: once.

        Returns
        -------
        LogRatioClassifier
            The estimator itself, fitted.

        Raises
        ------
        ValueError
            If there are more or fewer than two classes, or if a setting cannot be used.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported; the target has {len(self.classes_)} classes.")
        settings = FitSettings(
            penalty=self.penalty,
            newton_steps=self.newton_steps,
            loss=self.loss,
            solver=self.solver,
            precision=self.precision,
            tolerance=self.tolerance,
            trace_error=self.trace_error,
        )
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        # Reference first, in a fixed order of the rows, without those that weigh nothing: the same sample
        # given in another order, or with repetitions for weights, is then the same problem.
        order = np.lexsort((*X.T[::-1], labels))
        order = order[weights[order] != 0]
        events, labels, weights = X[order], labels[order], weights[order]
        if len(np.unique(labels)) < 2:
            raise ValueError("LogRatioClassifier needs events of two classes; the target has one class only.")
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        expected = float(weights[labels == 1].sum() if self.expected is None else self.expected)
        if not (np.isfinite(expected) and expected > 0):
            raise ValueError(f"expected={self.expected!r}: the number of data events predicted must be positive.")
        if not weights[labels == 0].sum() > 0:
            raise ValueError("The weights of the first class, the reference, must add up to more than 0.")
        distinct = np.unique(events, axis=0)
        kernel = GaussianKernel(self._width(events[labels == 0], random))
        fit = fit_single(
            events,
            Weightings.of(
                np.where(labels == 0, REFERENCE, DATA).astype(np.int8)[:, None],
                expected=expected,
                weights=weights,
                data_weights=weights,
            ),
            events_in_objective=float(weights.sum()),
            expected=expected,
            kernel=kernel,
            candidates=self._candidates(events, distinct, random),
            settings=settings,
            penalties=(as_number(self.penalty, "penalty"),),
            memory=memory_budget(self.memory),
            rng=random,
        )
        warn_unless_converged(fit, settings)
        self.width_ = kernel.width
        self.centers_ = fit.centers
        self.coef_ = fit.coefficients
        self.statistic_ = fit.statistic
        self.converged_ = fit.converged
        self.n_iter_ = fit.iterations
        return self

    def _width(self, reference: Array, rng: np.random.Generator) -> float:
        if self.width is not None:
            return float(self.width)
        distinct = np.unique(reference, axis=0)
        width = pairwise_width(distinct, rng=rng) if len(distinct) > 1 else 0.0
        return width or 1.0  # all reference events in one place: any width will do

    def _candidates(self, events: Array, distinct: Array, rng: np.random.Generator) -> Array:
        count = default_centers(len(events)) if self.centers is None else self.centers
        if not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"centers={self.centers!r}: give a whole number of centres, 1 or more.")
        if len(distinct) <= count:
            return distinct
        return events[rng.choice(len(events), count, replace=False)]

    def decision_function(self, X: Any) -> Array:
        """Log-ratio f(x) of the second class to the first.

        Parameters
        ----------
        X : array_like of shape (events, features)
            Events.

        Returns
        -------
        ndarray of shape (events,)
            The log-ratio at each event.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return kernel_sum(GaussianKernel(self.width_), self.centers_, self.coef_, X)

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of the two classes at equal priors: sigmoid(-f), sigmoid(f).

        Parameters
        ----------
        X : array_like of shape (events, features)
            Events.

        Returns
        -------
        ndarray of shape (events, 2)
            The probability of each class, in the order of `classes_`.
        """
        f = self.decision_function(X)
        return np.column_stack([expit(-f), expit(f)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class where f > 0, the first elsewhere.

        Parameters
        ----------
        X : array_like of shape (events, features)
            Events.

        Returns
        -------
        ndarray of shape (events,)
            The class of each event.
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])
