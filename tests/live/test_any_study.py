"""Studies of any configuration are worked with in every way, and nothing is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from any_study import live_through
from serving import Serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("server"), asking="admin") as server:
        yield server


@pytest.mark.parametrize("number", range(1_000, 1_300))
@pytest.mark.sample(10)
def test_nothing_is_refused_that_is_allowed(number: int, server: Serving, tmp_path: Path) -> None:
    live_through(number, server, tmp_path)
