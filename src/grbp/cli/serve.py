"""The command `serve`: the live advisor over HTTP."""

import argparse
import logging
from dataclasses import replace
from pathlib import Path

from grbp.cli.options import (
    STORE,
    add_store,
    parse_number,
    parse_verbosity,
    parse_whole,
    store_of,
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add where studies are, where to listen, and who may come in."""
    add_store(parser)
    add = parser.add_argument
    add("--create", action="store_true", help="make the store that is named if it is not there")
    add("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    add("--port", default="8000", help="the port; 0 lets the system choose (8000)")
    tls = "the certificate for TLS, if others are to reach it"
    add("--tls-cert", metavar="FILE", type=Path, help=tls)
    add("--tls-key", metavar="FILE", type=Path, help="the key of the certificate")
    add("--behind-proxy", metavar="URL", help="the address of a proxy that does the TLS")
    add(
        "--trust-proxy", metavar="ADDRESS", action="append", default=[],
        help="an address or network of that proxy (127.0.0.1 and ::1)",
    )  # fmt: skip
    add(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="a further name of the server",
    )  # fmt: skip
    add(
        "--results", metavar="FOLDER", type=Path, default=Path("results"),
        help="the results of `grbp reproduce`, for the explorer (results)",
    )  # fmt: skip
    add("--rate", default="1000", help="requests a second of one token or address (1000)")


def run(options: argparse.Namespace) -> None:
    """Serve until a signal comes."""
    from grbp.serve.logs import write_lines  # noqa: PLC0415
    from grbp.serve.server import Endpoint, make_settings, run as serve  # noqa: PLC0415 (extras)

    where = Endpoint(
        options.host, parse_whole(options.port), options.tls_cert, options.tls_key,
        options.behind_proxy, options.allow_host, options.trust_proxy,
    )  # fmt: skip
    settings = make_settings(where, parse_number(options.rate))
    settings = replace(settings, results=options.results)
    store, log = store_of(options), logging.getLogger("grbp")
    if "://" not in store and Path(f"{store}.tokens").exists():
        log.info("%s.tokens is not used any more: tokens are kept in the store itself", store)

    def say(url: str) -> None:
        print(url, flush=True)
        if "#" not in url:
            log.info(
                "whoever has no token any more gets one by"
                " `grbp token make --role admin --label ...`"
            )

    unnamed = options.store is None and store == STORE
    with write_lines(**parse_verbosity(options)):
        serve(store, where, settings, say, create=options.create or unnamed)
