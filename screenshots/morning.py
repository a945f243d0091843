"""The morning of the look: six goals of one shop, two turns at work, four questions, one lost turn, three answers of today.

Each goal is a story of its own that says when it goes on; all of them are played beside each other. Every text goes through
`words`, so that the same morning can be seen in other scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screenshots.stage import DAY, HOUR, MINUTE, NOW, SANDBOX, SECOND, Stage, Story

Words = Callable[[str], str]
AGENTS = (("codex-2", "codex"), ("claude-1", "claude"), ("codex-3", "codex"))
PYTEST = ("pytest", "-q")
CART = '''"""What a cart costs."""

from decimal import Decimal


def total(items: list[Item]) -> Decimal:
    return sum(i.price for i in items)


def empty(cart): return not cart.items
'''
TOTALS = '''"""GET /totals"""

from src.cart import total

_cache = {}


def totals(cart):
    if cart.id not in _cache:
        _cache[cart.id] = total(cart.items)
    return {"total": str(_cache[cart.id])}
'''
FILES = {
    "README.md": "# shop-api\n\nThe shop's API.\n",
    "src/cart.py": CART,
    "src/web/totals.py": TOTALS,
    "tests/cart/test_cart.py": "def test_a_new_cart_is_empty():\n    assert empty(Cart())\n",
}
FAILING = """from decimal import Decimal

from src.cart import Item, total


def test_two_items():
    assert total([Item(price=Decimal("2.50"), quantity=2)]) == Decimal("5.00")
