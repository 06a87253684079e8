"""Whatever the description allows, and much that it does not: no fault, and every answer as said.

schemathesis draws requests from the OpenAPI description, good ones and bad ones, always the same,
and checks each answer: no fault of the server, a status, a type and a body that are described, bad
requests refused, and what was removed gone.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from optional import optional
from serving import ROLES_BY_ROUTE, Clock

from grbp import Study
from grbp.live.store import open_store
from grbp.serve.app import create_app
from grbp.serve.settings import Settings
from grbp.serve.tokens import Tokens

schemathesis = optional("schemathesis")

pytestmark = [
    pytest.mark.soak,
    # How schemathesis asks an application without a network is its own affair.
    pytest.mark.filterwarnings("ignore:Using `httpx` with `starlette.testclient`"),
]

from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

# That one is left out because only a study knows its goal: a state can be too large for it. So are
# reasons of two lines, times that are none, and learners that nobody wrote.

THERE = {"study": "ward", "case": 1}
"""Where there is something, which a draw would hardly hit."""


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def as_lines(_: Any, value: Any) -> bytes:
    return str(value).encode(errors="replace")


@pytest.fixture
def described(tmp_path: Path) -> Iterator[Any]:
    store = open_store(tmp_path / "studies.sqlite", create=True)
    study = Study.create(store, "ward", 4)
    for _ in range(3):
        study.open_case(2)
    # Streams end at once; nobody is held up.
    allowed = Settings(("testserver", "localhost"), rate=1e9, longest_follow=0.0)
    tokens = Tokens(store, Clock())
    bearer = {"Authorization": f"Bearer {tokens.make('fuzz', 'admin')[0]}"}
    app = create_app(store, tokens, allowed, Clock())
    yield schemathesis.openapi.from_asgi("/openapi.json", app, headers=bearer), bearer
    store.close()


# Whoever asks how the server is, or what can be simulated, can do nothing wrong.
CASES = [
    (*route, mode)
    for route in sorted(ROLES_BY_ROUTE)
    if re.match("/(api/|health|ready|metrics)", route[1])
    for mode in schemathesis.GenerationMode
    if route[1] not in ("/health", "/ready", "/api/explore") or mode.value != "negative"
]


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_every_answer_is_as_described(described: Any, method: str, path: str, mode: Any) -> None:
    schema, bearer = described
    operation = schema[path][method]
    fixed = {name: value for name, value in THERE.items() if f"{{{name}}}" in path}

    @given(operation.as_strategy(mode) | operation.as_strategy(mode, path_parameters=fixed))
    @settings(
        max_examples=12, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    def answered(case: Any) -> None:
        case.call_and_validate(headers=bearer, excluded_checks=[positive_data_acceptance])

    answered()
