"""Spoiled requests: each is refused in a sentence, nothing fails, nothing outside is read."""

import json
import random
import string
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio.playgrounds import ACTIONS, Playgrounds, Watched
from tests.apps.studio.conftest import LET_IN, Open, Visitor
from tests.repetition import slow_but

GETS = {
    "/": (),
    "/new": (),
    "/try": (),
    "/inside": (),
    "/report": ("run",),
    "/comparison": ("run",),
    "/view": ("run", "view", "example"),
    "/api/runs": (),
    "/api/run": ("run",),
    "/api/compare": ("run",),
    "/api/views": ("run",),
    "/api/view": ("run", "view", "example"),
    "/static/runs.js": (),
    "/enter": ("token",),
}
POSTS = (
    "stop",
    "delete",
    "note",
    "plan",
    "predict",
    "view/own",
    "generate",
    "upload",
    "nothing",
    "playground",
    "playground/act",
    "check",
)
SECRET = "the secret beside the folder"
LONG = (pytest.mark.slow, pytest.mark.long)
TRAVELS = [
    *("../secret.txt", "..", "../../etc/passwd", "/etc/passwd", "//etc/passwd", "~/.ssh/id_rsa"),
    *("runs/../../secret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%2fsecret.txt"),
    *("..\\secret.txt", "....//secret.txt", "runs/mlp-2-0/../../../secret.txt", "\0", "a\0b"),
    *("file:///etc/passwd", "http://127.0.0.1:1/", "linked/secret.txt", "linked", ".bin/../.."),
    *("%00", "%c0%ae%c0%ae/secret.txt", "runs/mlp-2-0%00.csv", "\U0001f600", "x" * 3000, "-c"),
]
ODD: list[Any] = [None, True, 0, -1, 1e308, "", "x", [], {}, [[]], {"a": {}}, *TRAVELS[:8]]
NAMED: list[Any] = [
    {"train.lr": "0.1"},
    {"model.embeddings": "/etc"},
    *({name: 1} for name in ("self", "seed", "size", "settings")),
]


