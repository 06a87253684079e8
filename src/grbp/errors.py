"""Root every refusal of this package in one error, so that a caller can catch them all.

The tree::

    GrbpError
    ├── InvalidInput    a value is not allowed (also a ValueError)
    │   ├── InvalidRecords    a table of past cases breaks a rule
    │   ├── NotFound    there is no such study or case
    │   └── Conflict    what is asked contradicts what is recorded
    ├── ReadOnly        a live study cannot be written to, for a reason that it says
    ├── TooLarge        the question is well posed, but too large (also a ValueError)
    ├── MissingExtra    an optional dependency is not installed (also an ImportError)
    ├── WorkersFailed   the workers of a sweep died, or cannot play it
    └── CannotWrite     a file or folder cannot be written (also an OSError)
        └── Damaged     what a live study keeps was damaged or changed; restore a backup

Every message is one sentence: what was given, what is allowed, what to do.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from grbp._format import begin


class GrbpError(Exception):
    """The root of every error that this package raises on purpose.

    Examples
    --------
    >>> import grbp
    >>> try:
    ...     grbp.Problem(goal=4, p_c=0.45, p_f=0.3, start=[0.5, 0.5])
    ... except grbp.GrbpError as error:
    ...     print(error)
    2 start probabilities were given; a goal of 4 needs 3, one for every state from 1 to 3
    """


class InvalidInput(GrbpError, ValueError):
    """A value lies outside what is allowed.

    Examples
    --------
    >>> import grbp
    >>> grbp.Problem(goal=4, p_c=1.5, p_f=0.3)
    Traceback (most recent call last):
    grbp.errors.InvalidInput: p_c = 1.5 was given; it must be a number from 0 to 1
    """


_MOST_CAUSES: Final = 20
"""Causes that are listed in a message."""


class Irregularity(NamedTuple):
    """Something in a table of past cases that breaks a rule.

    Parameters
    ----------
    line : int
        The line of the file in which the row begins; of a data frame, the row, from 1.
    column : str
        The name of the column; empty where it is about the whole row or the whole table.
    rule : str
        The name of the rule.
    sentence : str
        What was found where, and what is allowed.
    """

    line: int
    column: str
    rule: str
    sentence: str


class InvalidRecords(InvalidInput):
    """A table of past cases breaks one rule or several.

    Parameters
    ----------
    problems : sequence of Irregularity
        The first problems, in the order of their lines: `line`, `column`, `rule`, `sentence`.
    total : int, optional
        The number of all problems, by default of those given.
    causes : sequence of str, optional
        A sentence for each cause of problems, by default those of the problems.

    Attributes
    ----------
    problems : tuple of Irregularity
    total : int
    causes : tuple of str

    Examples
    --------
    >>> import grbp
    >>> grbp.InvalidRecords([(7, "action", "action", "line 7, column action: 'punt' was given")])
    InvalidRecords("line 7, column action: 'punt' was given")
    """

    def __init__(
        self,
        problems: Sequence[Irregularity],
        total: int | None = None,
        causes: Sequence[str] = (),
    ) -> None:
        self.problems = tuple(Irregularity(*one) for one in problems)
        self.total = len(self.problems) if total is None else total
        self.causes = tuple(causes) or tuple(one.sentence for one in self.problems)
        sentences = self.causes[:_MOST_CAUSES]
        if len(self.causes) > 1:
            # One sentence a line; a shell that puts them into one line still shows sentences.
            more = len(self.causes) - len(sentences)
            sentences = (
                f"{self.total:,} things in the table break a rule",
                *(begin(sentence) for sentence in sentences),
                *([f"And {more:,} more of other kinds"] if more else []),
            )
        super().__init__(".\n".join(sentences))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.problems, self.total, self.causes)


class NotFound(InvalidInput):
    """There is no such study, case or step."""


class Conflict(InvalidInput):
    """What is asked contradicts what is recorded already."""


class ReadOnly(GrbpError):
    """A live study can only be read, for the reason that the sentence says."""


class TooLarge(GrbpError, ValueError):
    """A question is well posed, but too large to be answered by enumeration.

    Examples
    --------
    >>> import grbp
    >>> try:
    ...     grbp.policy_gaps(grbp.Problem(goal=30, p_c=0.45, p_f=0.3))
    ... except grbp.TooLarge as error:
    ...     print(str(error).partition(";")[0])
    a goal of 30 has 2^29 deterministic policies
    """


class MissingExtra(GrbpError, ImportError):
    """An optional dependency that the call needs is not installed."""


class WorkersFailed(GrbpError):
    """The workers of a sweep died repeatedly, or cannot play it."""


def how_to_install(extra: str) -> str:
    """Say how to install an extra of this package; from a checkout there is another way."""
    return f"pip install 'grbp[{extra}]' (in a checkout: pip install -e '.[{extra}]')"


def missing_extra(error: ImportError, package: str, extra: str) -> MissingExtra:
    """Return the error for a package that is not installed, or is and cannot be loaded."""
    if isinstance(error, ModuleNotFoundError) and error.name == package:
        return MissingExtra(f"{package} is not installed; {how_to_install(extra)} installs it")
    why = " ".join(str(error).split()).rstrip(".")
    return MissingExtra(f"{package} is installed but cannot be loaded ({why}); install it anew")


class CannotWrite(GrbpError, OSError):
    """A file or folder cannot be written."""


class Damaged(CannotWrite):
    """What a store keeps contradicts itself: it was damaged or changed, and is not written to."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question whether a known word was meant that is written much like this one."""
    from difflib import get_close_matches  # noqa: PLC0415 (only a mistake needs it)

    near = get_close_matches(word.lower(), list(known), 1)
    return f"did you mean {near[0]!r}?" if near else ""


def refuse_unknown_names(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse an argument that there is not, and ask for what may have been meant."""
    for name in given:
        if name not in known:
            meant = did_you_mean(name, known)
            raise TypeError(
                f"{what}() got an unexpected keyword argument {name!r}{meant and f'; {meant}'}"
            )
