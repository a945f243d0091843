"""A goal's place made ready: its files, its set-up, and what each check says on the base commit."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

from loopx_engine.errors import LoopxError, Refused, StateMoved
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.host.paths import private_folder
from loopx_engine.model.check import Check
from loopx_engine.model.defaults import CHECK_TIMEOUT_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.places.commits import tree_of
from loopx_engine.places.git import at_place, run_git
from loopx_engine.places.make import inspect_place, make_place
from loopx_engine.places.program import ProgramResult
from loopx_engine.places.repository import Repository, identity, need_repository
from loopx_engine.places.tree import tree_digest


def needs_preparing(heart: Heart, goal: Goal) -> bool:
    """Whether the goal has no usable place, or a check whose baseline is unknown."""
    with heart.engine.read() as reader:
        places = reader.records(Place, "place.of_goal", goal=goal.id)
        if any(place.state == "broken" for place in places):
            return False
        if not any(place.state == "ready" and place.holds is None for place in places) and not _waits_for_own(places):
            return True
        return any(check.baseline == "unknown" for check in reader.records(Check, "check.of_goal", goal=goal.id))


def prepare(heart: Heart, goal: Goal) -> None:
    """Makes, sets up and checks the goal's place; what goes wrong leaves it *broken* with the reason, never half used.

    What was stopped on the way says nothing about the place: raises `StateMoved` (`stopping`), and it is done again later.
    """
    place = _row(heart, goal)
    with heart.holding(place.id) as free:
        if not free:
            return
        try:
            made = _make(heart, goal, place)
            broken = "" if place.state == "ready" else _set_up(heart, goal, made)
            broken = broken or _baselines(heart, goal, made)
        except StateMoved:
            raise
        except LoopxError as error:
            made, broken = place, f"{error.message}. {error.next}".rstrip(". ")
        except OSError as error:
            made, broken = place, f"{error.filename or place.path}: {error.strerror or error}"
        state = "broken" if broken else "ready"
        heart.log("place.settled", goal=goal.id, place=place.id, state=state)
        heart.act(
            "place settle",
            place=place.id,
            state=state,
            reason=_tail(broken),
            sandbox=heart.box.kind,
            base=made.base,
        )


def check_place(heart: Heart, goal: Goal, place: Place) -> None:
    """Before a turn: the place is still the expected one. Marks it broken and raises `Refused` (`place_broken`) if not."""
    project = heart.project_of(goal)
    try:
        with heart.repository(project.id):
            inspect_place(
                place.kind,
                Path(project.root),
                Path(place.path),
                place.branch,
                expected_identity=project.identity or None,
            )
    except LoopxError as error:
        heart.act("place settle", place=place.id, state="broken", reason=_tail(error.message))
        raise


def _waits_for_own(places: list[Place]) -> bool:
    return any(place.state == "ready" and place.holds for place in places)


def _row(heart: Heart, goal: Goal) -> Place:
    """The place record to prepare: a new or ready one, else a row made now (so that a crash finds it)."""
    with heart.engine.read() as reader:
        places = [item for item in reader.records(Place, "place.of_goal", goal=goal.id) if item.state != "broken"]
    known = next((item for item in places if item.state == "new"), None) or next(iter(places), None)
    if known is not None:
        return known
    project = heart.project_of(goal)
    root = Path(project.root)
    earlier = _earlier(heart, goal)
    base = earlier[0].base if earlier else _head_of(project)
    path = root if goal.place_kind in ("in-place", "directory") else _fresh_path(heart, goal, {p.path for p in earlier})
    answer = heart.act(
        "place make",
        goal=goal.id,
        kind=goal.place_kind,
        path=str(path),
        branch=_branch(goal) if goal.place_kind != "directory" else "",
        base=base,
    )
    return heart.get(Place, str(answer.answer["place"]))


def _head_of(project: Project) -> str:
    """The commit a first place begins at; empty where that is not known yet (the project is gone, or no repository)."""
    try:
        return _repository(project).head or ""
    except LoopxError:
        return ""


def _repository(project: Project) -> Repository:
    """The project's repository. Refuses (`place_broken`) another one that lies where it was."""
    found = need_repository(Path(project.root))
    if project.identity and identity(found) != project.identity:
        raise Refused(
            f"{project.root} holds another repository now", code="place_broken", next="put the project back there"
        )
    return found


