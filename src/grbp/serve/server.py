"""Start and stop a server: where it may listen, and how others reach it.

It stops in time, whatever others do: a database that hangs does not hold up its end.
"""

import ipaddress
import logging
import os
import signal
import socket
import ssl
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

from grbp._io import reason
from grbp.errors import CannotWrite, InvalidInput, MissingExtra, NotFound, how_to_install
from grbp.live.store import open_store
from grbp.live.store.base import OWN_LOG, Store
from grbp.live.transport import LOOPBACK
from grbp.serve.logs import HANDLER
from grbp.serve.proxies import THIS_MACHINE, read_networks
from grbp.serve.settings import Settings
from grbp.serve.tokens import Tokens
from grbp.worlds.validation import check_positive, check_whole

try:
    import uvicorn
    from fastapi import FastAPI

    from grbp.serve.app import create_app
    from grbp.serve.connections import HttpConnection
    from grbp.serve.state import ServerState
except ImportError as error:
    if isinstance(error, MissingExtra):
        raise
    raise MissingExtra(
        f"{error.name} is not installed; {how_to_install('serve')} installs it"
    ) from error

_LOG: Final = logging.getLogger("grbp.serve")

_PATIENCE: Final = 10.0
"""How many seconds an entry waits for others that write to the store."""

_KEEP_ALIVE: Final = 75
"""How many seconds an idle connection is kept."""

_GRACE: Final = 5
"""Seconds that requests may still take when the server has to stop."""

_LONGEST: Final = 9.0
"""Seconds after the signal when the process ends, whatever is still under way."""

_SHOWN: Final = 5
"""How many of those things are named."""


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, and how others reach it.

    Attributes
    ----------
    host, port
        The address of this machine to listen at; with port 0 the system chooses one.
    certificate, key : Path or None
        The files for TLS.
    proxy : str or None
        The address of a proxy before it, as browsers see it.
    names : sequence of str
        Further names by which it is addressed.
    trusted : sequence of str
        The addresses and networks of the proxies that are believed; by default, this machine's.
    """

    host: str = LOOPBACK[0]
    port: object = 8000
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None
    names: Sequence[str] = ()
    trusted: Sequence[str] = ()

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def make_settings(where: Endpoint, rate: object = 1_000.0) -> Settings:
    """Return the settings of a server, or refuse an endpoint that would not be safe."""
    if (where.certificate is None) != (where.key is None):
        raise InvalidInput("one of --tls-cert and --tls-key was given; TLS needs both of them")
    if where.certificate is not None and where.proxy is not None:
        raise InvalidInput("--tls-cert and --behind-proxy were given; one of them does the TLS")
    if not (where.local or where.certificate or where.proxy):
        raise InvalidInput(
            f"--host {where.host} was given, which others can reach; it needs --tls-cert and"
            " --tls-key, or --behind-proxy with the address of a proxy that does the TLS"
        )
    if where.proxy is None and where.trusted:
        raise InvalidInput(
            "--trust-proxy was given; it needs --behind-proxy with the address of the proxy"
        )
    if where.proxy is not None and not where.local and not where.trusted:
        raise InvalidInput(
            f"--behind-proxy was given with --host {where.host}, which others than the proxy can"
            " reach; name the proxy's own address by --trust-proxy"
        )
    hosts = [*where.names, *LOOPBACK] if where.local else [*where.names]
    if where.proxy is not None:
        hosts.append(_read_proxy_name(where.proxy))
    elif where.host not in ("0.0.0.0", "::"):  # noqa: S104 (compared with)
        hosts.append(where.host)
    if not hosts:
        raise InvalidInput(
            f"--host {where.host} was given, which is every address of this machine; name the one"
            " that is in the certificate by --allow-host"
        )
    return Settings(
        hosts=tuple(dict.fromkeys(host.lower() for host in hosts)),
        secure=where.certificate is not None or where.proxy is not None,
        proxied=where.proxy is not None,
        trusted=read_networks(where.trusted) or THIS_MACHINE,
        rate=check_positive("rate", rate),
    )


def _read_proxy_name(proxy: str) -> str:
    """Return the name in the address of a proxy, or refuse the address."""
    parts = urlsplit(proxy)
    if parts.scheme != "https" or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidInput(
            f"--behind-proxy {proxy} was given; it must be the address that browsers see, such as"
            " https://ward.example.org"
        )
    return parts.hostname


class _Server(uvicorn.Server):
    """A server that reports when it is ready, ends its streams when it has to stop, and does."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self.state: ServerState = config.app.state.server  # type: ignore[union-attr]
        self._watchdog: threading.Timer | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (its name)
        # What `super` does, but for raising the signal once more in the end.
        self.force_exit |= self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if self._watchdog is None:
            self._watchdog = threading.Timer(_LONGEST, self._end_process)
            self._watchdog.daemon = True
            self._watchdog.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        _LOG.info("stopping; %d requests are under way", len(self.state.under_way))
        self.state.stopping = True
        self.state.jobs.end_all()
        await super().shutdown(sockets)

    def call_off(self) -> None:
        """Let the process end by itself, if no thread keeps it from that."""
        ours = (threading.current_thread(), threading.main_thread(), self._watchdog)
        held = any(not one.daemon and one not in ours for one in threading.enumerate())
        if self._watchdog is not None and not held:
            self._watchdog.cancel()

    def _end_process(self) -> None:
        """End the process, and say what was cut off; not even a full pipe holds it."""
        says = threading.Thread(target=self._say_what_is_cut_off, daemon=True)
        says.start()
        says.join(0.5)
        os._exit(1)

    def _say_what_is_cut_off(self) -> None:
        under_way = [*self.state.under_way.values(), *self.state.jobs.describe()]
        more = f" and {len(under_way) - _SHOWN} more" if len(under_way) > _SHOWN else ""
        what = f"{', '.join(under_way[:_SHOWN])}{more}" if under_way else "threads that hang"
        _LOG.error(
            "stopped by force, %.0f s after the signal; this was cut off: %s", _LONGEST, what
        )
        HANDLER.flush()


