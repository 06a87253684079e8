"""How many connections a server holds, and for how long it holds one that says nothing.

A connection must send a whole request head soon after it was made, and soon after each request has
begun. When the house is full, the oldest connection without a request under way makes room for a
new one, so that silent connections lock nobody out.

uvicorn 0.54 has no time for a first head, and refuses everybody when it is full of silence.
Hypercorn 0.18 has such a time, which ends streams too, and no most; Granian 2.8 waits when full.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Any, Final, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Another system than Unix, where this limit is not known.
    resource = None  # type: ignore[assignment]

CONNECTION: Final = "grbp.connection"
"""The key of the connection in the state of a request's scope."""

_LOG: Final = logging.getLogger("grbp.serve.connections")

_HTTP: Final = logging.getLogger("grbp.serve.http")
_HTTP.setLevel(logging.ERROR)  # What clients send wrongly is said by us, in one line.

_FILES: Final = 128
"""How many open files are left for everything else."""

_FEW: Final = 4
"""An address with fewer connections finds room in the last tenth, which nobody else can fill."""


class Counted(Protocol):
    """A connection as far as it is counted, and whether a request was answered on it."""

    served: bool

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        ...

    def abort(self) -> None:
        """Close at once, whatever is still to be sent."""


class Connections:
    """The connections that are open, the oldest first.

    Parameters
    ----------
    most, each : int
        How many there may be in all, and from one address.
    is_exempt : callable
        Whether an address may have as many as it likes, as a proxy for all its clients must.
    """

    def __init__(self, most: int, each: int, is_exempt: Callable[[str], bool]) -> None:
        self.most, self._each, self._is_exempt = _fit_to_files(most), each, is_exempt
        self._addresses: dict[Counted, str] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    def admit(self, one: Counted, address: str) -> bool:
        """Take in a connection, if need be in the place of an idle one; say whether there is room.

        Too many from one address make room among themselves.
        """
        crowded = self._count(address) >= self._each and not self._is_exempt(address)
        if crowded and not self._make_room(address):
            return False
        few = self._count(address) < _FEW
        room = self.most if few else self.most - self.most // 10
        if len(self._addresses) >= room and not self._make_room(None):
            return False
        self._addresses[one] = address
        return True

    def _count(self, address: str) -> int:
        """Return how many connections there are from an address."""
        return sum(its == address for its in self._addresses.values())

    def leave(self, one: Counted) -> None:
        """Forget a connection that was closed or never taken in."""
        self._addresses.pop(one, None)

    def _make_room(self, address: str | None) -> bool:
        """Close the oldest idle connection, of an address if one is given; say if there was one."""
        idle = [
            one
            for one, its in self._addresses.items()
            if one.idle and (address is None or its == address)
        ]
        # One that was of use before may be so again.
        chosen = next((one for one in idle if not one.served), next(iter(idle), None))
        if chosen is None:
            return False
        self.leave(chosen)
        chosen.abort()
        return True


class HttpConnection(H11Protocol):
    """A connection that does not wait for its client for long, be it for TLS or for a request.

    Parameters
    ----------
    context : SSLContext or None
        The certificate and its key, if there is TLS, which is agreed on first.
    **options
        What uvicorn gives to a connection.
    """

    def __init__(self, *, context: ssl.SSLContext | None = None, **options: Any) -> None:
        super().__init__(**options)
        server = self.config.app.state.server  # type: ignore[union-attr]
        self._connections, self._patience = server.connections, server.settings.head_patience
        self._context, self._address, self._begun = context, "", False
        self._early: list[bytes] = []
        self._handshake: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.logger, self.served = _HTTP, False
        self.app_state = {**self.app_state, CONNECTION: self}

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse to."""
        self.transport = transport
        self._address = str((transport.get_extra_info("peername") or [""])[0])
        if not self._connections.admit(self, self._address):
            transport.abort()
        elif self._context is None:
            self._begin(transport)
        else:
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._agree(self._context))

    async def _agree(self, context: ssl.SSLContext) -> None:
        """Do the handshake of TLS."""
        try:
            secure = await self.loop.start_tls(
                self.transport, self, context, server_side=True,
                ssl_handshake_timeout=self._patience,
            )  # fmt: skip
        except OSError:
            secure = None
        if secure is None or secure.is_closing():
            self._connections.leave(self)
            self.transport.abort()
        else:
            self._begin(secure)

    def _begin(self, transport: asyncio.Transport) -> None:
        """Wait for requests, which may have come together with the end of the handshake."""
        super().connection_made(transport)
        self._begun = True
        self._watch()
        for data in self._early:
            self.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._connections.leave(self)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has come, and see how long to wait for more."""
        if self._begun:
            super().data_received(data)
            self._watch()
        else:
            self._early.append(data)

    def on_response_complete(self) -> None:
        """Wait for the next request, but not for a client who does not read."""
        self.served = True
        super().on_response_complete()
        if self.transport.is_closing():
            self.loop.call_later(self._patience, self.transport.abort)
        else:
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        _LOG.info("%s sent what is not HTTP", self._address)
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # An answer is under way already.
            self.transport.abort()

    def abort(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.transport.abort()

    def _watch(self) -> None:
        """Run the clock while a request is awaited or has begun to arrive, and at no other time."""
        if self.transport.is_closing() or not self.idle:
            self._stop_timer()
        elif self.served and self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self._stop_timer()  # It is kept for a while.
            if self.timeout_keep_alive_task is None:
                self.timeout_keep_alive_task = self.loop.call_later(
                    self.timeout_keep_alive, self.timeout_keep_alive_handler
                )
        elif self._timer is None:
            self._timer = self.loop.call_later(self._patience, self.timeout_keep_alive_handler)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that says nothing, without waiting for a client who does not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


def _fit_to_files(most: int) -> int:
    """Return how many connections there can be by the system's limit of open files."""
    if resource is not None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            most = min(most, max(files - _FILES, files // 2))
    return most