def some(chance: random.Random) -> str:
    """A value that nobody expects."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(TRAVELS)
    if kind == 1:
        return "".join(chance.choices(string.printable, k=chance.randrange(40)))
    if kind == 2:
        return chance.choice(["runs/mlp-2-0", "confusion", "moons", "0", "99999999999999999999"])
    return chr(chance.randrange(1, 0xD000)) * chance.randrange(4)


def body_of(chance: random.Random, playground: str, *, is_opening: bool) -> bytes:
    asked: dict[str, Any] = {
        "name": chance.choice([playground, playground, *ODD]),
        "action": chance.choice([*ACTIONS, *ODD]),
        "speed": chance.choice([1e-300, 10**400, *ODD]),
        "points": chance.choice([[[0, 0, 0], [0, 1, 1]] * 3, *ODD]),
        "drawings": chance.choice([[[9] * 64 + [0], [0] * 64 + [1]] * 3, *ODD]),
        "pixels": chance.choice([[255] * 64, [[]] * 64, *ODD]),
        "claim": chance.choice(["novikoff", *ODD]),
        "size": chance.choice(["quick", *ODD]),
        "run": chance.choice(["runs/mlp-8-1", *ODD]),
        "data": chance.choice(["moons", *ODD]),
        "model": chance.choice(["mlp", *ODD]),
        "settings": chance.choice(
            [{"train.lr": "0.1"}, {"model.embeddings": "/etc"}, *NAMED, *ODD]
        ),
        "seed": chance.choice([0, *ODD]),
        "rows": chance.choice([[{"x0": 1, "x1": 2}], *ODD]),
        "prompt": chance.choice(ODD),
        "tags": chance.choice([["a"], *ODD]),
        "note": chance.choice(ODD),
    }
    for name in chance.sample(sorted(asked), chance.randrange(len(asked))):
        del asked[name]
    if is_opening:
        return json.dumps({**asked, "speed": "x"}).encode()  # one that opens would never end
    content = json.dumps(asked).encode()
    if chance.random() < 0.3:
        place = chance.randrange(len(content))
        content = content[:place] + chance.randbytes(3) + content[place + 1 :]
    return content


def spoiled(chance: random.Random, visitor: Visitor, playground: str) -> tuple[str, int, bytes]:
    headers = dict(LET_IN)
    if chance.random() < 0.1:
        headers[chance.choice(["Host", "Origin", "Cookie", "Content-Type"])] = some(chance)
    if chance.random() < 0.5:
        path = chance.choice(sorted(GETS))
        query = "&".join(f"{name}={quote(some(chance))}" for name in GETS[path])
        method, target, body = "GET", f"{path}?{query}", b""
    else:
        name = chance.choice(POSTS)
        run, view = (chance.choice([one, some(chance)]) for one in ("runs/mlp-2-0", "occlusion"))
        query = f"run={quote(run)}&name={quote(some(chance))}"
        method, target = "POST", f"/api/{name}?{query}" + f"&view={quote(view)}" * ("/own" in name)
        body = body_of(chance, playground, is_opening=name == "playground")
        headers.setdefault("Content-Type", "application/json")
    if chance.random() < 0.05:
        method = chance.choice(["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"])
    answer = visitor.asking.ask(method, target, body, headers)
    return f"{method} {target} {body!r}", answer.status, answer.body


@contextmanager
def opened_playground(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a playground whose pictures somebody reads."""
    found: Queue[str] = Queue()
    first = Playgrounds.open

    async def told(playgrounds: Playgrounds, asked: Any) -> Watched:
        watched = await first(playgrounds, asked)
        found.put(watched.name)
        return watched

    monkeypatch.setattr(Playgrounds, "open", told)
    headers = {**LET_IN, "Content-Type": "application/json"}
    body = json.dumps({"data": "moons", "model": "mlp", "settings": {"data.n": "60"}}).encode()
    reading = visitor.asking.begin("POST", "/api/playground", body, headers)
    yield found.get(timeout=60)
    reading.cancel()


@pytest.mark.parametrize(
    "seed", [*slow_but([0], range(8)), *(pytest.param(seed, marks=LONG) for seed in range(8, 20))]
)
def test_no_request_fails_or_tells_what_lies_outside(
    studio: Open, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, chance = studio(), random.Random(seed)
    (visitor.folder.parent / "secret.txt").write_text(SECRET)
    (visitor.folder / "linked").symlink_to(visitor.folder.parent)
    with opened_playground(visitor, monkeypatch) as name:
        for _ in range(250):
            asked, status, body = spoiled(chance, visitor, name)
            assert status < 500 or status == 507, asked
            assert SECRET.encode() not in body and b"root:" not in body, asked
        told = visitor.post("/api/playground/act", {"name": name, "action": "pause"})
        assert told.status == 200  # it is open still
    beside = {path.name for path in visitor.folder.parent.iterdir()}
    assert beside == {"folder", "secret.txt"}


def test_no_travel_leads_anywhere(studio: Open) -> None:
    visitor = studio()
    (visitor.folder.parent / "secret.txt").write_text(SECRET)
    (visitor.folder / "linked").symlink_to(visitor.folder.parent)
    for travel in TRAVELS:
        name = quote(travel, errors="replace")
        for path in ("/report?run=", "/api/run?run=", "/api/views?run=", "/comparison?run="):
            answer = visitor.get(path + name)
            assert answer.status in {400, 404} and SECRET.encode() not in answer.body
        assert visitor.get(f"/static/{name}").status in {404, 400}
        assert visitor.post("/api/plan", {"data": travel, "model": "mlp"}).status == 400
        assert visitor.post("/api/delete", {"run": travel}).status == 400
        settings = {"model.embeddings": travel, "data.vocabulary": travel}
        told = visitor.post("/api/train", {"data": "moons", "model": "mlp", "settings": settings})
        assert told.status == 400
