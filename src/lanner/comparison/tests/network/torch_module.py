"""Torch, where it is installed."""

from __future__ import annotations

from typing import Any

from lanner.errors import InputError


def need_torch() -> Any:
    """The torch module, or an error that says how to get it."""
    try:
        import torch
    except ImportError:
        raise InputError(
            "the neural network needs torch: pip install 'lanner[network]' (everything else works without it)"
        ) from None
    return torch
