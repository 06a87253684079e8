"""Keep to admins where a store lies: others read sentences without its path or address."""

import re
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from grbp.live.store.base import Store

_STORE: Final = "the store"

_ADDRESSES: Final = (
    (re.compile(r"postgres(ql)?://\S*[^\s.,;:)'\"]"), _STORE),
    (re.compile(r'(connection to server|server) (at|on socket) "[^"]*"(?:, port \d+| \([^)]*\))*'),
     r"\1"),
    (re.compile(r"(?i)\b(host|hostaddr|user|dbname|port|database|role)( name)? \"[^\"]*\""), r"\1"),
)  # fmt: skip
"""How PostgreSQL and its driver name where a database is."""


def hide_places(sentence: str, store: Store) -> str:
    """Return a sentence that does not say where the store is, nor its folder or its copies."""
    if store.address is None:
        return sentence
    whole = Path(store.address)
    names = {store.where, store.address}
    if not store.address.startswith("postgres"):
        real = whole.resolve()
        names |= {str(real), str(whole.parent), str(real.parent)}
    names.add(gettempdir())
    for name in sorted(names - {"", "/", "."}, key=len, reverse=True):
        # A file beside it has its name and something more, and so has a file in its folder.
        named = rf"(?<![\w/.-]){re.escape(name)}(-wal|-shm|-journal)?([/.]+[\w-]+)*/?(?![\w-])"
        sentence = re.sub(named, _STORE, sentence)
    for pattern, instead in _ADDRESSES:
        sentence = pattern.sub(instead, sentence)
    return sentence
