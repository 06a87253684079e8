"""What is refused over HTTP and not at this machine: names and learners of studies."""

from grbp.errors import InvalidInput
from grbp.learners.registry import is_path


def check_name(name: object) -> None:
    """Refuse a study's name that cannot be part of an address."""
    if isinstance(name, str) and ("/" in name or name in (".", "..")):
        raise InvalidInput(f"name = {name!r} was given; over HTTP it must not have a /")


def check_learner(learner: object) -> None:
    """Refuse a learner that would be imported: only this machine decides what runs here."""
    if not isinstance(learner, str) or is_path(learner):
        raise InvalidInput(
            f"learner = {learner!r} was given; over HTTP it must be one of the package's, as"
            " `grbp learners` lists them"
        )
