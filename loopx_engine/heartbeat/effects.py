"""Effects carried out: intent -> attempted -> done | failed | uncertain. An uncertain one is read back, never repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.errors import LoopxError, Refused, TryAgain
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import cut
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import CHECK_TIMEOUT_MS
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import TAIL_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.places.commits import commit_tree
from loopx_engine.places.environment import child_environment
from loopx_engine.places.git import resolve
from loopx_engine.places.integrate import EffectOutcome, merge, push, read_remote, write_file
from loopx_engine.places.make import fetch_back
from loopx_engine.places.program import run_program
from loopx_engine.places.repository import need_repository, protected_refs
from loopx_engine.places.sandbox import Box, Mounts

AUTHOR = ("LoopX", "loopx@localhost")


def resolve_effect(heart: Heart, goal: Goal, asked: dict[str, Any]) -> dict[str, Any]:
    """The act as it would be carried out now: for a push the commit and what the remote has, so that consent binds to them."""
    action = str(asked.get("action", ""))
    root = Path(heart.project_of(goal).root)
    if action == "push":
        remote, ref = str(asked.get("remote", "origin")), str(asked.get("ref", f"loopx/{goal.id}"))
        sha = _branch_head(heart, goal, root)
        protected = protected_refs(need_repository(root))
        has = read_remote(root, remote, ref)
        return {
            "action": "push", "remote": remote, "ref": ref, "sha": sha, "remote_has": has or "", "protected": list(protected)
        }  # fmt: skip
    if action == "merge":
        into = str(asked.get("into", ""))
        head = resolve(root, f"refs/heads/{into}") if into else None
        protected = protected_refs(need_repository(root))
        return {
            "action": "merge", "into": into, "sha": _branch_head(heart, goal, root), "into_has": head or "",
            "protected": list(protected),
        }  # fmt: skip
    known = {"command": ("argv",), "write": ("path", "text", "before"), "post": ("to", "text")}
    return {"action": action, **{name: asked[name] for name in known.get(action, ()) if name in asked}}


def carry_out_all(heart: Heart, goal: str) -> int:
    """Carries out every intent of a goal and reads back what is uncertain. Returns how many were settled."""
    with heart.engine.read() as reader:
        effects = reader.records(Effect, "effect.unsettled_of_goal", goal=goal)
    return sum(carry_out(heart, effect) for effect in effects)


def carry_out(heart: Heart, effect: Effect) -> bool:
    """One effect, from wherever it stands. True when its outcome is now known."""
    if effect.state == "intent":
        void = _void(heart, effect)
        if void is not None:
            return void
        try:
            heart.act("effect attempt", effect=effect.id)
        except Refused as error:
            if error.code != "effect_void":
                raise
            heart.act("effect settle", effect=effect.id, state="failed", detail=cut(error.message, TAIL_BYTES))
            return True
        outcome = _attempt(heart, effect)
    else:
        outcome = _read_back(heart, effect)
    if effect.state == "uncertain" and outcome.state == "uncertain":
        return False
    heart.log("effect.settled", goal=effect.goal, effect=effect.id, action=effect.action, state=outcome.state)
    heart.act(
        "effect settle",
        effect=effect.id,
        state=outcome.state,
        detail=cut(outcome.detail, TAIL_BYTES),
        value=outcome.value[:500],
    )
    return outcome.state != "uncertain"


def _void(heart: Heart, effect: Effect) -> bool | None:
    """Before the act: the answer must still verify, and be about what would be done now. Else it is void and asked anew."""
    if not effect.decision:
        return None
    decision = heart.get(Decision, effect.decision)
    with heart.engine.read() as reader:
        why = heart.engine.trust_of(reader).why_not(decision)
    if why is not None:
        heart.act("effect settle", effect=effect.id, state="failed", detail=f"the answer is void: {why}")
        return True
    try:
        now = resolve_effect(heart, heart.get(Goal, effect.goal), dict(effect.params))
    except TryAgain:
        return False
    except LoopxError as error:
        heart.act("effect settle", effect=effect.id, state="failed", detail=cut(error.message, TAIL_BYTES))
        return True
    if now == effect.params:
        return None
    heart.act(
        "decision settle", decision=decision.id, state="void", outcome=_difference(effect.params, now), effect=now
    )
    heart.act(
        "effect settle", effect=effect.id, state="failed", detail="what it is about has changed since it was shown"
    )
    return True


def _difference(shown: dict[str, Any], now: dict[str, Any]) -> str:
    changed = [name for name in now if now[name] != shown.get(name)]
    return (
        "changed since it was shown: "
        + ", ".join(f"{name} {shown.get(name)} -> {now[name]}" for name in changed)[:1000]
    )


def _attempt(heart: Heart, effect: Effect) -> EffectOutcome:
    try:
        return _ACTS[effect.action](heart, effect)
    except TryAgain as error:
        return EffectOutcome("uncertain", error.message)
    except LoopxError as error:
        return EffectOutcome("failed", error.message)
    except OSError as error:
        return EffectOutcome("uncertain", f"{error.filename or effect.action}: {error.strerror or error}")


def _read_back(heart: Heart, effect: Effect) -> EffectOutcome:
    """What came of an act whose end nobody saw. Commit, merge and file write are idempotent; a push asks its remote."""
    if effect.action in ("commit", "write"):
        return _attempt(heart, effect)
    root = Path(heart.project_of(heart.get(Goal, effect.goal)).root)
    try:
        if effect.action == "push":
            has = read_remote(root, str(effect.params["remote"]), str(effect.params["ref"]))
            done = has == effect.params["sha"]
            return EffectOutcome("done" if done else "failed", "read back from the remote", has or "")
        if effect.action == "merge":
            head = resolve(root, f"refs/heads/{effect.params['into']}") or ""
            moved = head != effect.params.get("into_has")
            return EffectOutcome("done" if moved else "failed", "read back from the branch", head)
    except LoopxError as error:
        return EffectOutcome("uncertain", error.message)
    return EffectOutcome("uncertain", "nobody saw how it ended")


def _commit(heart: Heart, effect: Effect) -> EffectOutcome:
    place = heart.get(Place, str(effect.params["place"]))
    todo = heart.get(Todo, str(effect.todo))
    receipt = _receipt_of(heart, effect)
    commit = commit_tree(
        Path(place.path),
        str(effect.params["tree"]),
        place.branch,
        todo.title,
        {"LoopX-Todo": todo.id, "LoopX-Receipt": receipt},
        AUTHOR,
        effect.created_at,
        base=place.base or None,
    )
    if place.kind == "clone":
        fetch_back(Path(heart.project_of(heart.get(Goal, effect.goal)).root), Path(place.path), place.branch)
    return EffectOutcome("done", f"{place.branch} {str(commit)[:12]}", str(commit))


def _push(heart: Heart, effect: Effect) -> EffectOutcome:
    root = Path(heart.project_of(heart.get(Goal, effect.goal)).root)
    params = effect.params
    return push(root, str(params["sha"]), str(params["remote"]), str(params["ref"]), str(params["remote_has"]) or None)


def _merge(heart: Heart, effect: Effect) -> EffectOutcome:
    goal = heart.get(Goal, effect.goal)
    root = Path(heart.project_of(goal).root)
    return merge(
        root,
        f"loopx/{goal.id}",
        str(effect.params["into"]),
        f"{goal.title} ({goal.id})",
        effect.created_at,
        author=AUTHOR,
    )


def _write(heart: Heart, effect: Effect) -> EffectOutcome:
    before = effect.params.get("before")
    data = str(effect.params.get("text", "")).encode("utf-8")
    return write_file(Path(str(effect.params["path"])), data, str(before) if before else None)


def _command(heart: Heart, effect: Effect) -> EffectOutcome:
    """A granted program outside the box, in the place's folder, with a clean environment."""
    goal = heart.get(Goal, effect.goal)
    given = effect.params.get("argv")
    argv = [str(item) for item in given] if isinstance(given, list | tuple) else []
    root = Path(_place_of(heart, goal).path)
    result = run_program(
        argv,
        cwd=root,
        box=Box(kind="none", reason="an act outside the box, allowed by a person"),
        mounts=Mounts(place=root),
        environment=child_environment({}),
        tag=heart.tag(goal.id, f"{effect.id}.command"),
        timeout_s=CHECK_TIMEOUT_MS / 1000,
        network=True,
        stop=heart.halt_of(goal.id),
    )
    if result.state == "exited":
        return EffectOutcome(
            "done" if result.exit == 0 else "failed", f"exit {result.exit}\n{result.tail}", str(result.exit)
        )
    return EffectOutcome("failed" if result.state == "cannot_run" else "uncertain", f"{result.state}\n{result.tail}")


def _post(heart: Heart, effect: Effect) -> EffectOutcome:
    return EffectOutcome("failed", "no channel is set up on this machine")


_ACTS = {"commit": _commit, "push": _push, "merge": _merge, "write": _write, "command": _command, "post": _post}


def _receipt_of(heart: Heart, effect: Effect) -> str:
    """The receipt that intended the effect: the one that settled its todo."""
    found = heart.engine.ledger.last_receipts(subject=effect.id, limit=50)
    return found[-1].id if found else effect.turn or effect.id


def _place_of(heart: Heart, goal: Goal) -> Place:
    with heart.engine.read() as reader:
        places = reader.records(Place, "place.of_goal", goal=goal.id)
    if not places:
        raise Refused(f"{goal.id} has no place", code="no_place", next=f"loopx show {goal.id}")
    return next((item for item in places if item.state == "ready"), places[0])


def _branch_head(heart: Heart, goal: Goal, root: Path) -> str:
    head = resolve(root, f"refs/heads/loopx/{goal.id}")
    if head is None:
        raise Refused(f"there is no branch loopx/{goal.id} yet", code="no_branch", next=f"loopx show {goal.id}")
    return head