"""
QUANTITY = CART.replace("i.price for i in items", "i.price * i.quantity for i in items").replace(
    "def empty(cart): return not cart.items", "def is_empty(cart: Cart) -> bool:\n    return not cart.items"
)
UNCACHED = '''"""GET /totals"""

from src.cart import total


def totals(cart: Cart) -> dict[str, str]:
    return {"total": str(total(cart.items))}
'''
LIVE = (
    "[note] reading the plan and what is proved so far",
    "read   src/cart.py, src/web/totals.py",
    "run    git log --oneline main..loopx/{goal}",
    "       three commits, one a proved todo",
    "run    pytest -q tests/cart",
    "       ............                              [100%]",
    "       12 passed in 1.31s",
    "run    pytest -q",
    *(f"       {'.' * 40}  [{share:3}%]" for share in (12, 23, 35, 47, 59, 70, 82, 94)),
    "       .....................                     [100%]",
    "       341 passed in 9.84s",
    "read   docs/releasing.md",
    "says   Quantity is applied once; the API used a cached line",
    "says   total, so I removed the cache. What is missing is main:",
    "says   the release is a push to it.",
    "[ask] {question}",
    "says   I wait for the answer; nothing else is left to do here.",
)
NEXT = NOW + 7 * HOUR + 3 * MINUTE
"""14:05, when the next goal is due."""


def morning(stage: Stage, words: Words) -> None:
    """Plays all of it; the clock stands at `NOW` afterwards."""
    stage.open_house(FILES, AGENTS)
    stage.play(
        flaky_tests(stage, words),
        auth_rewrite(stage, words),
        queue_migration(stage, words),
        docs_site(stage, words),
        checkout_totals(stage, words),
        search_relevance(stage, words),
    )
    stage.clock.set(NOW)


def flaky_tests(stage: Stage, words: Words) -> Story:
    """DONE: nine of nine, five criteria met."""
    yield NOW - 8 * DAY - 5 * HOUR
    conditions = (
        "the suite passes 50 times",
        "no test sleeps",
        "no test needs the network",
        "no order",
        "under a minute",
    )
    goal = stage.goal(
        words("flaky tests"), agent=["codex-3"], check=PYTEST, objective=words("Every test says the same every time."),
        criterion=[[words(text), ["python", "tools/repeat.py", str(number)]] for number, text in enumerate(conditions, 1)],
    )  # fmt: skip
    yield from worked(stage, goal, stage.todos(goal, *(words(f"steady {name}") for name in AREAS)), 40 * MINUTE)
    prove_all(stage, goal, (341,) * 5)
    yield stage.clock.now() + HOUR
    stage.sign("goal close", goal=goal, note=words("every criterion is met"))


AREAS = ("cart", "orders", "users", "payments", "stock", "mail", "search", "exports", "health")


def auth_rewrite(stage: Stage, words: Words) -> Story:
    """HOLD: three of seven, a turn that was lost while the laptop slept, then paused by its owner."""
    yield NOW - 6 * DAY - 3 * HOUR
    goal = stage.goal(
        words("auth rewrite"), agent=["codex-3"], check=PYTEST, autonomy="unattended",
        objective=words("One session model; the old tokens go."), criterion=[[words("no old token is accepted"), []]],
    )  # fmt: skip
    titles = (
        "list who reads tokens",
        "session model",
        "sign in",
        "sign out",
        "move the old sessions",
        "drop tokens",
        "docs",
    )
    todos = stage.todos(goal, *map(words, titles))
    yield from worked(stage, goal, todos[:3], 50 * MINUTE)
    yield NOW - 2 * HOUR
    who = stage.begin("codex-3", goal, todos[3])
    stage.edit(goal, {"src/sessions.py": "def sign_out(session):\n    session.end()\n"})
    yield NOW - 39 * MINUTE
    stage.act("turn lose", turn=who.turn, reason=words("the laptop slept past its deadline"))
    yield NOW - 30 * MINUTE
    stage.say("goal pause", goal=goal)


def queue_migration(stage: Stage, words: Words) -> Story:
    """WAIT: nothing of five; the first waits for an hour of today."""
    yield NOW - 5 * DAY - HOUR
    goal = stage.goal(
        words("queue migration"), agent=["codex-2"], check=PYTEST,
        objective=words("Jobs move to the new queue while nobody shops."), criterion=[[words("no job is lost"), []]],
    )  # fmt: skip
    first = stage.todos(goal, words("drain the old queue"), wait=f"at:{NEXT}")
    stage.todos(
        goal, *map(words, ("move the jobs", "point the workers", "watch an hour", "stop the old one")), needs=first
    )
    yield NOW - 5 * HOUR
    rest(stage, goal, NEXT, "the first todo waits for its hour")


def docs_site(stage: Stage, words: Words) -> Story:
    """WAIT: seven of eight; a choice nothing waits for, and one that was answered no this morning."""
    yield NOW - 3 * DAY - 2 * HOUR
    goal = stage.goal(
        words("docs site"), agent=["codex-3"], check=("mkdocs", "build", "--strict"),
        objective=words("The docs build from the code."), criterion=[[words("no link is broken"), ["mkdocs", "build"]]],
    )  # fmt: skip
    titles = ("outline", "start page", "cart", "orders", "errors", "examples", "search box", "redirects")
    todos = stage.todos(goal, *map(words, titles))
    yield from worked(stage, goal, todos[:7], 35 * MINUTE)
    yield NOW - 70 * MINUTE
    who = stage.begin("codex-3", goal, todos[7])
    legacy = stage.speak(
        who, "decision ask", goal=goal, question=words("Delete legacy/?"), why=words("no page links to it")
    )
    yield NOW - 64 * MINUTE
    stage.speak(
        who, "decision ask", goal=goal, question=words("Keep the old URL alive?"), why=words("12 sites link to it"),
        option=[words("redirect it for a year"), words("let it go")],
    )  # fmt: skip
    yield NOW - 62 * MINUTE
    stage.act("turn end", turn=who.turn, result="progress", reason="")
    yield NOW - 21 * MINUTE
    stage.answer(str(legacy["decision"]), "no", words("keep until May"))
    yield NOW - 20 * MINUTE
    rest(stage, goal, NEXT + HOUR, "its agent is elsewhere")


def checkout_totals(stage: Stage, words: Words) -> Story:
    """RUN: four of six proved, two of three criteria met; the release waits for its owner."""
    yield NOW - 2 * DAY - 4 * HOUR
    goal = stage.goal(
        words("checkout totals"), active=False, agent=["codex-2"], autonomy="unattended", budget="turns=100,days=14", priority=1,
        objective=words("Totals must count quantity; the cart page and the API agree."),
        criterion=[
            [words("all tests pass"), list(PYTEST)],
            [words("API and page agree on 40 carts"), ["python", "tests/contract.py"]],
            [words("released on main"), ["git", "merge-base", "--is-ancestor", "HEAD", "origin/main"]],
        ],
    )  # fmt: skip
    stage.sign("check set", subject=goal, argv=list(PYTEST), protects=["tests/contract.py"])
    first = stage.todos(goal, words("reproduce the wrong total"), serves=[1])
    test = stage.todos(goal, words("failing test"), serves=[1], needs=first)
    fix = stage.todos(goal, words("multiply by quantity"), serves=[1, 2], needs=test)
    cache = stage.todos(goal, words("drop the cached line total"), serves=[2], needs=fix)
    release = stage.todos(goal, words("release the fix"), serves=[3], needs=cache)
    stage.todos(goal, words("update the changelog"), needs=release)
    yield NOW - 2 * DAY - 3 * HOUR
    stage.start(goal)
    yield NOW - 2 * DAY - 2 * HOUR
    who = stage.begin("codex-2", goal, first[0])
    yield stage.clock.now() + 9 * MINUTE
    stage.use(who, 41_000, 3_100, 210_000)
    stage.finish(who, words("two items of 2.50 cost 2.50"), tail="336 passed in 9.61s", count=336)
    yield NOW - DAY - 2 * HOUR
    who = stage.begin("codex-2", goal, test[0])
    stage.edit(goal, {"tests/cart/test_totals.py": FAILING})
    yield stage.clock.now() + 7 * MINUTE
    stage.use(who, 38_000, 2_400, 190_000)
    stage.finish(who, words("the test that must turn green"), tail="337 passed in 9.58s", count=337)
    yield from _mended(stage, words, goal, fix[0])
    yield from _reviewed(stage, words, goal, cache[0])
    yield from _released(stage, words, goal, release[0])


def _mended(stage: Stage, words: Words, goal: str, todo: str) -> Story:
    """A claim that the check refused, mended in the same turn; an act that a grant covers from then on."""
    yield NOW - 20 * MINUTE
    who = stage.begin("codex-2", goal, todo)
    stage.edit(goal, {"src/cart.py": QUANTITY.replace("i.price * i.quantity", "i.quantity * i.price * 2")})
    yield NOW - 14 * MINUTE
    stage.speak(
        who, "turn finish", turn=who.turn, outcome="done", summary=words("quantity counts"), no_successor="the plan"
    )
    stage.settle(
        who,
        passed=False,
        tail="FAILED tests/cart/test_totals.py::test_two_items\n1 failed, 340 passed in 9.70s",
        count=341,
    )
    asked = stage.ask_effect(
        who,
        words("Run pytest -x"),
        words("outside the box it sees the real database"),
        {"action": "command", "argv": ["pytest", "-x"]},
    )
    yield NOW - 13 * MINUTE
    said = stage.answer(
        asked, "yes", words("the test database only"), remember=True, scope="pytest *", uses=6, until=NOW + DAY
    )
    stage.ran(str(said["effect"]), "exit 0")
    stage.edit(goal, {"src/cart.py": QUANTITY})
    yield NOW - 12 * MINUTE
    stage.use(who, 96_000, 8_200, 610_000)
    stage.finish(who, words("quantity is applied once"), tail="341 passed in 9.77s", count=341)


def _reviewed(stage: Stage, words: Words, goal: str, todo: str) -> Story:
    """A claim that another agent reads before it counts; then two criteria are met."""
    yield NOW - 11 * MINUTE
    stage.sign("goal edit", goal=goal, reviewer=["codex-3"])
    who = stage.begin("codex-2", goal, todo)
    stage.edit(goal, {"src/web/totals.py": UNCACHED})
    yield NOW - 9 * MINUTE
    stage.use(who, 52_000, 4_400, 320_000)
    stage.finish(who, words("the API asks the cart"), tail="341 passed in 9.84s", count=341)
    yield NOW - 8 * MINUTE
    stage.review("codex-3", goal, todo, words("read both paths, 40 carts agree"))
    yield NOW - 7 * MINUTE
    prove_all(stage, goal, (341, 40))


def _released(stage: Stage, words: Words, goal: str, todo: str) -> Story:
    """The turn that asks for the push and waits."""
    yield NOW - 6 * MINUTE - 12 * SECOND
    who = stage.begin("codex-2", goal, todo)
    question = words("Publish 3 commits to origin/main")
    yield NOW - 4 * MINUTE - 12 * SECOND
    why = words("everything on the branch is proved; customers see the wrong total")
    stage.ask_effect(who, question, why, {"action": "push", "remote": "origin", "ref": "main"}, [todo])
    stage.use(who, 31_000, 1_900, 170_000)
    stage.transcript(who, [line.format(goal=goal, question=question) for line in LIVE])
    stage.keep(who)
    rest(stage, goal, NOW + 2 * HOUR, "a turn runs")


def search_relevance(stage: Stage, words: Words) -> Story:
    """RUN: two of nine; a plan accepted this morning, and a turn that asks for two packages."""
    yield NOW - 11 * HOUR
    goal = stage.goal(
        words("search relevance"), active=False, agent=["claude-1"], check=("npm", "test"),
        objective=words("What is new and bought often comes first."),
    )  # fmt: skip
    titles = (
        "collect ten searches", "measure today", "rank by recency", "rank by sales", "weigh both", "typos", "plural forms",
        "empty results", "tell the shop owners",
    )  # fmt: skip
    who = stage.begin("claude-1", goal)
    yield NOW - 10 * HOUR - 51 * MINUTE
    known = {"goal": goal, "text": words("ten known searches find it first")}
    commands = [{"verb": "criterion add", "arguments": known}]
    commands += [{"verb": "todo add", "arguments": {"goal": goal, "title": words(title)}} for title in titles]
    plan = stage.speak(
        who, "decision propose", goal=goal, question=words("The plan for search relevance: 9 todos"), commands=commands,
        why=words("read the search code and last month's searches"),
    )  # fmt: skip
    stage.speak(who, "turn finish", turn=who.turn, outcome="done", summary=words("a plan of nine todos"))
    stage.settle(who)
    yield NOW - 50 * MINUTE
    added = stage.answer(str(plan["decision"]), "yes")["carried_out"]
    todos = [str(item["answer"]["todo"]) for item in added if item["verb"] == "todo add"]
    stage.start(goal)
    yield from worked(stage, goal, todos[:2], 3 * MINUTE, agent="claude-1", pause=MINUTE)
    yield NOW - 37 * MINUTE - 46 * SECOND
    who = stage.begin("claude-1", goal, todos[2])
    yield NOW - 31 * MINUTE
    _npm(stage, words, who, "pad-start", todos[2])
    yield NOW - 12 * MINUTE
    _npm(stage, words, who, "left-pad", todos[2])
    stage.use(who, 61_000, 5_200, 480_000)
    stage.transcript(
        who, ["[note] ranking by the day of the last sale", "[ask] Run npm i pad-start", "[ask] Run npm i left-pad"]
    )
    stage.keep(who)
    rest(stage, goal, NOW + 2 * HOUR, "a turn runs")


def _npm(stage: Stage, words: Words, who: object, package: str, todo: str) -> None:
    argv = ["npm", "i", package]
    effect = {"action": "command", "argv": argv}
    stage.ask_effect(who, words(f"Run npm i {package}"), words("the box has no network for packages"), effect, [todo])  # type: ignore[arg-type]


def worked(stage: Stage, goal: str, todos: list[str], each: int, *, agent: str = "", pause: int = 2 * MINUTE) -> Story:
    """Todos done one after the other by the goal's agent, `each` milliseconds a turn; their files do not change."""
    name = agent or "codex-3"
    for todo in todos:
        yield stage.clock.now() + pause
        who = stage.begin(name, goal, todo)
        yield stage.clock.now() + each
        stage.use(who, 24_000, 2_000, 120_000)
        stage.finish(who, "done as planned", tail="341 passed in 9.81s", count=341)


def prove_all(stage: Stage, goal: str, counts: Sequence[int]) -> None:
    """The engine's runs of the first criteria's checks, all passed, each with so many tests."""
    for criterion, count in zip(stage.criteria(goal), counts, strict=False):
        stage.act(
            "criterion prove", criterion=criterion, outcome="pass", exit=0, tail=f"{count} passed", count=count, tree="",
            sandbox=SANDBOX, started_at=stage.clock.now() - 20 * SECOND,
        )  # fmt: skip


def rest(stage: Stage, goal: str, due: int, cause: str) -> None:
    """When the engine looks at the goal again."""
    stage.act("wake set", goal=goal, due=due, pace="others", cause=cause)
