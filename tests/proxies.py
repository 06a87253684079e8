"""Proxies in front of a server, for the tests: nginx, and a certificate that is not believed."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

NAME: Final = "ward.example.org"
"""The name of the server in deploy/ and in docs/operating.md."""


def program(name: str, package: str = "") -> str:
    """Return where a program is; without it, leave the test out."""
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")
    if found is None:
        import pytest  # noqa: PLC0415 (what is pretended is quick)

        pytest.skip(
            f"tests with {name}: it is not installed; on Debian and Ubuntu, get it with: apt-get"
            f" install {package or name}"
        )
    return found


def make_certificate(openssl: str, folder: Path) -> None:
    """Make a certificate that nobody but the test believes."""
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "1", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "fullchain.pem")],
        capture_output=True, check=True,
    )  # fmt: skip


def whole_nginx(
    text: str, folder: Path, ports: tuple[int, int] = (8080, 8443), tls: Path | None = None
) -> str:
    """Return a configuration that an ordinary user can run, with all files in one folder."""
    own = text.replace("/etc/grbp/tls", str(tls or folder))
    own = own.replace("listen 80;", f"listen 127.0.0.1:{ports[0]};")
    own = own.replace("listen 443 ssl;", f"listen 127.0.0.1:{ports[1]} ssl;")
    own = re.sub(r"^ *listen \[::\].*\n", "", own, flags=re.MULTILINE)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    top = f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
    return f"{top}http {{\naccess_log off;\n{places}{own}\n}}\n"
