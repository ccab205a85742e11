"""The routes of theory: a claim, its verdict, and the ledger that a process makes."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.requests import Request

from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.studio.jobs import Job, Jobs
from netwright.apps.studio.theory_routes import LEDGER, TheoryRoutes
from netwright.theory.catalog import CLAIMS
from tests.apps.studio.conftest import Open


def test_a_claim_is_shown_and_checked(studio: Open) -> None:
    visitor = studio()
    assert visitor.get("/theory").status == 200
    assert visitor.get("/api/claim?claim=novikoff").json["kind"] == "theorem"
    told = visitor.post("/api/check", {"claim": "novikoff", "settings": {"sets": 3, "points": 5}})
    assert told.json["answer"] == "holds"
    assert visitor.get("/api/claim?claim=none").status == 400


def test_the_ledger_is_made_by_a_command_and_shown_as_a_strangers_page(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = studio()
    started: list[Any] = []
    code: list[int | None] = [None]
    process: Any = SimpleNamespace(pid=1, poll=lambda: code[-1])

    def start(jobs: Jobs, words: Any, said: str) -> Any:
        started.append(words)
        (jobs.folder / LEDGER).parent.mkdir(exist_ok=True)
        (jobs.folder / LEDGER).write_text("<script>1</script>")
        return Job(said, jobs.folder / "log", process)

    assert visitor.get("/ledger").status == 404
    state = {"is_running": False, "is_made": False, "said": ""}
    assert visitor.get("/api/ledger/state").json == state
    monkeypatch.setattr(Jobs, "start", start)
    assert visitor.post("/api/ledger", {}).json["said"] == "checking all claims"
    assert started == [["theory", "--all", "--html", LEDGER]]
    assert visitor.get("/api/ledger/state").json["is_running"]
    again = visitor.post("/api/ledger", {})
    assert again.status == 409 and "wait" in again.error and len(started) == 1
    code.append(1)
    (visitor.folder / "log").write_text("no room\n")
    state = {"is_running": False, "is_made": True, "said": "no room"}
    assert visitor.get("/api/ledger/state").json == state
    assert visitor.post("/api/ledger", {}).status == 200
    answer = visitor.get("/ledger")
    assert answer.headers["content-security-policy"].startswith("sandbox")


@pytest.mark.parametrize("end", ["the asker leaves", "the studio ends"])
def test_an_experiment_that_nobody_waits_for_is_ended(tmp_path: Path, end: str) -> None:
    routes = TheoryRoutes(tmp_path, ServerConfig(), Jobs(tmp_path), lambda: end[4] == "s")
    ended: list[str] = []

    async def endless(asked: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(asked["claim"])

    body = {"type": "http.request", "body": b'{"claim": "novikoff"}', "more_body": False}
    messages = [{"type": "http.disconnect"}, body]

    async def receive() -> Any:
        if end[4] == "s" and len(messages) == 1:
            await asyncio.Event().wait()
        return messages.pop()

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    routes.checks.check = endless  # type: ignore[method-assign]
    with pytest.raises(RefusalError, match="was stopped"):
        asyncio.run(routes.check(request))
    assert ended == ["novikoff"]


def test_claims_are_loaded_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = TheoryRoutes(tmp_path, ServerConfig(), Jobs(tmp_path), lambda: False)
    loaded: list[str] = []
    monkeypatch.setattr(type(CLAIMS), "load", lambda _, name: loaded.append(name))
    monkeypatch.setattr(asyncio, "sleep", lambda _: pytest.fail("it waited"))
    asyncio.run(routes.load_ahead())
    assert loaded == list(CLAIMS)


def test_names_of_other_arguments_are_no_settings(studio: Open) -> None:
    visitor = studio()
    for name in ("self", "seed", "size", "settings"):
        told = visitor.post("/api/check", {"claim": "novikoff", "settings": {name: 1}})
        assert told.status == 400 and name in told.error
