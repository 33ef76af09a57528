"""The network where the reference has uncertainties: t = tau - Delta (arXiv:2111.13633).

tau is twice the largest log L of network and nuisance parameters together, Delta that of the nuisances alone. As in the
fits of the likelihood ratio (`inference/varied_fit.py`), whose events and toys these are, log r is a straight line
about nu^: beside the network's f(x) stands d(x) . (nu - nu^), and the auxiliary measurements are its penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.tests.network.neural_test import Network
from lanner.comparison.tests.network.stack import Architecture, Objective
from lanner.comparison.tests.network.torch_module import need_torch
from lanner.comparison.tests.network.training import train
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.varied_fit import VariedFitExperiment
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.typing import Array

_FURTHEST = 10.0  # uncertainties that nuisances may go from nu^, where network parameters reach their clipping


class ProfiledObjective(Objective):
    """The loss of networks with nuisance parameters, which come after the others, in units of `unit` uncertainties."""

    def __init__(
        self,
        architecture: Architecture,
        events: Any,
        reference: Any,
        data: Any,
        *,
        slopes: Any,
        away: Any,
        unit: float,
    ) -> None:
        """`slopes` (K, n) of log r; `away` (networks, K): the auxiliary measurements less nu^."""
        super().__init__(architecture, events, reference, data)
        self._slopes, self._away, self._unit = slopes, away, unit

    def take(self, networks: Any) -> ProfiledObjective:
        """Some of the networks."""
        return ProfiledObjective(
            self.architecture,
            self._events,
            self._reference[networks],
            self._data[networks],
            slopes=self._slopes,
            away=self._away[networks],
            unit=self._unit,
        )

    def evaluate(self, parameters: Any) -> tuple[Any, Any]:
        """2 log L of each network and its nuisances, and the loss's gradient."""
        torch = need_torch()
        p = self.architecture.parameters
        delta = self._unit * parameters[:, p:]
        # What the line multiplies in the reference, and adds to the data's sum, can be given to the network's own loss.
        line = delta @ self._slopes
        plain = Objective(self.architecture, self._events, self._reference * line.exp(), self._data)
        t, of_network = plain.evaluate(parameters[:, :p].contiguous())
        f = self._forward(self.architecture.layers(parameters[:, :p].contiguous()), self._events)[-1][:, 0]
        residual = self._reference * (f + line).exp() - self._data
        off = delta - self._away
        # t has sum w r (e^f - 1); the likelihood has sum w (r e^f - 1) and the data's line.
        rest = (self._data * line - self._reference * torch.expm1(line)).sum(dim=1, dtype=torch.float64)
        t = t + 2 * rest - off.double().square().sum(dim=1)
        of_nu = self._unit * (residual @ self._slopes.T + off)
        return t, torch.cat([of_network, of_nu], dim=1)

    def curvature(self, parameters: Any, turn: int = 0) -> Any:
        """The Gauss-Newton curvature, with the nuisances in it."""
        torch = need_torch()
        p = self.architecture.parameters
        own = parameters[:, :p].contiguous()
        step = max(1, self._events.shape[1] // max(5000, 20 * parameters.shape[1]))
        events, reference, slopes = (
            a[:, turn % step :: step].contiguous() for a in (self._events, self._reference, self._slopes)
        )
        layers = self.architecture.layers(own)
        activations = self._forward(layers, events)
        line = self._unit * parameters[:, p:] @ slopes
        weight = step * reference * (activations.pop()[:, 0] + line).exp()
        beside = (self._unit * slopes).expand(len(own), -1, -1)
        slope = torch.cat([self._slope(layers, activations, events), beside], dim=1)
        found = torch.bmm(slope * weight[:, None], slope.transpose(1, 2)).double()
        nuisances = torch.arange(p, parameters.shape[1])
        found[:, nuisances, nuisances] += self._unit**2
        return found


@dataclass(frozen=True, eq=False)
class ProfiledNetwork:
    """A network for the toys and the data of an experiment with uncertainties."""

    test: Network
    experiment: VariedFitExperiment

    def statistics(self, draws: Sequence[Draw]) -> tuple[Array, Array]:
        """tau and Delta of each draw; t is their difference."""
        test, experiment = self.test, self.experiment
        objective, initial = self._objective(draws), self._initial(draws)
        trained = [train(objective, start, test.schedule()) for start in initial]
        tau = np.max([made.statistic for made in trained], axis=0)
        return tau, experiment.delta(draws)

    @property
    def architecture(self) -> Architecture:
        """Its layers."""
        return Architecture((len(self.experiment.plan.names), *self.test.hidden, 1))

    def _initial(self, draws: Sequence[Draw]) -> list[NDArray[np.float32]]:
        """Initial parameters of each training: the network's at random, the nuisances at nu^."""
        found = []
        seed, none = self.experiment.plan.seed, np.zeros((len(draws), len(self.experiment.varied.nu)), np.float32)
        for training in range(self.test.trainings):
            rngs = [rng_of(seed, Stream.NETWORK, training, int(d.data.sum()) % 2**31) for d in draws]
            found.append(np.hstack([self.architecture.initial(rngs), none]))
        return found

    def _objective(self, draws: Sequence[Draw]) -> ProfiledObjective:
        torch = need_torch()
        assert self.test.clip is not None
        experiment = self.experiment
        roles = experiment.roles(draws).T
        reference = (roles == REFERENCE) * experiment.reference_weights(roles.T).T
        auxiliary = np.stack([d.auxiliary for d in draws if d.auxiliary is not None])

        def tensor(values: NDArray[Any]) -> Any:
            return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))

        return ProfiledObjective(
            self.architecture,
            tensor(experiment.events.T),
            tensor(reference),
            tensor(roles == DATA),
            slopes=tensor(experiment.slopes.T),
            away=tensor(auxiliary),
            unit=_FURTHEST / self.test.clip,
        )
