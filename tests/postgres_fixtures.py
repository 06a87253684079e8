"""Stores for the tests: a real PostgreSQL, one for each process that runs tests."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from optional import optional
from postgres_server import HOW, Server, programs


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    found = programs()
    if found is None:
        pytest.skip(HOW)
    server = Server(found)
    yield server
    server.remove()


@pytest.fixture
def postgres(_server: Server) -> Server:
    """A server that runs, with an empty database, whatever the test before did to it."""
    psycopg = optional("psycopg")
    _server.start()
    with closing(psycopg.connect(_server.socket, autocommit=True)) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        ours = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'grbp%'"
        for (schema,) in connection.execute(ours).fetchall():
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
    return _server


@pytest.fixture
def dsn(postgres: Server) -> str:
    """How an empty database of PostgreSQL is reached."""
    return postgres.socket
