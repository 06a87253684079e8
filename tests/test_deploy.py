"""What stands in deploy/ can be used as it is: units, a container, and the proxies in front."""

import ast
import json
import re
import shlex
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest
from optional import optional
from proxies import NAME, make_certificate, program, whole_nginx

from grbp.cli import _make_parser

optional("fastapi", "'.[serve]'")
from grbp.serve.settings import Settings  # noqa: E402

DEPLOY = Path(__file__).parent.parent / "deploy"
FILES = {path.name: path.read_text("utf-8") for path in sorted(DEPLOY.iterdir())}
UNITS = [name for name in FILES if name.endswith((".service", ".timer"))]


def commands() -> list[tuple[str, list[str]]]:
    """The calls of grbp in all files: what a unit starts, a container runs, a comment names."""
    found = []
    for name, text in FILES.items():
        joined = text.replace("\\\n#", " ").replace("\\\n", " ")
        lines = re.findall(r"^ExecStart=(?:/\S+/)?grbp (.*)$", joined, re.MULTILINE)
        lines += re.findall(r"`grbp ([^`]*)`", joined)
        found += [(name, shlex.split(line)) for line in lines]
        start = re.search(r"^ENTRYPOINT (\[.*\])$", joined, re.MULTILINE)
        more = re.search(r"^CMD (\[.*\])$", joined, re.MULTILINE)
        if start and more:
            found.append((name, [*json.loads(start[1])[1:], *json.loads(more[1])]))
    return found


def test_every_command_is_one_that_grbp_takes() -> None:
    found = commands()
    assert {name for name, _ in found} >= {"grbp.service", "grbp-upkeep.service", "Containerfile"}
    for _, words in found:
        _make_parser(words).parse_args(words)
    kinds = [" ".join(words[: 2 if words[0] == "live" else 1]) for _, words in found]
    assert {"serve", "live verify", "live backup"} <= set(kinds)


def test_the_container_is_told_the_same_in_its_comment() -> None:
    text = FILES["Containerfile"]
    run = re.search(r"podman run .*? grbp \\\n#\s+(.*)\n", text)
    last = re.search(r"^CMD (\[.*\])$", text, re.MULTILINE)
    assert run
    assert last
    assert shlex.split(run[1]) == json.loads(last[1])
    assert json.loads(last[1])[1] == f"https://{NAME}"


def test_the_container_runs_as_nobody_special_and_says_whether_it_is_well() -> None:
    text = FILES["Containerfile"]
    assert re.search(r"^USER (?!0|root)\S+$", text, re.MULTILINE)
    assert re.search(r"^VOLUME /var/lib/grbp$", text, re.MULTILINE)
    probe = re.search(r"^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$", text, re.MULTILINE)
    assert probe
    code = json.loads(probe[1])[-1]
    ast.parse(code)
    assert "http://127.0.0.1:8000/health" in code
    for copied in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE):
        for name in copied.split():
            assert (DEPLOY.parent / name).exists(), name


@pytest.mark.parametrize("name", UNITS)
def test_units_are_read_by_systemd(name: str, tmp_path: Path) -> None:
    analyze = program("systemd-analyze", "systemd")
    for unit in UNITS:
        text = FILES[unit].replace("/opt/grbp/bin/grbp", "/bin/true")
        (tmp_path / unit).write_text(text, "utf-8")
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in done.stderr.splitlines() if "grbp" in line]
    assert (done.returncode, ours) == (0, [])


def read_unit(name: str) -> RawConfigParser:
    unit = RawConfigParser(strict=False, comment_prefixes=("#",))
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(FILES[name].replace("\\\n", " "))
    return unit


def test_the_service_ends_after_the_server_has_ended_by_itself() -> None:
    unit = read_unit("grbp.service")["Service"]
    assert int(unit["TimeoutStopSec"]) > 10
    assert (unit["User"], unit["Restart"], unit["UMask"]) == ("grbp", "on-failure", "0077")
    for name in ("grbp.service", "grbp-upkeep.service"):
        service = read_unit(name)["Service"]
        assert service["NoNewPrivileges"] == "true"
        assert service["ProtectSystem"] == "strict"
        assert service["EnvironmentFile"].startswith("-/etc/grbp/")


def test_the_nightly_work_may_write_where_it_writes() -> None:
    text = FILES["grbp-upkeep.service"]
    allowed = read_unit("grbp-upkeep.service")["Service"]["ReadWritePaths"].split()
    for _, words in commands():
        if words[:2] == ["live", "backup"]:
            options = _make_parser(words).parse_args(words)
            for place in (Path(options.to), options.heads.parent, Path(options.store).parent):
                assert str(place) in allowed
    assert text.count("ExecStart=") == 2


def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    nginx, openssl = program("nginx"), program("openssl")
    make_certificate(openssl, tmp_path)
    config = tmp_path / "nginx.conf"
    config.write_text(whole_nginx(FILES["nginx.conf"], tmp_path), "utf-8")
    done = subprocess.run(
        [nginx, "-t", "-p", str(tmp_path), "-c", str(config), "-e", str(tmp_path / "error.log")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_caddy_takes_the_configuration(tmp_path: Path) -> None:
    caddy = program("caddy")
    done = subprocess.run(
        [caddy, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")],
        capture_output=True, text=True, check=False,
        env={"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_proxies_have_the_name_the_port_and_the_limits_of_the_server() -> None:
    settings, nginx, caddy = Settings(), FILES["nginx.conf"], FILES["Caddyfile"]
    words = ["serve"]
    port = _make_parser(words).parse_args(words).port
    passed = re.findall(r"proxy_pass http://([^;]*);", nginx)
    assert set(passed) == {f"127.0.0.1:{port}"}
    assert f"reverse_proxy 127.0.0.1:{port} {{" in caddy
    assert set(re.findall(r"server_name (.*);", nginx)) == {NAME}
    assert re.search(rf"^{re.escape(NAME)} \{{$", caddy, re.MULTILINE)
    units = {"k": 2**10, "g": 2**30, "KiB": 2**10, "GiB": 2**30}
    wanted = {settings.body_limit, settings.import_limit}
    for text, size in ((nginx, r"client_max_body_size (\d+)(k|g);"), (caddy, r"_size (\d+)(.iB)")):
        assert {int(number) * units[unit] for number, unit in re.findall(size, text)} == wanted
    stream = re.search(r"events\\\.ndjson\$ \{.*?proxy_read_timeout (\d+)m;", nginx, re.DOTALL)
    assert stream
    assert int(stream[1]) * 60 > settings.longest_follow