def run(
    store: str,
    where: Endpoint,
    settings: Settings,
    say: Callable[[str], None],
    *,
    create: bool,
) -> None:
    """Serve a store until a signal comes; report the address when the server is ready.

    A store is made only if that is asked for, and when nothing else stands in the way. At the first
    start of all, the address carries a token for whoever reads it.
    """
    context = _make_tls_context(where)
    with listen(where) as listening, closing(_open_store(store, create=create)) as opened:
        _check_private(opened)
        # An older copy of the store would let in whoever was locked out since.
        if (lost := opened.missing(OWN_LOG)) is not None:
            raise CannotWrite(f"nobody can be let in: {lost}")
        tokens = Tokens(opened)
        first = tokens.make_first()
        opened.patience = _PATIENCE
        app, url = create_app(opened, tokens, settings), _find_url(where, listening)

        def report() -> None:
            say(url if first is None else f"{url}/sign-in#token={first}")
            _LOG.info("started at %s", url)

        server = _Server(_configure(app, context), report)
        server.run(sockets=[listening])
    _LOG.info("stopped")
    server.call_off()


def _open_store(where: str, *, create: bool) -> Store:
    """Open a store, or refuse one that is not there."""
    try:
        return open_store(where, create=create)
    except NotFound as error:
        what = str(error).partition(";")[0]
        raise NotFound(f"{what}; --create makes one, or look at the name") from None


def _check_private(store: Store) -> None:
    """Refuse a file that others than its owner and group can use: they would need no token."""
    if store.address is None or "://" in store.address:
        return
    for name in (store.where, f"{store.where}-wal"):
        with suppress(FileNotFoundError):
            if Path(name).stat().st_mode & stat.S_IRWXO:
                raise InvalidInput(
                    f"everybody on this machine can read or write {name}, and needs no token for"
                    f" that; run chmod o-rwx on it"
                )


def _find_url(where: Endpoint, listening: socket.socket) -> str:
    """Return the address by which others reach a server."""
    host = f"[{where.host}]" if ":" in where.host else where.host
    scheme = "https" if where.certificate else "http"
    return where.proxy or f"{scheme}://{host}:{listening.getsockname()[1]}"


def _configure(app: FastAPI, context: ssl.SSLContext | None) -> uvicorn.Config:
    """Say how an application is served."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # The middleware reads them, and only behind a stated proxy.
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        http=partial(HttpConnection, context=context),  # type: ignore[arg-type]
    )


def _make_tls_context(where: Endpoint) -> ssl.SSLContext | None:
    """Read the files for TLS, or refuse a certificate and a key that do not fit."""
    if where.certificate is None or where.key is None:
        return None
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(where.certificate, where.key)
    except OSError as error:
        raise InvalidInput(
            f"--tls-cert {where.certificate} and --tls-key {where.key} were given; they cannot be"
            f" used ({reason(error)}): name a certificate and its key"
        ) from error
    return context


def listen(where: Endpoint) -> socket.socket:
    """Return a socket that listens."""
    port = check_whole("port", where.port, 0, 65_535)
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    try:
        made = socket.create_server((where.host, port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidInput(
            f"the address {where.host} with the port {port} was given; no server can listen"
            f" there ({os.strerror(error.errno) if error.errno else error}): name another"
        ) from error
    # The connections inherit it; without it, a small answer waits for 40 ms.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
