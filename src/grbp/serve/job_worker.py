"""Do a long piece of work on a store in a process of its own, so that advice does not wait for it.

It answers what came of it, or the error.
"""

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from grbp._process import read_request, write_answer
from grbp.errors import GrbpError, InvalidInput
from grbp.live.endpoints import check_learner, check_name
from grbp.live.log_file import read_log
from grbp.live.schema import LEARNER, Event
from grbp.live.store import open_store
from grbp.live.store.base import Store
from grbp.live.study import Study
from grbp.live.transport import SENT
from grbp.serve.logs import describe_fault

_BUFFER: Final = 2**20


def do_job(store: Store, verb: str, study: str, file: Path) -> Any:
    """Do what is asked for; return what JSON can carry."""
    if verb == "backup":
        store.backup(file)
        return None
    if verb == "import":
        return _import_log(store, file)
    found = Study(store, study)
    if verb == "export":
        # It is sent on while it is written, in parts that are not small.
        with file.open("wb", _BUFFER) as lines:
            lines.writelines(found.export_lines())
        return None
    if verb in ("steps", "coded-steps"):
        found.export_steps(file, codes=verb == "coded-steps")
        return None
    checked = found.replay() if verb == "replay" else found.verify()
    return checked._asdict() | {"ok": checked.ok}


def _import_log(store: Store, file: Path) -> str:
    """Record a log that has arrived; return the name of its study."""
    try:
        name, events = read_log(file)
        check_name(name)
        for event in events:
            if event.kind in ("study", LEARNER):
                check_learner(_read_learner(event))
        return Study.import_(store, file).name
    except GrbpError as error:
        error.args = (str(error).replace(str(file), SENT),)
        raise


def _read_learner(event: Event) -> Any:
    """Return the learner that an event names."""
    try:
        asked = json.loads(event.request)
        return (asked if event.kind == LEARNER else asked["config"])["learner"]
    except (LookupError, TypeError, ValueError):
        raise InvalidInput(
            f"{SENT} is damaged: event {event.seq} does not configure a study"
        ) from None


def main() -> None:
    """Answer the request on standard input."""
    asked = read_request()
    try:
        with closing(open_store(asked["store"])) as store:
            result = do_job(store, asked["verb"], asked["study"], Path(asked["file"]))
    except GrbpError as error:
        write_answer(error=type(error).__name__, detail=str(error))
    except Exception as error:
        write_answer(fault=describe_fault(error))
    else:
        write_answer(result=result)


if __name__ == "__main__":
    main()
