"""A machine that is pretended, so that a page for its root can be followed by anybody.

All files lie in one folder, and programs that would change the real machine are stood in for by
this file, run under their names: systemctl starts what the units say, runuser stays who one is.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from proxies import NAME, whole_nginx

PROGRAMS: Final = (
    "apt-get", "curl", "install", "journalctl", "nginx", "python3", "runuser", "systemctl",
    "useradd",
)  # fmt: skip

ROOT, PORT, HTTP, TLS = "PRETENDED_ROOT", "PRETENDED_PORT", "PRETENDED_HTTP", "PRETENDED_TLS"
"""The variables that say where the machine is, and the ports of the server and of the proxy."""

_REAL: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def put_here(text: str) -> str:
    """Name the files and the ports of the pretended machine instead of the real ones."""
    text = re.sub(r"(?<![\w.:/*])/(opt|var|etc|usr/local)/", rf"{os.environ[ROOT]}/\1/", text)
    return text.replace("127.0.0.1:8000", f"127.0.0.1:{os.environ[PORT]}")


def make_machine(root: Path) -> Path:
    """Make the folders of a machine; return that of its programs."""
    for folder in ("bin", "opt", "var/lib", "var/backups", "etc/systemd/system",
                   "etc/nginx/conf.d", "usr/local/bin"):  # fmt: skip
        (root / folder).mkdir(parents=True)
    (root / "journal").touch()
    for name in PROGRAMS:
        program = root / "bin" / name
        program.write_text(f"#!{sys.executable}\nimport pretended\npretended.main({name!r})\n")
        program.chmod(0o755)
    return root / "bin"


def main(name: str) -> None:
    """Do what a program would do, here."""
    words = sys.argv[1:]
    root = Path(os.environ[ROOT])
    if name in ("apt-get", "useradd"):
        return
    if name == "runuser":
        _become(words[words.index("--") + 1 :])
    elif name == "install":
        _install(words)
    elif name == "python3":
        if words[:2] == ["-m", "venv"]:
            _make_environment(Path(words[2]))
        else:
            _become([sys.executable, *words])
    elif name == "curl":
        there = [f"{NAME}:443:127.0.0.1:{os.environ[TLS]}" if w.startswith(f"{NAME}:443") else w
                 for w in words]  # fmt: skip
        _become(_real("curl", ["--connect-to" if w == "--resolve" else w for w in there]))
    elif name == "journalctl":
        sys.stdout.write((root / "journal").read_text("utf-8"))
    elif name == "nginx":
        sys.exit(_run_nginx(root, ["-t"]))
    elif name == "systemctl":
        sys.exit(_control(root, words))


def _become(command: list[str]) -> None:
    os.execvp(command[0], command)  # noqa: S606


def _real(name: str, words: list[str]) -> list[str]:
    return [shutil.which(name, path=_REAL) or name, *words]


def _install(words: list[str]) -> None:
    """Install files and folders, whoever may own them; units are about this machine."""
    kept = []
    while words:
        word, *words = words
        if word in ("-o", "-g"):
            words = words[1:]
        else:
            kept.append(word)
    subprocess.run(_real("install", kept), check=True)
    if "-d" not in kept:
        target = Path(kept[-1])
        for path in target.iterdir() if target.is_dir() else [target]:
            if path.suffix in (".service", ".timer"):
                path.write_text(put_here(path.read_text("utf-8")), "utf-8")


def _make_environment(folder: Path) -> None:
    """Make a folder as venv does, whose grbp is the one under test and whose pip does nothing."""
    (folder / "bin").mkdir(parents=True)
    for name, line in (("grbp", f'exec {sys.executable} -m grbp "$@"'), ("pip", ":")):
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)


def _control(root: Path, words: list[str]) -> int:
    """Do what systemd would do with units."""
    verb, *units = (word for word in words if not word.startswith("--"))
    if verb == "enable":
        verb = "start" if "--now" in words else ""
    for unit in units:
        status = 0
        if unit == "nginx":
            _start(root, "nginx", _nginx_command(root))
            _wait_for_port(int(os.environ[TLS]))
        elif unit == "grbp" and verb == "start":
            (command,) = _commands(root, "grbp")
            _start(root, "grbp", [*command, "--port", os.environ[PORT]])
        elif unit == "grbp" and verb == "stop":
            _stop(root, "grbp")
        elif unit == "grbp-upkeep" and verb == "start":
            for command in _commands(root, unit):
                status = status or subprocess.run(command, check=False).returncode
        if status:
            return 1
    return 0


def _commands(root: Path, unit: str) -> list[list[str]]:
    """Return what a unit runs."""
    text = (root / f"etc/systemd/system/{unit}.service").read_text("utf-8").replace("\\\n", " ")
    return [shlex.split(line) for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)]


def _start(root: Path, name: str, command: list[str]) -> None:
    with (root / "journal").open("ab") as journal:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal,
            start_new_session=True, cwd=root / "var/lib",
        )  # fmt: skip
    (root / f"{name}.pid").write_text(str(process.pid))


def _wait_for_port(port: int) -> None:
    until = time.monotonic() + 15
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _stop(root: Path, name: str) -> None:
    """End what was started, as it must end within 10 seconds; fail if it does not."""
    process = int((root / f"{name}.pid").read_text())
    os.kill(process, signal.SIGTERM)
    until = time.monotonic() + 15
    while time.monotonic() < until:
        if not Path(f"/proc/{process}").exists() or _is_over(process):
            (root / f"{name}.pid").unlink()
            return
        time.sleep(0.05)
    sys.exit(f"{name} does not end")


def _is_over(process: int) -> bool:
    """Return whether a process has ended and only waits for its parent to look."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _nginx_command(root: Path) -> list[str]:
    return _real("nginx", ["-p", str(root), "-c", str(root / "nginx.conf"),
                           "-e", str(root / "nginx.log")])  # fmt: skip


def _run_nginx(root: Path, words: list[str]) -> int:
    own = (root / "etc/nginx/conf.d/grbp.conf").read_text("utf-8")
    ports = int(os.environ[HTTP]), int(os.environ[TLS])
    whole = whole_nginx(own, root, ports, tls=root / "etc/grbp/tls")
    behind = whole.replace("127.0.0.1:8000", f"127.0.0.1:{os.environ[PORT]}")
    (root / "nginx.conf").write_text(behind, "utf-8")
    return subprocess.run([*_nginx_command(root), *words], check=False).returncode


def stop_all(root: Path) -> None:
    """End everything that still runs."""
    for file in root.glob("*.pid"):
        process = int(file.read_text())
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process, number)
            except OSError:
                break
            time.sleep(0.5)
