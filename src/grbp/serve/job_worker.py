"""Do a long piece of work on a store in a process of its own, so that advice does not wait for it.

The request is one line of JSON on standard input, where no list of processes shows an address or
its password. The answer is one line of JSON on standard output: what came of it, or the error. When
standard input is closed, the process ends: the server is gone, or whoever asked.
"""

import json
import logging
import os
import sys
import threading
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from grbp.errors import GrbpError, InvalidInput
from grbp.live.log_file import read_log
from grbp.live.schema import LEARNER, Event
from grbp.live.store import open_store
from grbp.live.store.base import Store
from grbp.live.study import Study
from grbp.serve.checks import check_learner, check_name
from grbp.serve.http_errors import SENT
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
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    logging.getLogger("grbp").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    try:
        with closing(open_store(asked["store"])) as store:
            answer = {"result": do_job(store, asked["verb"], asked["study"], Path(asked["file"]))}
    except GrbpError as error:
        answer = {"error": type(error).__name__, "detail": str(error)}
    except Exception as error:
        answer = {"fault": describe_fault(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _end_with_input() -> None:
    """End this process when standard input is closed."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
