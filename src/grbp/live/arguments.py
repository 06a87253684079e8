"""Check what a caller of a study gives: texts, names, times, and the numbers of cases."""

import getpass
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from grbp.errors import InvalidInput
from grbp.worlds.validation import check_whole

MOST_CASES: Final = 10**12


_TURNING: Final = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
"""The characters that change the direction of what stands around them."""


def check_text(name: str, value: object, most: int) -> str:
    """Return a text in its one form, or refuse what is empty, too long or not to be printed.

    What joins letters or marks their direction is allowed: some scripts need it.
    """
    text = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    # Reject control characters, lone surrogates and line separators.
    plain = all(unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp") for letter in text)
    if not plain or not 0 < len(text) <= most or text != text.strip():
        raise InvalidInput(
            f"{name} = {value!r} was given; it must be one line of 1 to {most:,} characters,"
            " without spaces at its ends"
        )
    _refuse_letters(name, value, [letter for letter in text if letter in _TURNING])
    return text


def check_label(name: str, value: object, most: int) -> str:
    """Return a text by which something or somebody is known: all of it must be seen."""
    text = check_text(name, value, most)
    unseen = [one for one in text if unicodedata.category(one) in ("Cf", "Co", "Cn")]
    _refuse_letters(name, value, unseen)
    return text


def _refuse_letters(name: str, value: object, letters: list[str]) -> None:
    """Refuse a text with letters that nobody sees, of which two texts could look the same."""
    for letter in letters:
        known = unicodedata.name(letter, "which has no name").lower()
        raise InvalidInput(
            f"{name} = {value!a} was given; it has the character U+{ord(letter):04X}"
            f" ({known}), which is not seen: leave it out"
        )


def check_reason(why: object) -> str:
    """Return a reason, or refuse what is none."""
    return check_text("why", why, 1_000)


def check_recorder(who: str | None) -> str:
    """Return who records: the one that is named, or the user."""
    if who is not None:
        return check_label("who", who, 200)
    with suppress(OSError, KeyError, ImportError):
        return check_label("who", getpass.getuser(), 200)
    return "unknown"


def check_case(case: object) -> int:
    """Return the number of a case, or refuse what is none."""
    return check_whole("case", case, 1, MOST_CASES)


def check_observed(given: object) -> str:
    """Return when something was observed, or refuse what is not a time."""
    with suppress(ValueError):  # The first and last years have no other zones.
        time = datetime.fromisoformat(given) if isinstance(given, str) else given
        if isinstance(time, datetime):
            return format_time(time)
    raise InvalidInput(
        f"observed = {given!s} was given; it must be a time, such as 2026-11-16T08:30"
    )


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def format_time(time: datetime, to: str = "microseconds") -> str:
    """Write a time in UTC, so that texts sort as times do."""
    try:
        utc = time if time.tzinfo is UTC else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"the time {time} was given; in UTC it is not within the years 1 to 9999: correct the"
            " clock"
        ) from None
    return utc.isoformat(timespec=to)
