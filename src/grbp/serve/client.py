"""A study at a server, with the interface of one in a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self
from urllib.parse import quote

from grbp._io import check_writable, write_whole
from grbp.errors import InvalidInput
from grbp.learners.registry import LearnerLike
from grbp.live.advice import Advice, AnyBasis, Case, Status
from grbp.live.arguments import MOST_CASES, check_case, check_text
from grbp.live.codes import check_code
from grbp.live.config import check_groups, make_config
from grbp.live.export import read_log
from grbp.live.history import find_taken_back
from grbp.live.labels import dump_labels, find_labels
from grbp.live.models import choose_learner, is_by_state, name_learner
from grbp.live.schema import Event
from grbp.live.starts import DRAWN
from grbp.live.study import Study
from grbp.live.trajectory import Moment
from grbp.live.verify import Verified
from grbp.model.transition import Action
from grbp.model.validation import check_whole
from grbp.serve.http_errors import SENT
from grbp.serve.remote import (
    find_only_study,
    list_studies,
    read_basis,
    read_estimates,
    read_labels,
    read_status,
    read_verified,
    to_utc,
)
from grbp.serve.transport import Transport

_MOST_ROWS: Final = 1_000_000
_PAGE: Final = 1_000
_PART: Final = 2**16


class Client:
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
        try:
            self._actor = self._transport.actor()
            self._check_who(who)
            self.name = (
                find_only_study(self._transport) if name is None else check_text("name", name, 64)
            )
            self._path = f"/api/studies/{quote(self.name, '')}"
            status = self.status()
        except BaseException:
            self.close()
            raise
        self.goal, self.labels = status.goal, status.labels
        self.read_only = status.read_only

    @staticmethod
    def names(
        url: str, *, token: str | None = None, timeout: float = 60.0, archived: bool = False
    ) -> list[str]:
        """List the studies of a server by their names.

        Parameters
        ----------
        url : str
        token : str, optional
        timeout : float, default 60
            See `Client`.
        archived : bool, default False
            Whether to list also those that are archived.

        Returns
        -------
        list of str
        """
        with closing(Transport(url, token, timeout)) as transport:
            return list_studies(transport, archived=archived)

    @classmethod
    def create(  # noqa: PLR0913
        cls,
        url: str,
        name: str,
        goal: int,
        learner: LearnerLike | None = None,
        *,
        model: str | None = None,
        memory: float | str | None = None,
        groups: Sequence[str] | None = None,
        seed: int = 0,
        start: Any = DRAWN,
        cases: float | None = None,
        windows: Mapping[str, float] | None = None,
        shadow: bool = False,
        level: float = 0.95,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        case_name: str | Sequence[str] | None = None,
        **options: Any,
    ) -> "Client":
        """Make a study at a server; see `Study.create`, whose parameters these are.

        Parameters
        ----------
        url : str
        name : str
        goal : int
        learner : str, optional
            One of the package's: a server imports no learner that somebody else names.
        model : {"one", "state", "averaged"}, optional
        memory : float or "averaged", optional
        groups : sequence of str, optional
        seed : int, default 0
        start : "drawn", "first", Counters, StateCounters, Fit, Study or Client, default "drawn"
        cases : int, optional
        windows : dict, optional
        shadow : bool, default False
        level : float, default 0.95
        states, actions : sequence of str, optional
        case_name : str or pair of str, optional
        **options
            As for `Client`.

        Returns
        -------
        Client
        """
        chosen, named = choose_learner(learner, model, memory), check_groups(groups)
        labels = find_labels(start, goal, states, actions, case_name)
        if isinstance(start, Study | Client):
            start = start._count_records(by_state=is_by_state(name_learner(chosen)), groups=named)
        given = {"seed": seed, "start": start, "windows": windows, "shadow": shadow, "level": level}
        settings = given | {"groups": named, "labels": labels}
        config = make_config(name, goal, chosen, cases, settings)
        if not isinstance(learner, str | None):
            raise InvalidInput(f"learner = {learner!r} was given; over HTTP it must be a name")
        body = given | {"name": name, "goal": goal, "learner": learner, "model": model}
        body |= {"memory": memory, "groups": named, "cases": None if cases is None else int(cases)}
        body |= {"seed": config.seed, "start": config.start, "windows": dict(windows or {})}
        words = dump_labels(labels)
        body |= {"shadow": config.shadow, "states": words.get("states")}
        body |= {"actions": words.get("actions"), "case_name": words.get("case")}
        with _connect(url, options) as transport:
            made = transport.post("/api/studies", body)
        return cls(url, made["study"], **options)

    @classmethod
    def import_(cls, url: str, path: Path | str, **options: Any) -> "Client":
        """Record an exported study at a server; all of it or nothing.

        Parameters
        ----------
        url : str
        path : Path or str
            What `export` wrote.
        **options
            As for `Client`.

        Returns
        -------
        Client
        """
        read_log(Path(path))  # What is no export is not sent.
        with _connect(url, options) as transport, Path(path).open("rb") as file:
            try:
                made = transport.send("/api/import", file, Path(path).stat().st_size)
            except InvalidInput as error:
                error.args = (str(error).replace(SENT, str(path)),)
                raise
        return cls(url, made["study"], **options)

    def __repr__(self) -> str:
        note = f", read-only: {self.read_only}" if self.read_only else ""
        return f"<Client({self._transport.url!r}, {self.name!r}): goal {self.goal}{note}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def open_case(
        self,
        state: int | str,
        *,
        group: str | None = None,
        code: str | None = None,
        key: str | None = None,
        observed: datetime | str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Open a case, and decide how it is to be played; see `Study.open_case`."""
        body = {"state": state, "group": group, "code": code, "observed": to_utc(observed)}
        return self._record("/cases", body, key, who)

    def tell(  # noqa: PLR0913
        self,
        case: int,
        state: int | str,
        *,
        took: Action | str | None = None,
        why: str = "",
        step: int | None = None,
        key: str | None = None,
        observed: datetime | str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Record the state to which a step led; return the next advice; see `Study.tell`."""
        action = took.name.lower() if isinstance(took, Action) else took
        body = {"state": state, "took": action, "why": why, "step": step}
        body["observed"] = to_utc(observed)
        return self._record(f"/cases/{check_case(case)}/steps", body, key, who)

    def void(
        self,
        case: int,
        why: str,
        *,
        step: int | None = None,
        key: str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Take back the last entry of a case, with a reason; see `Study.void`."""
        return self._record(f"/cases/{check_case(case)}/void", {"why": why, "step": step}, key, who)

    def withdraw_case(
        self, case: int, why: str, *, key: str | None = None, who: str | None = None
    ) -> Advice:
        """Withdraw a case; see `Study.withdraw_case`."""
        return self._record(f"/cases/{check_case(case)}/withdraw", {"why": why}, key, who)

    def undo(self, case: int, *, key: str | None = None, who: str | None = None) -> Advice:
        """Take back one's own last entry of a case, within 15 minutes; see `Study.undo`."""
        return self._record(f"/cases/{check_case(case)}/undo", None, key, who)

    def set_code(self, case: int, code: str | None, *, who: str | None = None) -> Case:
        """Give a case a short code, change it, or erase it; see `Study.set_code`."""
        self._check_who(who)
        path = f"{self._path}/cases/{check_case(case)}/code"
        return Case(**self._transport.post(path, {"code": code}))

    def archive(self, why: str, *, who: str | None = None) -> Status:
        """Close the study for entries; see `Study.archive`."""
        return self._keep({"archived": True, "why": why}, who)

    def unarchive(self, why: str, *, who: str | None = None) -> Status:
        """Open an archived study for entries again; see `Study.unarchive`."""
        return self._keep({"archived": False, "why": why}, who)

    def _keep(self, body: dict[str, Any], who: str | None) -> Status:
        self._check_who(who)
        return read_status(self._transport.post(f"{self._path}/archive", body))

    def ask(self, case: int) -> Advice:
        """Say what to do next with a case; see `Study.ask`."""
        return self._read_advice(
            self._transport.get(f"{self._path}/cases/{check_case(case)}/advice", basis=0)
        )

    def case(self, case: int) -> Case:
        """Return a case; see `Study.case`."""
        return Case(**self._transport.get(f"{self._path}/cases/{check_case(case)}"))

    def basis(self, case: int, state: int | None = None) -> AnyBasis | None:
        """Give the reasons for what is advised in a state of a case; see `Study.basis`."""
        advice = self.ask(case)
        at = advice.state if state is None else state
        path = f"{self._path}/cases/{advice.case}/basis"
        return None if advice.shadow else read_basis(self._transport.get(path, state=at))

    def trajectory(self, points: int = 100) -> list[Moment]:
        """Return what was known after some events; see `Study.trajectory`."""
        items = self._transport.get(f"{self._path}/path", points=points)["items"]
        return [Moment(**read_estimates(one)) for one in items]

    def cases(self, after: int = 0, limit: int = 100, status: str | None = None) -> list[Case]:
        """List cases in the order of their numbers; see `Study.cases`."""
        return [Case(**one) for one in self._list_rows("cases", after, limit, status=status)]

    def find_cases(self, code: str, limit: int = 100) -> list[Case]:
        """Find the cases with a code; see `Study.find_cases`."""
        wanted, most = check_code(code), check_whole("limit", limit, 1, _MOST_ROWS)
        path = f"{self._path}/cases"
        found = self._transport.get(path, code=wanted, limit=min(most, _PAGE))
        return [Case(**one) for one in found["items"]]

    def log(self, after: int = 0, limit: int = 100, case: int | None = None) -> list[Event]:
        """List events in the order in which they were recorded; see `Study.log`."""
        number = None if case is None else check_case(case)
        return [Event(**one) for one in self._list_rows("events", after, limit, case=number)]

    def find_taken_back(self, events: Iterable[Event]) -> set[int]:
        """Find out which events were taken back; see `Study.find_taken_back`."""
        cases = {event.case for event in events if event.case}
        return set().union(*(find_taken_back(self.log(0, _MOST_ROWS, one)) for one in cases))

    def status(self) -> Status:
        """Say how the study stands; see `Study.status`."""
        return read_status(self._transport.get(self._path))

    def _count_records(self, *, by_state: bool, groups: Sequence[str] | None = None) -> Any:
        """Count the steps that stand in the log and count by now, for a study to begin with."""
        with TemporaryDirectory() as folder:
            log = self.export(Path(folder) / "log")
            with Study.import_("memory", log) as study:
                return study._count_records(by_state=by_state, groups=groups)

    def verify(self) -> Verified:
        """Check the whole study; see `Study.verify`."""
        return read_verified(self._transport.post(f"{self._path}/verify"))

    def replay(self) -> Verified:
        """Check the whole study, and make every decision again; see `Study.replay`."""
        return read_verified(self._transport.post(f"{self._path}/replay"))

    def export(self, path: Path | str) -> Path:
        """Write the log to a file; see `Study.export`."""
        return write_whole(Path(path), self.export_lines(), 0o600)

    def export_lines(self) -> Iterator[bytes]:
        """Yield the lines that `export` writes; see `Study.export_lines`."""
        with self._transport.stream(f"{self._path}/export") as answer:
            while line := answer.readline():
                yield line

    def export_steps(self, path: Path | str, *, codes: bool = False) -> Path:
        """Write all steps to a CSV file; see `Study.export_steps`."""
        asked = f"{self._path}/steps.csv{'?codes=true' if codes else ''}"
        return write_whole(Path(path), self._download(asked), 0o600)

    def backup(self, path: Path | str) -> Path:
        """Copy all studies of the server's store to a new SQLite file; see `Study.backup`."""
        check_writable(Path(path))
        if Path(path).exists():
            raise InvalidInput(
                f"a copy to {path} was asked for; it exists already: name a new file"
            )
        return write_whole(Path(path), self._download("/api/backup"), 0o600)

    def _download(self, path: str) -> Iterator[bytes]:
        with self._transport.stream(path) as answer:
            while part := answer.read(_PART):
                yield part

    def _list_rows(
        self, kind: str, after: int, limit: int, **query: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield rows page by page."""
        last: int | None = check_whole("after", after, 0, MOST_CASES)
        left = check_whole("limit", limit, 1, _MOST_ROWS)
        while left and last is not None:
            page = self._transport.get(
                f"{self._path}/{kind}", after=last, limit=min(left, _PAGE), **query
            )
            yield from page["items"]
            left, last = left - len(page["items"]), page["next"]

    def _record(
        self, path: str, body: dict[str, Any] | None, key: str | None, who: str | None
    ) -> Advice:
        """Record something, and return the advice that follows."""
        self._check_who(who)
        key = None if key is None else check_text("key", key, 200)
        return self._read_advice(self._transport.post(f"{self._path}{path}?basis=0", body, key))

    def _read_advice(self, said: dict[str, Any]) -> Advice:
        """Return advice whose reasons are fetched when somebody asks for them."""
        action = None if said["action"] is None else Action[said["action"].upper()]
        path, state = f"{self._path}/cases/{said['case']}/basis", said["state"]
        del said["basis"]
        warnings = None if said["warnings"] is None else tuple(said["warnings"])
        labels = read_labels(said["labels"])
        return Advice(
            **(said | {"action": action, "warnings": warnings, "labels": labels}),
            _explain=lambda: read_basis(self._transport.get(path, state=state)),
        )

    def _check_who(self, who: str | None) -> None:
        """Refuse another name than that of the token, which counts."""
        if who is not None and who != self._actor:
            raise InvalidInput(
                f"who = {who!r} was given; over HTTP the token says who records, which is"
                f" {self._actor!r} here"
            )


def _connect(url: str, options: dict[str, Any]) -> closing[Transport]:
    """Return a way to a server at which there is no study yet."""
    return closing(Transport(url, options.get("token"), options.get("timeout", 60.0)))
