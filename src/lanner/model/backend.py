"""Where the large arrays of a fit live: NumPy here, or torch on the CPU or a GPU, through the array API.

Events, memberships and what a fit reports are NumPy arrays on the host. Features and the products with them live where
`Arrays` puts them; the rest of the model does not know where that is. The choice is an argument, never a global switch.

What to use when: "cpu" (NumPy, with threads of our own over blocks of rows) unless there is a GPU, then "cuda".
"torch" is torch on the CPU, which does what "cuda" does, and is what the tests run of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular

from lanner.errors import InputError

Values = Any  # an array of whatever library

# Rows times fits whose f, weights and residuals stay in cache (a few MB); a GPU wants more at a time.
_CACHED, _MANY = 2**19, 2**23
_GPU_SHARE = 0.8  # of a GPU's free memory


@dataclass(frozen=True)
class Arrays:
    """A library of arrays and the device on which it keeps them."""

    name: str
    xp: Any  # its namespace, of the array API
    device: Any = None

    @property
    def threaded(self) -> bool:
        """Whether blocks of rows are spread over threads here; other libraries spread each product themselves."""
        return self.xp is np

    @property
    def place(self) -> str:
        """The device of which `arrays_on` makes the same, in another process."""
        if self.xp is np:
            return "cpu"
        return self.name if self.device is None or not self._on_gpu else str(self.device)

    @property
    def _on_gpu(self) -> bool:
        return getattr(self.device, "type", "cpu") == "cuda"

    def put(self, x: NDArray[Any], dtype: np.dtype[Any] | None = None) -> Values:
        """An array of the host's, here."""
        if self.xp is np:
            return np.asarray(x, dtype=dtype)
        x = np.ascontiguousarray(x, dtype=dtype)
        if not x.flags.writeable:
            x = x.copy()  # torch shares the memory, and warns if it may not write to it
        return self.xp.asarray(x, device=self.device)

    def get(self, x: Values) -> NDArray[Any]:
        """An array from here, on the host."""
        if self.xp is np:
            return np.asarray(x)
        return np.asarray(np.from_dlpack(array_api_compat.to_device(x, "cpu") if self.name == "torch" else x))

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Values:
        """Zeros, here."""
        return self.xp.zeros(shape, dtype=self.dtype(dtype), device=self.device)

    def dtype(self, dtype: np.dtype[Any]) -> Any:
        """What this library calls a type."""
        return getattr(self.xp, dtype.name)

    def cast(self, x: Values, dtype: np.dtype[Any]) -> Values:
        """The same numbers in another precision; without a copy where it is the same."""
        return self.xp.astype(x, self.dtype(dtype), copy=False) if self.xp is not np else x.astype(dtype, copy=False)

    def take(self, x: Values, indices: NDArray[np.intp], axis: int) -> Values:
        """Some rows or columns."""
        if self.xp is np:
            return np.take(x, indices, axis=axis)
        return self.xp.take(x, self.put(indices), axis=axis)

    def joined(self, parts: Sequence[Values], axis: int) -> Values:
        """Several arrays, one after the other."""
        return np.concatenate(parts, axis=axis) if self.xp is np else self.xp.concat(list(parts), axis=axis)

    def where(self, condition: NDArray[np.bool_], x: Values, y: Values) -> Values:
        """Columns of x where a condition holds, of y (or 0) elsewhere."""
        return self.xp.where(self.put(condition), x, y if not isinstance(y, float) else self.xp.zeros_like(x))

    def triangular(self, lower: Values, b: Values, *, transposed: bool = False, overwrite: bool = False) -> Values:
        """L^-1 b, or L^-T b, of a lower triangular L."""
        if self.xp is np:
            return solve_triangular(
                lower, b, lower=True, trans="T" if transposed else "N", overwrite_b=overwrite, check_finite=False
            )
        if self.name == "torch":
            import torch

            return torch.linalg.solve_triangular(lower.mT if transposed else lower, b, upper=transposed)
        # The array API itself has no triangular solve.
        return self.xp.linalg.solve(lower.mT if transposed else lower, b)

    def cholesky(self, h: NDArray[np.float64]) -> Values:
        """The lower Cholesky factor of a matrix of the host's, here; `LinAlgError` where there is none."""
        try:
            return self.xp.linalg.cholesky(self.put(h))
        except RuntimeError as error:  # torch's LinAlgError is one
            raise LinAlgError(str(error)) from None

    def rows_per_block(self, batch: int) -> int:
        """How many rows to take through a pass together."""
        if not self._on_gpu:
            return int(np.clip(_CACHED // max(batch, 1), 256, 4096))
        return int(np.clip(_MANY // max(batch, 1), 4096, 2**17))

    def budget(self, memory: int) -> int:
        """Bytes for features: the run's budget, or on a GPU its own memory."""
        if not self._on_gpu:
            return memory
        import torch  # from here on only a GPU can tell whether it works

        free, _ = torch.cuda.mem_get_info(self.device)
        return int(_GPU_SHARE * free)


NUMPY = Arrays("numpy", np)


@cache
def arrays_on(device: str) -> Arrays:
    """The arrays of a device: "cpu", "torch" (torch on the CPU), "cuda" or "cuda:1"."""
    if device == "cpu":
        return NUMPY
    if device == "strict":  # the array API to the letter, for tests
        import array_api_strict

        return Arrays("strict", array_api_strict)
    if not isinstance(device, str) or not (device == "torch" or device.partition(":")[0] == "cuda"):
        raise InputError(f"device={device!r} is not known; choose 'cpu', 'torch' (on the CPU), 'cuda' or 'cuda:1'")

    try:
        import torch
    except ImportError:
        raise InputError(f"device={device!r} needs torch: pip install 'lanner[gpu]'") from None
    import array_api_compat.torch

    if device == "torch":
        return Arrays("torch", array_api_compat.torch, torch.device("cpu"))
    if not torch.cuda.is_available():
        raise InputError(
            f"device={device!r}, but torch finds no CUDA device here: install a CUDA build of torch on a machine with "
            "a GPU, or use device='cpu'"
        )
    found = torch.device(device)  # from here on only a GPU can tell whether it works
    if found.index is not None and found.index >= torch.cuda.device_count():
        raise InputError(f"device={device!r}, but there are {torch.cuda.device_count()} CUDA devices, from cuda:0")
    return Arrays("torch", array_api_compat.torch, found)


def column_dots(x: Values, y: Values) -> Values:
    """The scalar product of each column of x with that of y."""
    if isinstance(x, np.ndarray):
        return np.einsum("ij,ij->j", x, y)  # without the array of products
    return array_api_compat.array_namespace(x).sum(x * y, axis=0)
