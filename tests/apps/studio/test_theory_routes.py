"""The routes of theory: a claim, its verdict, and the ledger that a process makes."""

from typing import Any

import pytest

from netwright.apps.studio.jobs import Jobs
from netwright.apps.studio.theory_routes import LEDGER
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

    def start(jobs: Jobs, words: Any, said: str) -> Any:
        started.append(words)
        (jobs.folder / LEDGER).parent.mkdir(exist_ok=True)
        (jobs.folder / LEDGER).write_text("<script>1</script>")
        return type("Job", (), {"process": type("Process", (), {"pid": 1})})

    assert visitor.get("/ledger").status == 404
    monkeypatch.setattr(Jobs, "start", start)
    assert visitor.post("/api/ledger", {}).json["said"] == "checking all claims"
    assert started == [["theory", "--all", "--html", LEDGER]]
    answer = visitor.get("/ledger")
    assert answer.headers["content-security-policy"].startswith("sandbox")
