#!/bin/sh
# Makes the local environment .venv and installs into it what a make target needs.
#   tools/setup.sh run     what a user needs: the package with its engine and its pictures
#   tools/setup.sh docs    the same, and what the site is made with
#   tools/setup.sh test    what a user needs, and what the tests need
#   tools/setup.sh dev     all of that, and what a developer needs
#   tools/setup.sh soak    all of that, and what the longest tests need
# PYTHON=... chooses the interpreter. Tested versions are pinned in constraints.txt.
set -eu
cd "$(dirname "$0")/.."
what=$1
venv=.venv

version() { "$1" -c 'import sys; print(*sys.version_info[:2], sep=".")' 2>/dev/null || echo none; }

# The Pythons that the classifiers promise, the newest first: for others something has no wheel.
promised=$(sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml | sort -r)
range="$(echo "$promised" | tail -n 1) to $(echo "$promised" | head -n 1)"
suitable() { echo "$promised" | grep -qxF "$(version "$1")"; }

if [ -n "${PYTHON:-}" ]; then set -- "$PYTHON"; else set -- python3 $(echo "$promised" | sed 's/^/python/') python; fi
python=
for candidate; do
    if suitable "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    if [ -n "${PYTHON:-}" ]; then
        echo "setup: PYTHON=$PYTHON is not a Python $range, for which all that is needed is to be" \
            "had; name one that is." >&2
    else
        echo "setup: no Python $range was found, for which all that is needed is to be had; install" \
            "one or give PYTHON=/path/to/it." >&2
    fi
    exit 2
fi

# An environment that is broken, was moved, or is of another Python than asked for is made anew.
if [ -e "$venv" ] && { ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 ||
    [ "$(cat "$venv/.where" 2>/dev/null)" != "$PWD" ] ||
    { [ -n "${PYTHON:-}" ] && [ "$(version "$venv/bin/python")" != "$(version "$python")" ]; }; }; then
    rm -rf "$venv"
fi
if [ ! -e "$venv" ]; then
    echo "Setting up a local environment in $venv (once, about a minute) ..."
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        # Some systems ship Python without ensurepip but with pip.
        rm -rf "$venv"
        if ! "$python" -m venv --without-pip "$venv" >/dev/null 2>&1 ||
            ! "$python" -m pip --python "$venv/bin/python" install -q pip; then
            rm -rf "$venv"
            echo "setup: $python can make no virtual environment; install its venv module" \
                "(on Debian and Ubuntu: apt-get install python3-venv) and run this again." >&2
            exit 2
        fi
    fi
fi

echo "$PWD" >"$venv/.where"

export PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1
# Python compiles what is imported, when it is; compiling all takes longer than fetching it.
install() { "$venv/bin/python" -m pip --quiet install --no-compile "$@"; }
case $what in
run)
    echo "Installing grbp with its engine, pictures and environment ..."
    install --editable '.[engine,plots,gymnasium,completion]'
    ;;
docs)
    echo "Installing grbp with what its site is made with ..."
    install --editable '.[docs]'
    ;;
test)
    echo "Installing grbp with what its tests need ..."
    install --editable '.[test]'
    ;;
dev | soak)
    echo "Installing grbp with what its developers need ..."
    install --editable '.[dev]'
    ;;
*)
    echo "setup: '$what' was given; it must be run, docs, test, dev or soak." >&2
    exit 2
    ;;
esac
if [ "$what" = soak ]; then
    echo "Installing the solvers the answers are checked against, and what compiles for GPUs ..."
    for extra in crosscheck cuda-check; do
        for package in $("$venv/bin/python" tools/extra.py "$extra"); do
            install --only-binary :all: "$package" >/dev/null 2>&1 ||
                echo "  $package is not to be had on this machine; the tests that need it will be left out."
        done
    done
fi
# Each of these has all that the ones after it need.
case $what in
soak) ready="soak dev docs test run" ;;
dev) ready="dev docs test run" ;;
test) ready="test run" ;;
docs) ready="docs" ;;
*) ready="run" ;;
esac
for one in $ready; do touch "$venv/.ready-$one"; done
