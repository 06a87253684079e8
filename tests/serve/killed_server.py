"""A server that is killed at seeded moments under several clients, and a witness of its answers.

Each client is a thread with a clerk of its own. What a client was told is compared with the file
after every kill; then another server takes the place of the killed one, and each client first puts
again the last request that had an answer and the one that had none.
"""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from grbp import CannotWrite, Client, Study
from grbp.cli import main
from grbp.live.store import open_store
from grbp.serve import server as _server  # noqa: F401 (loaded before anything is forked)
from grbp.serve.tokens import Tokens

sys.path.append(str(Path(__file__).parents[1] / "live"))
from clerk import Answer, Clerk, Request, ask, repeats
from killing import STUDIES, Cycle, watched

CLIENTS = 4


class Caller:
    """A client with a clerk, who remembers what was answered and what was not."""

    def __init__(self, name: str, study: str) -> None:
        self.clerk, self.study = Clerk(name), study
        self.unanswered: Request | None = None
        self.answered: tuple[Request, Answer] | None = None
        self.acknowledged: list[tuple[str, Answer]] = []
        self.wrong: list[str] = []

    def begin(self, url: str, cycle: int) -> threading.Thread:
        """Start to ask a server, until it is gone."""
        self.clerk.sit_down(cycle)
        self.acknowledged, self.wrong = [], []
        thread = threading.Thread(target=self._work, args=(url,))
        thread.start()
        return thread

    def _work(self, url: str) -> None:
        try:
            with Client(url, self.study, timeout=30) as client:
                self._ask(client)
        except CannotWrite:
            return  # The server was killed.
        except Exception as error:
            self.wrong.append(f"{self.clerk.name}: {type(error).__name__}: {error}")

    def _ask(self, client: Client) -> None:
        # A client has the interface of a study.
        study: Study = client  # type: ignore[assignment]
        if self.answered is not None and not repeats(study, *self.answered):
            self.wrong.append(f"another answer was given to {self.answered[0]}")
        again = self.unanswered
        while True:
            self.unanswered, again = again or self.clerk.request(), None
            answer = ask(study, self.unanswered)
            self.clerk.learn(answer)
            self.answered = self.unanswered, answer
            self.acknowledged.append((self.unanswered.arguments["key"], answer))
            self.unanswered = None


def started(path: Path) -> tuple[int, str]:
    """Fork a process that serves a file; return its number and its address, its first line."""
    pipe, end = os.pipe()
    process = os.fork()
    if not process:
        try:
            sys.stdout = os.fdopen(end, "w")
            main(["serve", "--quiet", "--port", "0", "--rate", "1e9", "--store", str(path)])
        finally:
            os._exit(1)
    os.close(end)
    with os.fdopen(pipe, "rb") as said:
        return process, said.readline().decode().strip()


def kill_server(folder: Path, cycles: int, seed: int, every: int = 20) -> Iterator[Cycle]:
    """Kill a server many times, and yield what each time came to."""
    draw = random.Random(f"kill-server-{seed}")  # noqa: S311
    path = folder / "studies.db"
    witness = watched(path, seed)
    with closing(open_store(path)) as store:
        token, _ = Tokens(store).make("clerks", "corrector")
    callers = [Caller(f"{seed}-{n}", STUDIES[n % 2]) for n in range(CLIENTS)]
    for cycle in range(1, cycles + 1):
        process, url = started(path)
        threads = [one.begin(f"{url}#token={token}", cycle) for one in callers]
        time.sleep(0.05 + draw.expovariate(1 / 0.15))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        for thread in threads:
            thread.join()
        wrong = [problem for one in callers for problem in one.wrong]
        for one in callers:
            witness.told[one.study].update(one.acknowledged)
        wrong += witness.look(whole=cycle % every == 0 or cycle == cycles)
        unanswered = [one for one in callers if one.unanswered is not None]
        stored = sum(witness.has(one.study, one.unanswered) for one in unanswered)
        yield Cycle(wrong, 1, len(unanswered), stored)