def _earlier(heart: Heart, goal: Goal) -> list[Place]:
    """The goal's places that were given up: a fresh one begins where they did and lies elsewhere."""
    with heart.engine.read() as reader:
        return [item for item in reader.records(Place, "place.all", limit=1000) if item.goal == goal.id]


def _fresh_path(heart: Heart, goal: Goal, used: set[str]) -> Path:
    folder = private_folder(heart.home / "places")
    names = (goal.id if number == 1 else f"{goal.id}-{number}" for number in count(1))
    return next(path for name in names if str(path := folder / name) not in used and not path.exists())


def _make(heart: Heart, goal: Goal, place: Place) -> Place:
    project: Project = heart.project_of(goal)
    if place.kind != "directory":
        _repository(project)
    with heart.repository(project.id):
        made = make_place(place.kind, Path(project.root), Path(place.path), place.branch, place.base or None)
    heart.log("place.made", goal=goal.id, place=place.id)
    return replace(place, base=place.base or made.base)


def _set_up(heart: Heart, goal: Goal, place: Place) -> str:
    project = heart.project_of(goal)
    for number, argv in enumerate(project.setup, 1):
        result = heart.run_in_box(
            place,
            argv,
            tag=f"{place.id}.setup",
            timeout_ms=CHECK_TIMEOUT_MS,
            network=True,
            environment=project.environment,
            named=argv,
        )
        _go_on(result)
        if result.state != "exited" or result.exit != 0:
            return f"set-up step {number} ({' '.join(argv)[:200]}) {_said(result)}"
    return ""


def _baselines(heart: Heart, goal: Goal, place: Place) -> str:
    """Runs each check once on the base commit; the first that cannot run is the reason a place is broken."""
    with heart.engine.read() as reader:
        unknown = [item for item in reader.records(Check, "check.of_goal", goal=goal.id) if item.baseline == "unknown"]
    if not unknown:
        return ""
    at_base = _at_base(heart, goal, place)
    broken = ""
    for check in unknown:
        result = heart.run_in_box(
            at_base,
            check.argv,
            tag=f"{check.id}.baseline",
            timeout_ms=check.timeout,
            network=check.network,
            cwd=check.cwd,
            environment=check.environment,
            named=heart.named_by_person(check),
        )
        _go_on(result)
        baseline = baseline_of(result)
        heart.act("check baseline", check=check.id, baseline=baseline, tail=_tail(result.tail))
        heart.log("check.baseline", goal=goal.id, check=check.id, baseline=baseline)
        if baseline == "cannot run" and not broken:
            broken = f"the check {' '.join(check.argv)[:200]} {_said(result)}"
    return broken


def baseline_of(result: ProgramResult) -> str:
    """red, green or *cannot run*: a program that is missing says nothing about the work."""
    if result.state == "cannot_run":
        return "cannot run"
    return "green" if result.state == "exited" and result.exit == 0 else "red"


def _go_on(result: ProgramResult) -> None:
    if result.state == "stopped":
        raise StateMoved("it was stopped on the way; it is done again when work goes on", code="stopping")


def _at_base(heart: Heart, goal: Goal, place: Place) -> Place:
    """Where the base commit lies: the place itself while nothing was done in it, else a further worktree."""
    if place.kind not in ("worktree", "clone") or not place.base:
        return place
    root = Path(place.path)
    if tree_digest(root) == tree_of(root, place.base):
        return place
    project = Path(heart.project_of(goal).root)
    further = private_folder(heart.home / "places") / f"{goal.id}.base"
    fresh = not (further / ".git").is_file()
    if fresh:
        with heart.repository(goal.project):
            run_git(project, "worktree", "add", "--quiet", "--no-checkout", "--detach", "--", str(further), place.base)
    run_git(further, "read-tree", "--reset", "-u", place.base, env=at_place(further), timeout_s=900, remote=True)
    base = replace(place, path=str(further))
    broken = _set_up(heart, goal, base) if fresh else ""
    if broken:
        raise Refused(broken, code="place_broken")
    return base


def _branch(goal: Goal) -> str:
    return f"loopx/{goal.id}"


def _said(result: ProgramResult) -> str:
    how = {"timeout": "ran out of time", "cannot_run": "cannot run", "stopped": "was stopped"}.get(result.state)
    return f"{how or f'ended with exit {result.exit}'}\n{result.tail}"


def _tail(text: str) -> str:
    from loopx_engine.heartbeat.packet import cut
    from loopx_engine.model.limits import TAIL_BYTES

    return cut(text, TAIL_BYTES)
