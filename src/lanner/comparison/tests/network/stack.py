"""Many small networks trained together: one model whose every layer is a stack of matrices, one per toy.

Fully connected, sigmoid activations, one linear output f(x). The loss is that of the extended likelihood,

    L = sum_reference w (e^f - 1) - sum_data f,        t = -2 min L

over all events at once (full batch). After each step every parameter is clipped to [-clip, clip], which is all the
regularisation there is. Toys share their events, so the first layer of all of them is a single product; loss and
gradient are taken in blocks of events whose activations stay in cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.tests.network.torch_module import need_torch
from lanner.model.parallel import blocks

# Events from which the curvature is taken: enough for a matrix of the parameters' size to be well conditioned.
_LEAST_EVENTS, _EVENTS_PER_PARAMETER = 5000, 20
_IN_CACHE = 2**18  # activations of a layer in a block of events


@dataclass(frozen=True)
class Architecture:
    """The layers of a network: inputs, hidden ones, one output.

    >>> Architecture((1, 4, 1)).parameters, Architecture((5, 5, 5, 5, 1)).parameters
    (13, 96)
    """

    sizes: tuple[int, ...]

    @property
    def parameters(self) -> int:
        """Weights and biases: the degrees of freedom that t has if the clipping is right."""
        return sum((a + 1) * b for a, b in self._steps())

    def initial(self, rngs: Sequence[np.random.Generator]) -> NDArray[np.float32]:
        """Parameters (networks, parameters): Glorot's uniform weights, no biases."""
        networks = []
        for rng in rngs:
            parts = []
            for a, b in self._steps():
                limit = math.sqrt(6 / (a + b))
                parts += [rng.uniform(-limit, limit, a * b), np.zeros(b)]
            networks.append(np.concatenate(parts))
        return np.array(networks, dtype=np.float32)

    def layers(self, parameters: Any) -> list[tuple[Any, Any]]:
        """Views of a tensor (networks, parameters): weights (networks, out, in) and biases (networks, out, 1)."""
        found, start = [], 0
        for a, b in self._steps():
            weights = parameters[:, start : start + a * b].view(-1, b, a)
            start += a * b
            found.append((weights, parameters[:, start : start + b].view(-1, b, 1)))
            start += b
        return found

    def _steps(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes[:-1], self.sizes[1:], strict=True))


class Objective:
    """The loss of a stack of networks on the same events, each with weights of its own."""

    def __init__(self, architecture: Architecture, events: Any, reference: Any, data: Any) -> None:
        """`events` (features, n); `reference` and `data` (networks, n): the weights of e^f - 1 and of f."""
        self.architecture = architecture
        self._events, self._reference, self._data = events, reference, data

    @property
    def size(self) -> int:
        """Events times networks."""
        return int(self._reference.numel())

    def take(self, networks: Any) -> Objective:
        """Some of the networks."""
        return Objective(self.architecture, self._events, self._reference[networks], self._data[networks])

    def evaluate(self, parameters: Any) -> tuple[Any, Any]:
        """t of each network and the loss's gradient (networks, p): backpropagation, block after block of events."""
        torch = need_torch()
        total = torch.zeros(len(parameters), dtype=torch.float64)
        gradient = torch.zeros_like(parameters)
        layers, slopes = self.architecture.layers(parameters), self.architecture.layers(gradient)
        for rows in self._blocks(len(parameters)):
            activations = self._forward(layers, self._events[:, rows])
            f = activations.pop()[:, 0]
            reference, data = self._reference[:, rows], self._data[:, rows]
            rise = torch.expm1(f)  # e^f - 1, exact where f is small
            total += (data * f - reference * rise).sum(dim=1, dtype=torch.float64)
            delta = (reference * rise.add_(1) - data)[:, None]
            for k in range(len(layers) - 1, -1, -1):
                slopes[k][1].add_(delta.sum(dim=2, keepdim=True))
                if k == 0:
                    slopes[0][0].add_(torch.matmul(delta, self._events[:, rows].T))
                    break
                before = activations[k - 1]
                slopes[k][0].baddbmm_(delta, before.transpose(1, 2))
                delta = torch.bmm(layers[k][0].transpose(1, 2), delta)
                delta.mul_(before).mul_(before.neg_().add_(1))
        return 2 * total, gradient

    def curvature(self, parameters: Any, turn: int = 0) -> Any:
        """The loss's Gauss-Newton curvature (networks, p, p): sum_reference w e^f J J^T with J the slope of f.

        It only shapes steps, so a part of the events is enough: another one each turn.
        """
        torch = need_torch()
        networks, p = parameters.shape
        step = max(1, self._events.shape[1] // max(_LEAST_EVENTS, _EVENTS_PER_PARAMETER * p))
        events, reference = (a[:, turn % step :: step].contiguous() for a in (self._events, self._reference))
        layers = self.architecture.layers(parameters)
        found = torch.zeros(networks, p, p)
        for rows in _blocks(events.shape[1], networks * p):
            activations = self._forward(layers, events[:, rows])
            weight = step * reference[:, rows] * activations.pop()[:, 0].exp_()
            slope = self._slope(layers, activations, events[:, rows])
            found.baddbmm_(slope * weight[:, None], slope.transpose(1, 2))
        return found.double()

    def _slope(self, layers: list[tuple[Any, Any]], activations: list[Any], events: Any) -> Any:
        """df/dparameters of every event, (networks, p, events), in the order of the parameters."""
        torch = need_torch()
        networks = len(layers[0][0])
        delta = torch.ones(networks, 1, events.shape[1])
        parts: list[Any] = []
        for k in range(len(layers) - 1, -1, -1):
            before = activations[k - 1] if k else events.expand(networks, -1, -1)
            product = delta[:, :, None] * before[:, None]
            parts[:0] = [product.reshape(networks, -1, events.shape[1]), delta]
            if k:
                delta = torch.bmm(layers[k][0].transpose(1, 2), delta) * before * (1 - before)
        return torch.cat(parts, dim=1)

    def _blocks(self, networks: int) -> list[slice]:
        return _blocks(self._events.shape[1], networks * max(self.architecture.sizes[1:]))

    def _forward(self, layers: list[tuple[Any, Any]], events: Any) -> list[Any]:
        """What each layer puts out, (networks, units, events); the last one is f."""
        torch = need_torch()
        (weights, biases), *others = layers
        networks, units, inputs = weights.shape
        first = torch.matmul(weights.reshape(networks * units, inputs), events)
        found = [first.view(networks, units, -1).add_(biases)]
        for weights, biases in others:
            found.append(torch.baddbmm(biases, weights, found[-1].sigmoid_()))
        return found


def _blocks(events: int, per_event: int) -> list[slice]:
    """Blocks of events, of which each needs so many numbers."""
    return blocks(events, max(256, _IN_CACHE // per_event))
