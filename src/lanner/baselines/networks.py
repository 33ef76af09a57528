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

from lanner.baselines.torch_backend import need_torch

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

    def statistic(self, parameters: Any) -> NDArray[np.float64]:
        """t of each network."""
        torch = need_torch()
        total = torch.zeros(len(parameters), dtype=torch.float64)
        layers = self.architecture.layers(parameters)
        for rows in self._blocks(len(parameters)):
            f = self._forward(layers, rows)[-1][:, 0]
            part = self._data[:, rows] * f - self._reference[:, rows] * torch.expm1(f)
            total += part.sum(dim=1, dtype=torch.float64)
        return np.asarray(2 * total.numpy())

    def gradient(self, parameters: Any, out: Any) -> None:
        """The loss's gradient into `out`, shaped like the parameters: backpropagation, block after block."""
        torch = need_torch()
        out.zero_()
        layers, slopes = self.architecture.layers(parameters), self.architecture.layers(out)
        for rows in self._blocks(len(parameters)):
            activations = self._forward(layers, rows)
            f = activations.pop()[:, 0]
            delta = (self._reference[:, rows] * f.exp_() - self._data[:, rows])[:, None]
            for k in range(len(layers) - 1, -1, -1):
                slopes[k][1].add_(delta.sum(dim=2, keepdim=True))
                if k == 0:
                    slopes[0][0].add_(torch.matmul(delta, self._events[:, rows].T))
                    break
                before = activations[k - 1]
                slopes[k][0].baddbmm_(delta, before.transpose(1, 2))
                delta = torch.bmm(layers[k][0].transpose(1, 2), delta)
                delta.mul_(before).mul_(before.neg_().add_(1))

    def curvature(self, parameters: Any) -> tuple[Any, Any]:
        """The loss's gradient (networks, p) and its Gauss-Newton curvature (networks, p, p), in double precision.

        The curvature is sum_reference w e^f J J^T with J the slope of f: never negative.
        """
        torch = need_torch()
        networks, p = parameters.shape
        gradient = torch.zeros(networks, p, dtype=torch.float64)
        curvature = torch.zeros(networks, p, p, dtype=torch.float64)
        layers = self.architecture.layers(parameters)
        for rows in self._blocks(networks, p):
            activations = self._forward(layers, rows)
            weight = self._reference[:, rows] * activations.pop()[:, 0].exp_()
            slope = self._slope(layers, activations, rows)
            gradient += torch.bmm(slope, (weight - self._data[:, rows])[:, :, None])[:, :, 0]
            curvature += torch.bmm(slope * weight[:, None], slope.transpose(1, 2))
        return gradient, curvature

    def _slope(self, layers: list[tuple[Any, Any]], activations: list[Any], rows: slice) -> Any:
        """df/dparameters of every event, (networks, p, rows), in the order of the parameters."""
        torch = need_torch()
        networks, events = len(layers[0][0]), self._events[:, rows]
        delta = torch.ones(networks, 1, events.shape[1])
        parts: list[Any] = []
        for k in range(len(layers) - 1, -1, -1):
            before = activations[k - 1] if k else events.expand(networks, -1, -1)
            product = delta[:, :, None] * before[:, None]
            parts[:0] = [product.reshape(networks, -1, events.shape[1]), delta]
            if k:
                delta = torch.bmm(layers[k][0].transpose(1, 2), delta) * before * (1 - before)
        return torch.cat(parts, dim=1)

    def _blocks(self, networks: int, units: int | None = None) -> list[slice]:
        n = self._events.shape[1]
        size = max(256, _IN_CACHE // (networks * (units or max(self.architecture.sizes[1:]))))
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def _forward(self, layers: list[tuple[Any, Any]], rows: slice) -> list[Any]:
        """What each layer puts out, (networks, units, rows); the last one is f."""
        torch = need_torch()
        (weights, biases), *others = layers
        networks, units, inputs = weights.shape
        first = torch.matmul(weights.reshape(networks * units, inputs), self._events[:, rows])
        found = [first.view(networks, units, -1).add_(biases)]
        for weights, biases in others:
            found.append(torch.baddbmm(biases, weights, found[-1].sigmoid_()))
        return found
