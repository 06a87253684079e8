"""The command `serve`: the live advisor over HTTP, and the tokens that it lets in."""

import argparse
import logging
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from grbp._format import join_words
from grbp.cli.options import (
    STORE,
    add_commands,
    add_common,
    parse_number,
    parse_whole,
    store_of,
)
from grbp.cli.printing import answer
from grbp.live.endpoints import ROLES
from grbp.live.store import open_store
from grbp.serve.tokens import DAYS, Token, Tokens


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add where studies are, where to listen, and who may come in."""
    add_common(parser, "store")
    add = parser.add_argument
    add("--create", action="store_true", help="make the store that is named if it is not there")
    add("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    port = "the port; 0 lets the system choose (8000)"
    add("--port", type=parse_whole, default=8000, help=port)
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
    rate = "requests a second of one token or address (1000)"
    add("--rate", type=parse_number, default=1000.0, help=rate)
    add_command = add_commands(parser, "VERB", needed=False)
    _add_tokens(add_command("token", "who may use a server: tokens made, listed, revoked"))
    parser.usage = "grbp serve [options]\n       grbp serve token VERB [options]"


def _add_tokens(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of tokens."""
    add_command = add_commands(parser, "VERB")
    make = add_command("make", "make a token, which is shown once")
    label = "who records with it: a role or a pseudonym, never a name"
    make.add_argument("--label", required=True, help=label)
    roles = f"what it lets one do: {join_words(ROLES, 'or')}"
    make.add_argument("--role", required=True, choices=ROLES, metavar="ROLE", help=roles)
    days = f"how many days it is valid ({DAYS:g})"
    make.add_argument("--days", type=parse_number, default=DAYS, help=days)
    listed = add_command("list", "list all tokens, without the secret parts")
    revoke = add_command("revoke", "end a token; servers that run refuse it within a second")
    revoke.add_argument("id", metavar="ID", help="its id, as list prints it")
    for verb, do in ((make, _make), (listed, _list), (revoke, _revoke)):
        add_common(verb, "store", default=argparse.SUPPRESS)  # It may also stand before the verb.
        add_common(verb, *(["json"] if verb is listed else ["who", "json"]))
        verb.set_defaults(verb=do)


def run(options: argparse.Namespace) -> None:
    """Serve until a signal comes, or run a verb on the tokens of a store that is there."""
    verb: Callable[[argparse.Namespace, Tokens], None] | None = getattr(options, "verb", None)
    if verb is None:
        _serve(options)
        return
    with closing(open_store(store_of(options))) as store:
        verb(options, Tokens(store))


def _serve(options: argparse.Namespace) -> None:
    """Serve until a signal comes."""
    from grbp.serve.logs import write_lines  # noqa: PLC0415
    from grbp.serve.server import Endpoint, make_settings, run as serve  # noqa: PLC0415 (extras)

    where = Endpoint(
        options.host, options.port, options.tls_cert, options.tls_key,
        options.behind_proxy, options.allow_host, options.trust_proxy,
    )  # fmt: skip
    settings = replace(make_settings(where, options.rate), results=options.results)
    store, log = store_of(options), logging.getLogger("grbp")
    if "://" not in store and Path(f"{store}.tokens").exists():
        log.info("%s.tokens is not used any more: tokens are kept in the store itself", store)

    def say(url: str) -> None:
        print(url, flush=True)
        if "#" not in url:
            log.info(
                "whoever has no token any more gets one by"
                " `grbp serve token make --role admin --label ...`"
            )

    unnamed = options.store is None and store == STORE
    with write_lines(quiet=options.quiet, verbose=options.verbose):
        serve(store, where, settings, say, create=options.create or unnamed)


def _make(options: argparse.Namespace, tokens: Tokens) -> None:
    """Make a token."""
    token, made = tokens.make(options.label, options.role, options.days, who=options.who)
    answer(options, {**made.to_dict(), "token": token}, lambda: print(token))


def _list(options: argparse.Namespace, tokens: Tokens) -> None:
    """List all tokens."""
    found = tokens.all()
    lines = [
        f"{one.id}  {one.role:<12}  {_end(one)}  {one.label}  (made by {one.made_by})"
        for one in found
    ]
    listed = {"items": [one.to_dict() for one in found]}
    answer(options, listed, lambda: print(*lines or ["There is no token yet."], sep="\n"))


def _end(one: Token) -> str:
    """Say when a token ends, or that it did and by whom."""
    if one.revoked:
        return f"revoked {one.revoked[:10]} by {one.revoked_by}"
    return f"until   {one.expires[:10]}"


def _revoke(options: argparse.Namespace, tokens: Tokens) -> None:
    """Revoke a token."""
    one = tokens.revoke(options.id, who=options.who)
    done = f"The token {one.id} of {one.label} is revoked."
    answer(options, one.to_dict, lambda: print(done))
