"""A study at a server, with the interface of one in a file."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, ClassVar, Final, Self, get_args, get_origin, get_type_hints
from urllib.parse import quote

from grbp._io import check_writable, write_whole
from grbp.errors import InvalidInput, NotFound
from grbp.live.advice import Advice, AnyBasis
from grbp.live.arguments import check_text
from grbp.live.config import Config
from grbp.live.endpoints import ENDPOINTS, check_learner
from grbp.live.history import find_taken_back
from grbp.live.parameters import MOST_ROWS, PAGE
from grbp.live.queries import describe_studies
from grbp.live.schema import Event
from grbp.live.study import Study
from grbp.live.transport import SENT, Transport
from grbp.live.verbs import Verbs, answer_of
from grbp.worlds.transition import Action

_PART: Final = 2**16


class Client(Verbs):
    """A study at a server that `grbp serve` runs, used as a `Study` is.

    Parameters
    ----------
    url : str
        The address of the server, as it prints it: ``"http://127.0.0.1:8000"``. The one that it
        prints at its first start, which ends with ``/sign-in#token=...``, carries a token.
    name : str, optional
        The name of the study; it can be left out where there is one alone.
    token : str, optional
        A token, if the address carries none. It also says who records.
    who : str, optional
        Who is expected to record; refused if the token says somebody else.
    timeout : float, default 60
        How many seconds to wait for an answer.

    Attributes
    ----------
    name : str
    goal : int
    read_only : str or None
        Why the study cannot be written to, if a check failed when it was opened.

    Raises
    ------
    NotFound
        If there is no such study.
    InvalidInput
        If the token is refused.
    CannotWrite
        If the server cannot be reached.

    See Also
    --------
    Study : The same without a server, with what each method does.

    Notes
    -----
    Threads may share a client. If a connection breaks, whatever only reads, or has an idempotency
    key, is sent once more; anything else raises `CannotWrite`, and may be stored or not.

    Examples
    --------
    >>> import grbp
    >>> grbp.Client("ftp://ward.example.org", "ward")
    Traceback (most recent call last):
    grbp.errors.InvalidInput: the address 'ftp://ward.example.org' was given; it must be one such \
as https://ward.example.org or http://127.0.0.1:8000
    """

    read_only: str | None = None

    def __init__(
        self,
        url: str,
        name: str | None = None,
        *,
        token: str | None = None,
        who: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._transport = Transport(url, token, timeout)
        self._where = self._transport.url
        try:
            self._actor = self._transport.actor()
            self._check_who(who)
            self.name = self._find_only_study() if name is None else check_text("name", name, 64)
            status = self.status()
        except BaseException:
            self.close()
            raise
        self.goal, self.labels = status.goal, status.labels
        self.read_only = status.read_only

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    @classmethod
    def _names(  # type: ignore[override]
        cls, store: str, *, archived: bool, token: str | None = None, timeout: float = 60.0
    ) -> list[str]:
        with closing(Transport(store, token, timeout)) as transport:
            return _list_studies(transport, archived=archived)

    @classmethod
    def _make(
        cls, store: str, config: Config, given: dict[str, Any], options: dict[str, Any]
    ) -> Self:
        if not isinstance(given["learner"], str):
            raise InvalidInput(
                f"learner = {given['learner']!r} was given; over HTTP it must be a name"
            )
        words = config.labels
        names = ("name", "goal", "groups", "seed", "start", "shadow", "level")
        body = given | {name: getattr(config, name) for name in names}
        body |= {"windows": dict(given["windows"] or {}), "states": words.get("states")}
        body |= {"actions": words.get("actions"), "case_name": words.get("case")}
        with _connect(store, options) as transport:
            made = transport.post(ENDPOINTS["create"].path, body)
        return cls(store, made["study"], **options)

    @classmethod
    def _import(cls, store: str, path: Path, options: dict[str, Any]) -> Self:
        with _connect(store, options) as transport, path.open("rb") as file:
            try:
                made = transport.send("/api/import", file, path.stat().st_size)
            except InvalidInput as error:
                error.args = (str(error).replace(SENT, str(path)),)
                raise
        return cls(store, made["study"], **options)

    def _count_records(self, *, by_state: bool = False, groups: Sequence[str] | None = None) -> Any:
        with TemporaryDirectory() as folder:
            log = self.export(Path(folder) / "log")
            with Study.import_("memory", log) as study:
                return study._count_records(by_state=by_state, groups=groups)

    def _carry_out(self, verb: str, given: dict[str, Any]) -> Any:
        """Carry a verb out at the server: in a way of its own if it has one, else by its route."""
        if verb in _OWN:
            return _OWN[verb](self, **given)
        if "learner" in given:
            check_learner(given["learner"])
        if "after" in given:
            return self._list_rows(verb, **given)
        return self._read(verb, self._request(verb, given))

    def _request(self, verb: str, given: dict[str, Any]) -> Any:
        """Send a verb to its route: the key in a header, and in the path what stands there."""
        entry, path = ENDPOINTS[verb], self._find_path(verb, given.get("case"))
        self._check_who(given.get("who"))
        beside = {"who", "key"} | ({"case"} if "{case}" in entry.path else set())
        sent = {name: value for name, value in given.items() if name not in beside} | {
            **entry.fixed
        }
        if "limit" in sent:
            sent["limit"] = min(sent["limit"], PAGE)
        if entry.method == "GET":
            return self._transport.get(path, **sent)
        return self._transport.post(path, sent or None, given.get("key"))

    def _find_path(self, verb: str, case: int | None = None) -> str:
        """Return the path of a verb's route; reasons are fetched when somebody asks for them."""
        path = ENDPOINTS[verb].path.format(study=quote(self.name, ""), case=case)
        return f"{path}?basis=0" if answer_of(verb) is Advice else path

    def _read(self, verb: str, said: Any) -> Any:
        """Read what the server answers, as the verb gives it; advice fetches its reasons later."""
        answer = answer_of(verb)
        if answer is not Advice:
            return _read_as(answer, said.get("items", said))
        explain = partial(self._fetch_basis, said["case"], said["state"])
        return Advice(**_read_fields(Advice, said), _explain=explain)

    def _list_rows(self, verb: str, after: int, limit: int, **given: Any) -> list[Any]:
        """List rows, page by page."""
        rows: list[Any] = []
        last: int | None = after
        while len(rows) < limit and last is not None:
            asked = given | {"after": last, "limit": limit - len(rows)}
            page = self._request(verb, asked)
            rows, last = rows + self._read(verb, page), page["next"]
        return rows

    def _find_basis(self, case: int, state: int | None) -> AnyBasis | None:
        """Give the reasons for what is advised, in the present state if none is named."""
        advice = self.ask(case)
        at = advice.state if state is None else state
        return None if advice.shadow else self._fetch_basis(case, at)

    def _fetch_basis(self, case: int, state: int) -> AnyBasis:
        basis: AnyBasis = self._read(
            "basis", self._request("basis", {"case": case, "state": state})
        )
        return basis

    def _find_taken_back(self, events: Iterable[Event]) -> set[int]:
        cases = {event.case for event in events if event.case}
        return set().union(*(find_taken_back(self.log(0, MOST_ROWS, one)) for one in cases))

    def _stream_lines(self) -> Iterator[bytes]:
        with self._transport.stream(self._find_path("export_lines")) as answer:
            while line := answer.readline():
                yield line

    def _save_steps(self, path: Path | str, *, codes: bool) -> Path:
        asked = self._find_path("export_steps") + ("?codes=true" if codes else "")
        return write_whole(Path(path), self._download(asked), 0o600)

    def _save_backup(self, path: Path | str) -> Path:
        check_writable(Path(path))
        if Path(path).exists():
            raise InvalidInput(
                f"a copy to {path} was asked for; it exists already: name a new file"
            )
        return write_whole(Path(path), self._download(self._find_path("backup")), 0o600)

    def _download(self, path: str) -> Iterator[bytes]:
        with self._transport.stream(path) as answer:
            while part := answer.read(_PART):
                yield part

    def _find_only_study(self) -> str:
        """Return the name of the only study at the server, or of the only one in use."""
        names = _list_studies(self._transport) or _list_studies(self._transport, archived=True)
        if len(names) != 1:
            raise NotFound(f"no study was named for {self._where}; {describe_studies(names)}")
        return names[0]

    def _check_who(self, who: str | None) -> None:
        """Refuse another name than that of the token, which counts."""
        if who is not None and who != self._actor:
            raise InvalidInput(
                f"who = {who!r} was given; over HTTP the token says who records, which is"
                f" {self._actor!r} here"
            )


