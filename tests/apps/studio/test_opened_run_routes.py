"""The routes of one run: the pages, and what is measured of an input that is sent."""

import json
import threading
from typing import Any

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio.opened_run_routes import MOST_READS
from netwright.apps.studio.opened_runs import OpenedRuns
from netwright.recipes.run.run import Run
from tests.apps.studio.conftest import LET_IN, Open

RUN = "runs/mlp-2-0"


def test_the_pages_are_there_under_the_studios_policy(studio: Open) -> None:
    visitor = studio()
    for path, script in (("/try", b"try_it.js"), ("/inside", b"inside.js")):
        answer = visitor.get(path)
        assert answer.status == 200 and script in answer.body
        assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_a_view_is_asked_with_and_without_an_input(studio: Open) -> None:
    visitor = studio()
    assert visitor.get(f"/api/view?run={RUN}&view=saliency&example=1").status == 200
    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    row = dict.fromkeys(columns, 0.5)
    assert visitor.post(f"/api/view/own?run={RUN}&view=saliency", {"rows": [row]}).status == 200
    assert visitor.post(f"/api/view/own?run={RUN}&view=saliency", {"rows": []}).status == 400
    assert visitor.post("/api/view/own?run=&view=saliency", {"rows": [row]}).status == 400


@pytest.mark.parametrize(("changes", "status"), [(1, 200), (99, 503)])
def test_a_run_that_changes_while_its_data_is_read_is_read_again(
    studio: Open, monkeypatch: pytest.MonkeyPatch, changes: int, status: int
) -> None:
    visitor, note_read = studio(), OpenedRuns.note_read
    noted: list[str] = []

    def forgets(runs: OpenedRuns, name: str) -> None:
        noted.append(name)
        if len(noted) > changes:
            note_read(runs, name)

    monkeypatch.setattr(OpenedRuns, "note_read", forgets)
    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    asked = {"rows": [dict.fromkeys(columns, 0.5)]}
    answer = visitor.post(f"/api/view/own?run={RUN}&view=occlusion", asked)
    assert answer.status == status, answer.body
    assert len(noted) == min(changes + 1, MOST_READS)


@pytest.mark.parametrize("is_own", [False, True])
def test_while_data_is_read_for_a_view_others_are_answered(
    studio: Open, monkeypatch: pytest.MonkeyPatch, *, is_own: bool
) -> None:
    visitor, read = studio(), Run.data_at_hand
    is_reading, may_read = threading.Event(), threading.Event()

    def slow(run: Run) -> Any:
        is_reading.set()
        assert may_read.wait(60)
        return read(run)

    columns = [one["name"] for one in visitor.get(f"/api/run?run={RUN}").json["takes"]["columns"]]
    asked = {"rows": [dict.fromkeys(columns, 0.5)]}
    sent = {**LET_IN, "Content-Type": "application/json"}
    monkeypatch.setattr(Run, "data_at_hand", slow)
    if is_own:
        path, body = f"/api/view/own?run={RUN}&view=occlusion", json.dumps(asked).encode()
        waiting = visitor.asking.begin("POST", path, body, sent)
    else:
        path = f"/api/view?run={RUN}&view=saliency&example=1"
        waiting = visitor.asking.begin("GET", path, headers=LET_IN)
    try:
        assert is_reading.wait(60)
        assert visitor.post(f"/api/predict?run={RUN}", asked).status == 200
        assert visitor.get("/api/run?run=runs/mlp-8-1").status == 200
        assert not waiting.done()
    finally:
        may_read.set()
    assert waiting.result(60).status == 200
