"""Clients that behave badly: silent, half-finished, or not reading."""

import socket
import time
from collections.abc import Callable
from typing import Any

from serving import Serving


def connect(
    server: Serving, said: str = "", receive: int | None = None, source: str = "127.0.0.1"
) -> socket.socket:
    """Connect from an address, and say something; `{host}` stands for the server's address."""
    host, port = server.url.removeprefix("http://").split(":")
    link = socket.socket()
    if receive is not None:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    link.bind((source, 0))  # All of 127.0.0.0/8 is this machine.
    link.settimeout(30)
    link.connect((host, int(port)))
    link.sendall(said.format(host=f"{host}:{port}").replace("\n", "\r\n").encode())
    return link


def is_closed(link: socket.socket) -> bool:
    """Return whether the other side has closed a connection by now; what it said is read."""
    link.setblocking(False)
    try:
        while link.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    else:
        return True
    finally:
        link.settimeout(30)


def wait_until(holds: Callable[[], Any], seconds: float = 30.0) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it does not hold"
        time.sleep(0.01)
