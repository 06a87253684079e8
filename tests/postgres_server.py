"""A PostgreSQL of the tests' own: in a temporary folder, stopped and removed at the end."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HOW = (
    "tests with PostgreSQL: the programs of version 14 or later are not installed; on Debian and"
    " Ubuntu, get them with: apt-get install postgresql"
)
# What a person has set for another server says nothing about this one.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PG")} | {"LC_ALL": "C"}


def programs() -> Path | None:
    """Return the folder of the newest of PostgreSQL's programs; None where there are none."""
    debian = {
        float(path.parent.parent.name): path
        for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")
    }
    newest = max(debian, default=0.0)
    found = debian[newest] if newest >= 14 else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def unprivileged() -> str | None:
    """Return whom the server runs as: it refuses to run as root; None means whoever we are."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


class Server:
    """A server that runs, with one database; over a socket in its folder and on loopback.

    Parameters
    ----------
    bin : Path
        Where its programs are.
    """

    def __init__(self, bin: Path) -> None:  # noqa: A002 (the folder's name)
        self._bin, self._user = bin, unprivileged()
        # The folder of our temporary files may be closed to the user that the server runs as.
        where = "/tmp" if self._user else None  # noqa: S108 (mkdtemp makes a safe folder there)
        self._folder = Path(tempfile.mkdtemp(prefix="grbp-", dir=where))
        self._password = secrets.token_hex(8)
        password = self._folder / "password"
        password.write_text(self._password, "utf-8")
        if self._user:
            for path in (self._folder, password):
                shutil.chown(path, self._user)
        self._call(
            "initdb", "--username=clerk", f"--pwfile={password}", "--auth-local=trust",
            "--auth-host=scram-sha-256", "--locale=C", "--encoding=UTF8", "--no-sync",
        )  # fmt: skip
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        (self._folder / "data" / "postgresql.auto.conf").write_text(
            f"port = {self.port}\n"
            "listen_addresses = '127.0.0.1'\n"
            f"unix_socket_directories = '{self._folder}'\n"
            "shared_buffers = '16MB'\n"
            "max_connections = 60\n",
            "utf-8",
        )
        self.start()

    @property
    def socket(self) -> str:
        """The server, as it is reached through its socket."""
        return f"postgresql://clerk@/postgres?host={self._folder}&port={self.port}"

    @property
    def url(self) -> str:
        """The server, as it is reached over loopback, with a password."""
        return f"postgresql://clerk:{self._password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers; one that runs is left as it is."""
        if self._call("pg_ctl", "status", check=False):
            self._call("pg_ctl", "--wait", f"--log={self._folder}/log", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: immediately, as in a power cut that spares the machine, or fast."""
        self._call("pg_ctl", "--wait", f"--mode={mode}", "stop")

    @contextmanager
    def in_recovery(self) -> Iterator[None]:
        """Let it be a standby for a while, as one whose primary cannot be reached."""
        mark = self._folder / "data" / "standby.signal"
        self.stop("fast")
        mark.touch()
        self.start()
        try:
            yield
        finally:
            self.stop("fast")
            mark.unlink()
            self.start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let it stand still for a while: it neither answers nor ends."""
        stopped: list[int] = []
        first = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        try:
            for process in (first, *_children(first)):
                with suppress(ProcessLookupError):  # One of a closed connection ends meanwhile.
                    os.kill(process, signal.SIGSTOP)
                    stopped.append(process)
            yield
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)

    def dump(self) -> str:
        """Return the statements that make what is in the database."""
        command = [str(self._bin / "pg_dump"), "--inserts", "--no-owner", self.socket]
        said = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        kept = [line for line in said.stdout.splitlines() if line and line[:2] not in ("--", "SE")]
        return "\n".join(line for line in kept if not line.startswith("\\")) + "\n"

    def log(self) -> str:
        """Return what the server said so far."""
        return (self._folder / "log").read_text("utf-8")

    def remove(self) -> None:
        """Stop it and remove all that it wrote."""
        if not self._call("pg_ctl", "status", check=False):
            self.stop()
        shutil.rmtree(self._folder)

    def _call(self, program: str, *arguments: str, check: bool = True) -> int:
        command = [str(self._bin / program), f"--pgdata={self._folder}/data", *arguments]
        said = self._folder / f"{program}.log"
        # Into a file, since the server keeps the stream open that it was started with.
        with said.open("ab") as output:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
                cwd=self._folder, env=ENVIRONMENT, user=self._user, group=self._group(),
                extra_groups=[] if self._user else None,
            )  # fmt: skip
        if check and done.returncode:
            logs = sorted(self._folder.glob("*log"))
            told = "\n".join(log.read_text("utf-8", "replace")[-3000:] for log in logs)
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{told}")
        return done.returncode

    def _group(self) -> int | None:
        return pwd.getpwnam(self._user).pw_gid if self._user else None


def _children(parent: int) -> list[int]:
    """Return the processes that one has started."""
    command = ["ps", "-A", "-o", "pid=,ppid="]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pairs = [map(int, line.split()) for line in said.splitlines()]
    return [process for process, started_by in pairs if started_by == parent]