_OWN: Final[dict[str, Callable[..., Any]]] = {
    "basis": Client._find_basis,
    "find_taken_back": Client._find_taken_back,
    "export_lines": Client._stream_lines,
    "export_steps": Client._save_steps,
    "backup": Client._save_backup,
}
"""The verbs that are more than one request, or whose answer is a file."""


def _connect(url: str, options: dict[str, Any]) -> closing[Transport]:
    """Return a way to a server at which there is no study yet."""
    return closing(Transport(url, options.get("token"), options.get("timeout", 60.0)))


def _list_studies(transport: Transport, *, archived: bool = False) -> list[str]:
    """List the studies of a server."""
    names: list[str] = []
    after: str | None = ""
    while after is not None:
        page = transport.get("/api/studies", after=after, limit=PAGE, all=int(archived))
        names, after = names + page["items"], page["next"]
    return names


@cache
def _fields(cls: type) -> dict[str, Any]:
    """Return the types of the fields of a class."""
    hints = get_type_hints(cls)
    return {name: kind for name, kind in hints.items() if get_origin(kind) is not ClassVar}


def _read_as(kind: Any, said: Any) -> Any:
    """Read a value of some type from plain JSON, by the types of its fields.

    Shadow mode hides some parts, which are null; so is a number of an estimate that nobody knows.
    """
    if said is None:
        return math.nan if kind is float else None
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if _has_fields(one, said))
    if kind is Action:
        return Action[said.upper()]
    if isinstance(said, list):
        read = [_read_as(get_args(kind)[0], one) for one in said]
        return read if get_origin(kind) is list else tuple(read)
    if get_origin(kind) is tuple:  # First estimates have names in JSON.
        return tuple(said.values())
    if isinstance(said, dict) and get_origin(kind) is dict:
        return {name: _read_as(get_args(kind)[1], one) for name, one in said.items()}
    return kind(**_read_fields(kind, said)) if isinstance(said, dict) else said


def _read_fields(cls: type, said: dict[str, Any]) -> dict[str, Any]:
    """Read the fields of a class from a JSON object, which may say more than they do."""
    kinds = _fields(cls)
    return {name: _read_as(kinds[name], one) for name, one in said.items() if name in kinds}


def _has_fields(kind: Any, said: Any) -> bool:
    """Return whether a JSON object has the fields of a class; anything else has them all."""
    return not (isinstance(said, dict) and isinstance(kind, type)) or (
        _fields(kind).keys() <= said.keys()
    )
