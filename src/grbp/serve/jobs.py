"""Long work on a store: checks, exports, imports and backups, each in a process of its own.

So neither Python's lock nor the store's delays advice, and the work can be ended at any moment:
when whoever asked has gone, when it takes too long, or when the server stops. A store that no other
process can open is worked on in a thread.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from grbp import errors
from grbp._process import module_command
from grbp.errors import GrbpError
from grbp.live.store.base import Store
from grbp.serve.http_errors import Refusal
from grbp.serve.job_worker import do_job

PART: Final = 2**18
"""How many bytes of a file are sent at a time."""

_WORKER: Final = "grbp.serve.job_worker"
_POLL: Final = 0.02
_NICE: Final = 10

_RETRY: Final = 2
"""After how many seconds it is worth asking again where there is no place."""


class JobFailed(RuntimeError):
    """A job ended in a way that nobody foresaw; the text says where, for the log."""


class Jobs:
    """The jobs that are under way: a few in all, and one of a kind for each study.

    Parameters
    ----------
    store : Store
    most : int
        How many there may be at once.
    longest : float
        After how many seconds one is ended.
    """

    def __init__(self, store: Store, most: int, longest: float) -> None:
        self._store, self._most, self._longest = store, most, longest
        self._under_way: dict[tuple[str, str], asyncio.subprocess.Process | None] = {}
        self._stopping = False

    def __len__(self) -> int:
        return len(self._under_way)

    def describe(self) -> list[str]:
        """Say what is under way."""
        return [f"{verb} of {study!a}" if study else verb for verb, study in self._under_way]

    def end_all(self) -> None:
        """End all jobs, and begin none any more."""
        self._stopping = True
        for process in self._under_way.values():
            _kill(process)

    async def run(self, request: Request, verb: str, study: str = "", file: Path = Path()) -> Any:
        """Do something, as long as whoever asked waits for it; return what came of it."""
        return await _wait_for(asyncio.create_task(self._work(verb, study, file)), request)

    async def write_file(self, request: Request, verb: str, study: str = "") -> "JobFile":
        """Have a file written, and return it as soon as there is something in it."""
        folder = TemporaryDirectory(prefix="grbp-")
        path = Path(folder.name) / "answer"
        file = JobFile(folder, path, asyncio.create_task(self._work(verb, study, path)))
        try:
            await _wait_for(asyncio.create_task(file.begin()), request)
        except BaseException:
            await file.close()
            raise
        return file

    async def _work(self, verb: str, study: str, file: Path) -> Any:
        """Do something in another process, or in a thread if no other can open the store."""
        with self._take(verb, study):
            if self._store.address is None:
                return await run_in_threadpool(do_job, self._store, verb, study, file)
            asked = {"store": self._store.address, "verb": verb, "study": study, "file": str(file)}
            return self._read_answer(await self._ask_child(verb, study, asked))

    @contextmanager
    def _take(self, verb: str, study: str) -> Iterator[None]:
        """Take a place, or refuse."""
        if self._stopping:
            raise Refusal(503, "the server is being stopped; try again", retry=_RETRY)
        if (verb, study) in self._under_way:
            of = f" of {study!r}" if study else ""
            raise Refusal(
                429, f"the same ({verb}{of}) is under way already; wait for it", retry=_RETRY
            )
        if len(self._under_way) >= self._most:
            raise Refusal(
                429,
                f"{self._most} checks, exports, imports or backups are under way; try again when"
                " one of them has ended",
                retry=_RETRY,
            )
        self._under_way[verb, study] = None
        try:
            yield
        finally:
            del self._under_way[verb, study]

    async def _ask_child(self, verb: str, study: str, asked: dict[str, str]) -> bytes:
        """Start a process, tell it what to do, and return its answer."""
        command, environment = module_command(_WORKER)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        self._under_way[verb, study] = process
        if hasattr(os, "setpriority"):  # Whoever waits for advice comes first.
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        assert process.stdin  # noqa: S101 (a pipe)
        assert process.stdout  # noqa: S101
        try:
            async with asyncio.timeout(self._longest):
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                with suppress(ConnectionError):
                    await process.stdin.drain()  # It stays open: the process ends with it.
                return await process.stdout.read()
        except TimeoutError:
            raise Refusal(
                503,
                f"this took more than {self._longest:,.0f} s, so it was ended; do it at the"
                " server's machine, by `grbp live`",
            ) from None
        finally:
            _kill(process)
            await process.wait()

    def _read_answer(self, answer: bytes) -> Any:
        """Return what a process has answered, or raise the error that it names."""
        if not answer:
            if self._stopping:
                raise Refusal(503, "the server is being stopped; try again", retry=_RETRY)
            raise JobFailed("a process ended without an answer")
        said = json.loads(answer)
        if "error" in said:
            raise getattr(errors, said["error"], GrbpError)(said["detail"])
        if "fault" in said:
            raise JobFailed(said["fault"])
        return said["result"]


class JobFile:
    """A file that a job writes, to be read while it grows."""

    def __init__(self, folder: Any, path: Path, work: asyncio.Task[Any]) -> None:
        self._folder, self._path, self._work = folder, path, work
        self._file: Any = None

    async def begin(self) -> None:
        """Wait for the first bytes; raise what went wrong before."""
        while not (self._work.done() or self._has_bytes()):
            await asyncio.wait({self._work}, timeout=_POLL)
        if self._work.done():
            self._work.result()
        self._file = self._path.open("rb", buffering=0)

    def _has_bytes(self) -> bool:
        with suppress(OSError):
            return self._path.stat().st_size > 0
        return False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts of the file until the job has ended; raise what went wrong."""
        while True:
            ended = self._work.done()
            if part := await run_in_threadpool(self._file.read, PART):
                yield part
            elif ended:
                self._work.result()
                return
            else:
                await asyncio.wait({self._work}, timeout=_POLL)

    async def close(self) -> None:
        """End the job if it still runs, and remove the file."""
        await _end_task(self._work)
        if self._file is not None:
            self._file.close()
        self._folder.cleanup()


class JobResponse(StreamingResponse):
    """An answer with the file of a job."""

    def __init__(self, file: JobFile, **options: Any) -> None:
        super().__init__(aiter(file), **options)
        self._file = file

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the file; when that has ended, the job ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._file.close()


async def _wait_for(task: asyncio.Task[Any], request: Request) -> Any:
    """Return what a task returns; end it when the client has closed the connection."""
    try:
        while not task.done():
            if await request.is_disconnected():
                raise Refusal(503, "whoever asked for this has gone, so it was ended")
            await asyncio.wait({task}, timeout=_POLL)
        return task.result()
    finally:
        await _end_task(task)


async def _end_task(task: asyncio.Task[Any]) -> None:
    """End a task, and wait until it has ended; what it raised was told, or nobody waits for it."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()


def _kill(process: asyncio.subprocess.Process | None) -> None:
    """End a process, if it still runs."""
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
