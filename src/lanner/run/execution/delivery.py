"""Whose toys are taken: those of workers that run the same code as the process that asks for them.

A worker with another Lanner would make toys of another statistic, and the p-value would be wrong without a word. So
every worker is asked when it is there at the start, and says with each batch what code made it; before that, nothing
of it reaches a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lanner.errors import ClusterError, LannerError
from lanner.run.fingerprint import Maker
from lanner.run.toy_store import Batch


@dataclass(frozen=True, eq=False)
class Delivery:
    """What a worker sends: toys, or why there are none, with its address and the code that made them."""

    address: str
    maker: Maker
    found: Batch | LannerError | None  # None: of other code than was asked for, and so not even begun


def taken(delivered: Any, client: Any, future: Any) -> Batch:
    """The toys of a delivery, if they are of this code."""
    if not isinstance(delivered, Delivery):  # of no Lanner, or of a version that did not say
        check_workers(client)
        raise refusal(", ".join(client.who_has([future]).get(future.key, ["unknown"])), {})
    if delivered.maker != Maker.here() or delivered.found is None:
        raise refusal(delivered.address, delivered.maker.to_dict())
    if isinstance(delivered.found, LannerError):
        raise delivered.found
    return delivered.found


def check_workers(client: Any) -> None:
    """Refuse workers that run other code, of all that are there now."""

    def installed() -> dict[str, Any]:
        # Sent as it stands, and not by name: the worker may have a Lanner without it, or none.
        try:
            from lanner.run.fingerprint import Maker

            return Maker.here().to_dict()
        except Exception:
            try:
                from importlib.metadata import version

                return {"version": version("lanner")}
            except Exception:
                return {}

    found: Mapping[str, Any] = client.run(installed, on_error="return")
    for address, plain in found.items():
        if isinstance(plain, dict) and plain != Maker.here().to_dict():
            raise refusal(address, plain)


def refused_here(asked_of: Mapping[str, Any]) -> ClusterError | None:
    """On a worker: why it does nothing for a process that runs this other code."""
    from distributed import get_worker

    here = Maker.here().to_dict()
    return None if here == asked_of else refusal(get_worker().address, here, Maker(**asked_of))


def refusal(address: str, plain: Mapping[str, Any], asking: Maker | None = None) -> ClusterError:
    """Why toys of a worker are not taken, and what to do."""
    there = f"Lanner {plain['version']}" if "version" in plain else "no Lanner, or an older one"
    if "source" in plain:
        there = str(Maker(**plain))
    return ClusterError(
        f"worker {address} runs {there}, and the process that asks {asking or Maker.here()}: its toys would be of "
        "another test, and none were taken. Install the same Lanner for the workers, start them again, and run the "
        "same command: toys that were stored are safe"
    )
