"""The pages: rendered here from templates, and made lively by a few modules from /static.

Whatever a page records, it sends to the routes under /api; nothing is written here.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grbp.errors import GrbpError
from grbp.learners.registry import DEFAULT_LEARNER, LEARNERS
from grbp.live.advice import Case, Status
from grbp.live.basis import Basis
from grbp.live.endpoints import ADMIN, CORRECTOR, RECORDER, STATISTICIAN
from grbp.live.kinds import describe_events
from grbp.live.ledger import finishes
from grbp.live.queries import (
    Moment,
    list_current,
    read_config,
    read_held_steps,
    read_states,
    read_undoable,
)
from grbp.live.reasons import STATES
from grbp.live.schema import OPEN, STATUSES
from grbp.live.shadow import show
from grbp.live.study import Study
from grbp.live.wording import (
    describe_certainty,
    describe_choice,
    describe_planned,
    name_stages,
    name_state,
)
from grbp.serve.drawing import Frame, draw_chain, draw_map
from grbp.serve.middleware import local_address
from grbp.serve.rendering import TEMPLATES, describe_regret, explain_steps
from grbp.serve.state import (
    After,
    CaseNumber,
    StudyName,
    anybody,
    get_caller,
    may_examine,
    server_state,
    show_all,
    show_sentence,
    show_status,
    viewer,
)
from grbp.serve.tokens import may
from grbp.worlds.labels import Labels

_PAGE: Final = 50
_POINTS: Final = 120


def _render_page(
    request: Request, template: str, study: Study | None = None, **what: Any
) -> HTMLResponse:
    """Return a page, of one study or of the whole server."""
    caller = get_caller(request)
    what = {"words": Labels()} | what
    if study is not None:
        what |= _find_words(what["status"])
        name = quote(study.name, "")
        what |= {"home": f"/studies/{name}", "api": f"/api/studies/{name}"}
        # No other study of this name began then; a hash would cover what shadow mode hides.
        what["id"] = f"{study.name} {study.log(limit=1)[0].recorded}"
        what["closed"] = bool(what["status"].read_only or what["status"].archived)
    rights = {
        "record": may(caller.role, RECORDER),
        "correct": may(caller.role, CORRECTOR),
        "examine": may(caller.role, STATISTICIAN),
        "manage": may(caller.role, ADMIN),
    }
    page = TEMPLATES.get_template(template).render(
        actor=caller.actor, role=caller.role, signed_in=caller.token is not None, rights=rights,
        **what,
    )  # fmt: skip
    return HTMLResponse(page)


def _find_words(status: Status) -> dict[str, Any]:
    """Return what a template needs to speak in the words of a study."""
    goal, words, by_state = status.goal, status.labels, status.model != "one"
    return {
        "words": words,
        "ends": name_stages(goal, words),
        "place": lambda state: name_state(state, goal, words),
        "rule": lambda choice: describe_choice(choice, goal, words, by_state=by_state),
        "describe_planned": lambda planned, opened: describe_planned(planned, opened, words),
    }


@viewer.get("/", include_in_schema=False)
def home(
    request: Request,
    all: bool = False,  # noqa: A002
    archived: bool = False,
    origin: Annotated[str | None, Query(alias="from")] = None,
) -> Response:
    """Show the studies, or how to begin one from the records of another; lead to a single one."""
    server = server_state(request)
    if origin is not None:
        found = server.study(origin)
        return _render_page(
            request, "new_study.html", origin=show_status(request, found.status()),
            level=read_config(server.store, origin).level, **_offer_choices(),
        )  # fmt: skip
    every = server.store.studies()
    names = sorted(every if archived else list_current(server.store))
    if len(names) == 1 and not all:
        return RedirectResponse(f"/studies/{quote(names[0], '')}", 303)
    studies = [(name, _find_status(request, name)) for name in names[:200]]
    return _render_page(
        request, "home.html", studies=studies, many=len(names),
        left_out=len(every) - len(names), origin=None, **_offer_choices(),
    )  # fmt: skip


def _offer_choices() -> dict[str, Any]:
    """Return what a new study can be chosen from."""
    return {
        "learners": [name for name in LEARNERS if not name.startswith(("oracle", "ucb1-policies"))],
        "default_learner": DEFAULT_LEARNER,
        "models": STATES,
    }


def _find_status(request: Request, name: str) -> Status | str:
    """Return how a study stands, or why it cannot be read."""
    try:
        return show_status(request, server_state(request).study(name).status())
    except GrbpError as error:
        return show_sentence(request, str(error))


@anybody.get("/sign-in", include_in_schema=False)
async def sign_in(request: Request) -> Response:
    """Let somebody exchange a token for a session."""
    wanted = local_address(request.query_params.get("next", "/"))
    own = request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    return _render_page(request, "sign_in.html", next=wanted, led="here" if own else "elsewhere")


@viewer.get("/studies/{study}", include_in_schema=False)
def study_page(
    request: Request, study: StudyName, after: After = 0, show: str = "open", group: str = "",
    find: str = "",
) -> Response:  # fmt: skip
    """Show the cases of a study and what to do next with each, or those that somebody looks for."""
    found = server_state(request).open_study(study)
    # What is recorded while a page is made is newer than its status says, which a browser notices.
    status = show_status(request, found.status())
    chosen = show if show in STATUSES else None
    wanted = find.strip()
    listed = _find_cases(found, wanted) if wanted else found.cases(after, _PAGE + 1, chosen)
    if wanted and len(listed) == 1:
        return RedirectResponse(f"/studies/{quote(study, '')}/cases/{listed[0].case}", 303)
    cases = show_all(request, study, listed)
    return _render_page(
        request, "study.html", found, status=status, cases=cases[:_PAGE],
        show="all" if wanted else chosen or "all", wanted=wanted, after=after,
        more=cases[_PAGE - 1].case if len(cases) > _PAGE else None,
        **_read_states(request, status, group),
    )  # fmt: skip


def _find_cases(study: Study, wanted: str) -> list[Case]:
    """Return the cases that have a code, and the one that has it as its number."""
    found: list[Case] = []
    with suppress(GrbpError):  # What cannot be a code is none.
        found += study.find_cases(wanted, _PAGE)
    with suppress(GrbpError, ValueError):
        found += [study.case(int(wanted))]
    return list({one.case: one for one in found}.values())


def _read_states(request: Request, status: Status, wanted: str) -> dict[str, Any]:
    """Return what is known in each state, of a group if there are any, and which group that is."""
    group = wanted if wanted in status.groups else next(iter(status.groups), "")
    states, choice = status.by_state, status.next_threshold
    if states and group:
        states = read_states(server_state(request).store, status.study, group)
        choice = status.by_group[group].next_threshold
    return {"states": states, "group": group, "decided": choice is not None and not status.shadow}


@viewer.get("/studies/{study}/cases/{case}", include_in_schema=False)
def case_page(request: Request, study: StudyName, case: CaseNumber) -> Response:
    """Show a case: where it stands, what to do and why, and all that was recorded of it."""
    server = server_state(request)
    found = server.open_study(study)
    status = show_status(request, found.status())
    (one,) = show_all(request, study, [found.case(case)])
    # Whoever records reads this page, so that its history says no advice to anybody.
    events = [show(event, shadow=status.shadow) for event in found.log(0, 1_000_000, case)]
    words, due = status.labels, read_held_steps(server.store, study, case)
    back, held = found.find_taken_back(events), {step for step, _ in due}
    lines = describe_events(
        events, status.goal, words, shadow=status.shadow, taken_back=back,
        waiting={e.seq for e in events if e.kind == "tell" and e.step in held} - back,
    )  # fmt: skip
    stand = [line for line in lines if line.event.kind in ("tell", "close") and not line.taken_back]
    known = found.basis(case, one.state if one.status == OPEN else 1)
    basis = known if one.status == OPEN else None
    choice = None if known is None else known.choice
    config = read_config(server.store, study)
    return _render_page(
        request, "case.html", found, status=status, case=one, basis=basis,
        reasons=[] if basis else explain_steps(lines, cache(partial(found.basis, case))),
        map=draw_map(basis, words) if isinstance(basis, Basis) else None,
        chain=draw_chain(
            status.goal, one.state, None if choice is None else partial(finishes, config, choice),
            words,
        ),
        choice=choice, by_state=config.by_state,
        lines=lines[::-1], last=stand[-1] if stand else None, next_step=one.steps + 1, due=due,
        undoable=read_undoable(
            server.store, study, case, get_caller(request).actor, server.clock()
        ),
    )  # fmt: skip


@viewer.get("/studies/{study}/evidence", include_in_schema=False)
def evidence_page(request: Request, study: StudyName, group: str = "") -> Response:
    """Show how sure a study is, and how it got there."""
    server = server_state(request)
    found = server.open_study(study)
    status = show_status(request, found.status())
    if status.shadow and not may_examine(request):
        return _render_page(request, "hidden.html", found, status=status, examiner=STATISTICIAN)
    moments, sure = found.trajectory(_POINTS), describe_certainty(status.basis, status.labels)
    regret = describe_regret(read_config(server.store, study), status)
    return _render_page(
        request, "evidence.html", found, status=status, sure=sure, regret=regret,
        map=draw_map(status.basis, status.labels) if isinstance(status.basis, Basis) else None,
        moments=moments, **_read_states(request, status, group), **_draw_trajectory(moments),
    )  # fmt: skip


def _draw_trajectory(moments: list[Moment]) -> Mapping[str, object]:
    """Return the frame of the picture, and the lines and bands in it."""
    xs = [float(one.event) for one in moments]
    frame = Frame(50.0, 10.0, 330.0, 200.0, xs[0] if xs else 0.0, xs[-1] if xs else 1.0)
    named = {name: [getattr(one, name) for one in moments] for name in ("p_c", "p_f", "boundary")}
    lines = {
        name: frame.line((x, one.estimate) for x, one in zip(xs, ones, strict=True))
        for name, ones in named.items()
    }
    bands = {name: frame.band(xs, ones) for name, ones in named.items()}
    return {"frame": frame, "lines": lines, "bands": bands}


@viewer.get("/studies/{study}/log", include_in_schema=False)
def log_page(request: Request, study: StudyName, before: After = 0, case: After = 0) -> Response:
    """Show who recorded what and when, the latest first, of all cases or of one."""
    found = server_state(request).open_study(study)
    status = show_status(request, found.status())
    end = before or status.events + 1
    if case:
        found.ask(case)  # One that is not there is refused.
        events = [one for one in found.log(0, 1_000_000, case) if one.seq < end][-_PAGE - 1 :]
    else:
        start = max(0, end - 2 - _PAGE)
        events = found.log(start, end - 1 - start) if end > 1 else []
    older = events[-_PAGE].seq if len(events) > _PAGE else None
    lines = describe_events(
        show_all(request, study, events[-_PAGE:]), status.goal, status.labels,
        shadow=status.shadow, taken_back=found.find_taken_back(events),
    )  # fmt: skip
    return _render_page(
        request, "log.html", found, status=status, lines=lines[::-1], older=older, before=before,
        case=case,
    )  # fmt: skip
