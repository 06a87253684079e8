"""The command `token`: who may use a server, made, listed and revoked."""

import argparse
from contextlib import closing

from grbp.cli.options import add_json, add_store, parse_number, store_of
from grbp.cli.printing import print_json
from grbp.live.store import open_store
from grbp.serve.tokens import DAYS, ROLES, Token, Tokens


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
    revoke = verbs.add_parser(
        "revoke", help="end a token; servers that run refuse it within a second"
    )
    revoke.add_argument("id", metavar="ID", help="its id, as list prints it")
    revoke.set_defaults(verb=_revoke)
    for verb in (make, listed, revoke):
        add_store(verb)
        add_json(verb)
    for verb in (make, revoke):
        verb.add_argument("--who", help="who does it (the user)")


def run(options: argparse.Namespace) -> None:
    """Run a verb on the tokens of a store that is there."""
    with closing(open_store(store_of(options))) as store:
        options.verb(options, Tokens(store))


def _make(options: argparse.Namespace, tokens: Tokens) -> None:
    """Make a token."""
    days = parse_number(options.days)
    token, made = tokens.make(options.label, options.role, days, who=options.who)
    if options.json:
        print_json({**made.to_dict(), "token": token})
    else:
        print(token)


def _list(options: argparse.Namespace, tokens: Tokens) -> None:
    """List all tokens."""
    found = tokens.all()
    if options.json:
        print_json({"items": [one.to_dict() for one in found]})
        return
    for one in found:
        print(f"{one.id}  {one.role:<12}  {_end(one)}  {one.label}  (made by {one.made_by})")
    if not found:
        print("There is no token yet.")


def _end(one: Token) -> str:
    """Say when a token ends, or that it did and by whom."""
    if one.revoked:
        return f"revoked {one.revoked[:10]} by {one.revoked_by}"
    return f"until   {one.expires[:10]}"


def _revoke(options: argparse.Namespace, tokens: Tokens) -> None:
    """Revoke a token."""
    one = tokens.revoke(options.id, who=options.who)
    if options.json:
        print_json(one.to_dict())
    else:
        print(f"The token {one.id} of {one.label} is revoked.")
