"""The page for whoever operates a server is followed literally, on a machine that is pretended."""

import json
import os
import re
import shutil
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from optional import optional
from pretended import HTTP, PORT, ROOT, TLS, make_machine, put_here, stop_all
from proxies import program

import grbp

TOP = Path(__file__).parent.parent.parent
PAGE = TOP / "docs" / "operating.md"

optional("apsw")
optional("fastapi", "'.[serve]'")


def blocks() -> list[tuple[str, str]]:
    """The commands of the page in their order, each block with the heading above it."""
    heading, found = "", []
    for part in re.findall(
        r"^## ([^\n]*)$|^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        if part[0]:
            heading = part[0]
        else:
            found.append((heading, part[1]))
    return found


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


def test_the_page_has_commands_for_all_that_an_operator_does() -> None:
    headings = [heading for heading, _ in blocks()]
    for wanted in ("Install", "The study and the first token", "The service", "TLS in front",
                   "What it writes", "What to watch", "Every night", "Restore",
                   "Upgrade"):  # fmt: skip
        assert wanted in headings


@pytest.mark.slow
def test_the_page_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nginx", "curl", "openssl"):
        program(name)
    server, http, tls = free_ports(3)
    for variable, value in (
        (ROOT, tmp_path), (PORT, server), (HTTP, http), (TLS, tls),
    ):  # fmt: skip
        monkeypatch.setenv(variable, str(value))
    programs = make_machine(tmp_path)
    monkeypatch.setenv("PATH", f"{programs}:{tmp_path}/usr/local/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TOP / "src"), str(TOP / "tests")]))
    monkeypatch.delenv("GRBP_STORE", raising=False)
    shutil.copytree(TOP / "deploy", tmp_path / "project" / "deploy")
    script = ["set -eu"]
    for number, (heading, text) in enumerate(blocks()):
        script += [f"echo '=== {number} {heading}'", put_here(text)]
        if heading in ("Every night", "Restore"):  # A backup is named by its second.
            script.append("sleep 1.1")
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", "\n".join(script)], cwd=tmp_path / "project",
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    finally:
        stop_all(tmp_path)
    journal = (tmp_path / "journal").read_text("utf-8")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{journal}"
    check_store(tmp_path)
    said = done.stdout
    assert said.count("All is well: study ward") >= 4
    assert '"case":1' in said.replace(" ", "")
    # Nothing that lets anybody in is left where others read it.
    (token,) = re.findall(r"^(grbp_\S+)$", said.partition("=== 2")[0], re.MULTILINE)
    assert token not in journal
    assert "#token=" not in journal
    assert "Traceback" not in journal + done.stderr


def check_store(root: Path) -> None:
    """See that what was recorded is there after the restore and the upgrade."""
    store = root / "var/lib/grbp/ward.sqlite"
    with grbp.Study(store, "ward") as study:
        assert [case.state for case in study.cases()] == [2]
        assert study.verify().ok
    backups = sorted(path.name for path in (root / "var/backups/grbp").iterdir())
    assert backups
    assert all(re.fullmatch(r"ward-\d{8}T\d{6}Z\.sqlite", name) for name in backups)
    (aside,) = (root / "var/lib/grbp").glob("aside-*")
    assert (aside / "ward.sqlite").exists()
    heads = (root / "var/backups/grbp-heads/ward.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["study"] for line in heads} == {None, "ward"}


def test_the_limits_on_the_page_are_those_of_the_server() -> None:
    from grbp.serve.settings import Settings  # noqa: PLC0415 (of an extra)

    text, settings = PAGE.read_text("utf-8"), Settings()
    rows = {
        name: [int(cell.replace(",", "")) for cell in (most, each) if cell.strip()]
        for name, most, each in re.findall(r"^\| ([a-z ,]+) \|([ \d,]*)\|([ \d,]*)\|$", text, re.M)
    }
    wanted = {
        "requests a second": [settings.rate],
        "requests at once": [settings.most_at_once, settings.each_at_once],
        "streams of events": [settings.most_streams, settings.each_streams],
        "connections": [settings.most_connections, settings.each_connections],
        "bytes of a body": [settings.body_limit],
        "bytes of an imported log": [settings.import_limit],
        "checks, exports, imports and backups at once": [settings.most_jobs],
        "seconds until a request has begun": [settings.head_patience],
        "seconds until a body is here, or an answer is read": [settings.patience],
    }
    assert rows == wanted
