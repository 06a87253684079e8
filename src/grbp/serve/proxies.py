"""Which proxies are trusted, and what they say of the client behind them."""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from grbp.errors import InvalidInput

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_LONGEST: Final = 64
"""How many characters of what is no address are kept."""


def read_networks(given: Iterable[str]) -> tuple[Network, ...]:
    """Read addresses and networks, or refuse what is neither."""
    return tuple(_read_network(one) for one in given)


def _read_network(given: str) -> Network:
    try:
        return ipaddress.ip_network(given)
    except ValueError:
        raise InvalidInput(
            f"--trust-proxy {given} was given; it must be an address such as 10.0.0.5 or a network"
            " such as 10.0.0.0/24"
        ) from None


THIS_MACHINE: Final = read_networks(["127.0.0.1", "::1"])
"""Who is trusted unless others are named."""


def is_trusted(peer: str, trusted: Sequence[Network]) -> bool:
    """Return whether an address is one of the trusted proxies."""
    address = _read_address(peer)
    return address is not None and any(address in network for network in trusted)


def find_client(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """Return the address of a client, as the trusted proxies before the server have seen it.

    Each proxy adds whom it was asked by at the end, so what stands before the last one that is
    not trusted may be invented.
    """
    for entry in reversed([one.strip() for one in forwarded.split(",")]):
        if entry and not is_trusted(entry, trusted):
            address = _read_address(entry)
            return entry[:_LONGEST] if address is None else str(address)
    return peer


def _read_address(given: str) -> Address | None:
    """Read an address, which may come with a port; None if it is none."""
    bare = given.partition("%")[0]
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
