"""Whether samples cross a network for everybody to read."""

from __future__ import annotations

import ipaddress
import warnings
from collections.abc import Iterable
from urllib.parse import urlsplit

from lanner.errors import ClusterWarning

_OPEN = ("tcp", "ucx", "ws")  # how Dask speaks without encryption


def warn_if_open(addresses: Iterable[str]) -> None:
    """Warn where samples would go unencrypted to one of these addresses, unless they stay on this machine."""
    found = sorted(address for address in addresses if is_open(address))
    if found:
        warnings.warn(
            f"the samples go unencrypted to {found[0]}{' and others' if len(found) > 1 else ''}, and whoever reaches "
            "that scheduler can run code as you: start scheduler and workers with TLS keys, and give tls://..., "
            "tls_ca, tls_cert and tls_key (--scheduler, --tls-ca, --tls-cert, --tls-key)",
            ClusterWarning,
            stacklevel=5,
        )


def is_open(address: str) -> bool:
    """Whether what is sent to an address can be read on the way.

    >>> is_open("tcp://login1:8786"), is_open("tls://login1:8786"), is_open("tcp://127.0.0.1:8786")
    (True, False, False)
    """
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    host = (parts.hostname or "").lower()
    try:
        stays = ipaddress.ip_address(host).is_loopback
    except ValueError:
        stays = host == "localhost"
    return parts.scheme in _OPEN and not stays
