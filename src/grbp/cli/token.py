"""The command `token`: who may use a server, made, listed and revoked."""

import argparse
from pathlib import Path

from grbp.cli.live import add_store, store_of
from grbp.cli.options import add_json, parse_number
from grbp.cli.printing import print_json
from grbp.serve.tokens import DAYS, ROLES, Token, Tokens


def add_tokens(parser: argparse.ArgumentParser) -> None:
    """Add the option for where tokens are."""
    parser.add_argument(
        "--tokens", metavar="FILE", type=Path, help="the file with the tokens (beside the store)"
    )


def tokens_of(options: argparse.Namespace) -> Tokens:
    """Return the tokens that the options name."""
    store = store_of(options)
    beside = "grbp-live.tokens" if "://" in store else f"{store}.tokens"
    return Tokens(options.tokens or Path(beside))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    make = verbs.add_parser("make", help="make a token, which is shown once")
    make.add_argument(
        "--label", required=True, help="who records with it: a role or a pseudonym, never a name"
    )
    make.add_argument("--role", required=True, choices=ROLES, help=f"one of {', '.join(ROLES)}")
    make.add_argument("--days", default=f"{DAYS:g}", help=f"how many days it is valid ({DAYS:g})")
    make.set_defaults(verb=_make)
    listed = verbs.add_parser("list", help="list all tokens, without the secret parts")
    listed.set_defaults(verb=_list)
    revoke = verbs.add_parser("revoke", help="end a token; a running server refuses it at once")
    revoke.add_argument("id", metavar="ID", help="its id, as list prints it")
    revoke.set_defaults(verb=_revoke)
    for verb in (make, listed, revoke):
        add_store(verb)
        add_tokens(verb)
        add_json(verb)


def run(options: argparse.Namespace) -> None:
    """Run a verb."""
    options.verb(options)


def _make(options: argparse.Namespace) -> None:
    """Make a token."""
    token, made = tokens_of(options).make(options.label, options.role, parse_number(options.days))
    if options.json:
        print_json({**made.to_dict(), "token": token})
    else:
        print(token)


def _list(options: argparse.Namespace) -> None:
    """List all tokens."""
    found = tokens_of(options)
    if options.json:
        print_json({"items": [one.to_dict() for one in found.all()]})
        return
    for one in found.all():
        print(f"{one.id}  {one.role:<12}  {_end(one)}  {one.label}")
    if not found.were_made:
        print("There is no token yet.")


def _end(one: Token) -> str:
    """Say when a token ends, or that it did."""
    return f"revoked {one.revoked[:10]}" if one.revoked else f"until   {one.expires[:10]}"


def _revoke(options: argparse.Namespace) -> None:
    """Revoke a token."""
    one = tokens_of(options).revoke(options.id)
    if options.json:
        print_json(one.to_dict())
    else:
        print(f"The token {one.id} of {one.label} is revoked.")
