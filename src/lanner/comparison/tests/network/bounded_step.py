"""Damped Newton steps inside a box: the minimum of a quadratic model with every parameter within its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lanner.comparison.tests.network.torch_module import need_torch

_ROUNDS = 4  # of fixing what would leave the box; more of them find little more
_LEAST_SCALE = 1e-3  # of a parameter that the loss does not feel
DAMPING = 1e-2  # to start with
_LEAST, _MOST = 1e-9, 1e9  # damping
_POOR, _GOOD = 0.25, 0.75  # shares of the promised gain


@dataclass(frozen=True, eq=False)
class Step:
    """Where to go, and what the quadratic model promises of it."""

    parameters: Any  # (networks, p), single precision
    gain: Any  # (networks,): by how much the loss should fall


def bounded_step(parameters: Any, gradient: Any, curvature: Any, damping: Any, clip: float) -> Step:
    """The damped Newton step of each network within [-clip, clip].

    A parameter at its bound that would go beyond it stays there. One that the step would carry out of the box is put
    on its bound, and the others move again, knowing of it: to clip the step alone would leave them where they were
    best beside a parameter that did not come along.
    """
    torch = need_torch()
    clip = float(np.float32(clip))  # as the parameters have it
    now, slope = parameters.double(), gradient.double()
    scale = damping[:, None] * torch.diagonal(curvature, dim1=1, dim2=2).clamp_min(_LEAST_SCALE)
    free = ~(((now >= clip) & (slope < 0)) | ((now <= -clip) & (slope > 0)))
    moved = torch.zeros_like(now)
    for _ in range(_ROUNDS):
        moving = free.double()
        system = curvature * moving[:, :, None] * moving[:, None, :] + torch.diag_embed(scale * moving + (1 - moving))
        pull = -(slope + _times(curvature, moved * (1 - moving))) * moving
        moved = torch.where(free, torch.linalg.solve(system, pull), moved)
        leaving = free & ((now + moved).abs() > clip)
        moved = (now + moved).clamp_(-clip, clip) - now
        if not leaving.any():
            break
        free &= ~leaving
    tried = (now + moved).float()
    moved = tried.double() - now
    return Step(tried, -(slope * moved).sum(dim=1) - (moved * _times(curvature, moved)).sum(dim=1) / 2)


def next_damping(damping: Any, fallen: Any, promised: Any) -> Any:
    """Less where the loss fell as promised, more where it fell by much less, far more where it did not fall."""
    torch = need_torch()
    share = fallen / promised
    kept = torch.where(share > _GOOD, damping / 3, torch.where(share < _POOR, damping * 2, damping))
    return torch.where(fallen > 0, kept, damping * 4).clamp_(_LEAST, _MOST)


def _times(matrix: Any, vector: Any) -> Any:
    return need_torch().bmm(matrix, vector[:, :, None])[:, :, 0]
