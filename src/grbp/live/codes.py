"""The short codes of cases: a bed or a pseudonym, so that nobody takes one case for another.

A code is the one thing that may point to a person. So it stands beside the log, which is kept for
ever, and can be erased. Of the cases in progress, no two have the same code.
"""

from typing import Final

from grbp.errors import Conflict
from grbp.live.arguments import check_label
from grbp.live.calls import Call, find_case, refuse_archived
from grbp.live.config import load_config
from grbp.live.schema import OPEN, CaseRow, CodeRow, StudyRow
from grbp.live.store.base import Transaction
from grbp.worlds.labels import fold_word

CODE_LETTERS: Final = 16
"""How many characters a code has at most."""

CODE_HINT: Final = "a bed or a pseudonym, never the name of a person"
"""What a code is, wherever somebody is asked for it."""


def check_code(code: object) -> str:
    """Return a code, or refuse what cannot be one."""
    return check_label("code", code, CODE_LETTERS)


def set_code(tx: Transaction, call: Call, study: StudyRow, case: int, code: str | None) -> CaseRow:
    """Give a case a code, or erase it; nobody keeps the one before."""
    row = find_case(tx, study, case)
    if code is None:
        tx.drop_code(case)
        return row
    refuse_archived(study)
    new = CodeRow(case, code, fold_word(code), call.who, call.now)
    other = _find_other(tx, row, new)
    if other is not None:
        name = load_config(study.config).words.name_case(other)
        raise Conflict(f"code = {code!r} was given; it is the code of {name}, which is in progress")
    tx.put_code(new)
    return row


def refuse_shared_code(tx: Transaction, study: StudyRow, row: CaseRow) -> None:
    """Refuse to open a case again while another one in progress has its code."""
    own = tx.codes([row.case]).get(row.case)
    other = None if own is None else _find_other(tx, row, own)
    if own is not None and other is not None:
        name = load_config(study.config).words.name_case
        raise Conflict(
            f"{name(row.case)} was to be opened again; its code {own.code!r} is by now that of"
            f" {name(other)}, which is in progress: change one of the two codes first"
        )


def _find_other(tx: Transaction, row: CaseRow, code: CodeRow) -> int | None:
    """Return another case in progress with the code of one that is in progress."""
    if row.status == OPEN:
        for other in tx.find_codes(code.folded, 2):
            found = tx.case(other.case)
            if other.case != row.case and found is not None and found.status == OPEN:
                return other.case
    return None


def find_cases(tx: Transaction, study: StudyRow, code: str, limit: int) -> list[CaseRow]:
    """Return the cases with a code: those in progress first, then the last ones first."""
    found = tx.find_codes(fold_word(code), limit)
    return [find_case(tx, study, row.case) for row in found]


def read_codes(tx: Transaction, rows: list[CaseRow]) -> dict[int, str]:
    """Return the codes of some cases, by their numbers."""
    found = tx.codes([row.case for row in rows])
    return {case: row.code for case, row in found.items()}
