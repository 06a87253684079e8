"""The one tree of errors this package raises for a user's mistake.

    GrbpError
    ├── InvalidInput    a value that is not allowed (also a ValueError)
    ├── TooLarge        allowed, but more than can be enumerated (also a ValueError)
    ├── MissingExtra    an optional dependency is not installed (also an ImportError)
    └── CannotWrite     a file or folder cannot be written (also an OSError)

Every message is one sentence: what was given, what is allowed, what to do.
"""


class GrbpError(Exception):
    """The root of every error raised on purpose by this package."""


class InvalidInput(GrbpError, ValueError):
    """A value outside what is allowed."""


class TooLarge(GrbpError, ValueError):
    """A question that is well posed but too large to answer by enumeration."""


class MissingExtra(GrbpError, ImportError):
    """An optional dependency that the call needs is not installed."""


class CannotWrite(GrbpError, OSError):
    """A file or folder that cannot be written."""
