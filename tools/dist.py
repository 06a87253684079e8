"""Build the wheel and the source archive into dist/, and try the wheel in a fresh environment.

It is tried alone, and then with the extras that the README names, by running what the README shows.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
IN_WHEEL = ("grbp/py.typed", "grbp/__init__.pyi")
IN_ARCHIVE = ("Makefile", "constraints.txt", "tools/setup.sh", "tests/conftest.py", "docs/conf.py")
README = ROOT / "tests" / "docs" / "test_documents.py"
EXTRAS = "engine,plots,gymnasium,live,serve"
TRIAL = "import grbp; print(grbp.optimal_threshold(grbp.Problem(4, .45, .3)))"


def run(*command: str | Path, **options: object) -> str:
    """Run a command and return what it prints; a failure ends everything."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return done.stdout.strip()


def missing(wanted: set[str], there: set[str], where: Path) -> None:
    """Stop if a file is not in an archive."""
    if wanted - there:
        sys.exit(f"{where.name} lacks {', '.join(sorted(wanted - there))}")


def main() -> None:
    """Build, look inside, install, try."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    os.environ["PIP_CONSTRAINT"] = str(ROOT / "constraints.txt")
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, stderr=subprocess.DEVNULL)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    package = ROOT / "src"
    # Not only code: also the stub, the marker of types, templates and styles.
    data = {p.relative_to(package).as_posix() for p in package.rglob("*") if p.is_file()}
    data = {name for name in data if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as opened:
        missing(data | set(IN_WHEEL), set(opened.namelist()), wheel)
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
        missing({f"src/{name}" for name in data} | set(IN_ARCHIVE), inside, archive)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", wheel, cwd=folder)
        version = run(Path(folder) / "bin" / "grbp", "--version", cwd=folder)
        answer = run(python, "-c", TRIAL, cwd=folder)
        if answer != "1":
            sys.exit(f"the installed wheel answers {answer} where 1 is right")
        run(python, "-m", "pip", "install", "-q", f"{wheel}[{EXTRAS}]", cwd=folder)
        os.environ["GRBP_PYTHON"] = str(python)
        shown = ("-k", "README.md and (shell or python)")
        tests = subprocess.run((sys.executable, "-m", "pytest", "-q", README, *shown), check=False)
        if tests.returncode:
            sys.exit("what the README shows does not run with the wheel as the README installs it")
    sys.stdout.write(f"dist/{wheel.name} installs and answers as {version}; dist/{archive.name}\n")


if __name__ == "__main__":
    main()
