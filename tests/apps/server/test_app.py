"""The routes: answers equal to those of the runs, refusals with a status and a sentence."""

import asyncio
import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.server.guard import Door
from netwright.core.terminal import console
from netwright.recipes.run.run import Run
from tests.apps.server.asking import LOCAL
from tests.apps.server.conftest import Serve

CSV = {**LOCAL, "Content-Type": "text/csv"}


def test_every_kind_of_run_answers_as_it_does_in_python(
    serve: Serve, folders: dict[str, Path], things_rows: list[dict[str, Any]]
) -> None:
    asking = serve()
    said = asking.post("/runs/things/predict", {"rows": things_rows}).json["answers"]
    run = nw.open_run(folders["things"])
    assert [row["kind"] for row in said] == run.predict(things_rows).tolist()
    shares = run.predict_proba(things_rows)[:, 0]
    assert [row["p(big)"] for row in said] == [round(float(one), 6) for one in shares]
    assert [row["id"] for row in said] == [row["id"] for row in things_rows]
    texts = ["a fine film", "a dull film"]
    said = asking.post("/runs/texts/predict", {"texts": texts}).json["answers"]
    assert [row["label"] for row in said] == nw.open_run(folders["texts"]).predict(texts).tolist()
    said = asking.post("/runs/reverse/predict", {"texts": ["ab", "ba"]}).json["answers"]
    wanted = nw.open_run(folders["reverse"]).predict(["ab", "ba"]).tolist()
    assert said == [
        {"source": source, "target": target}
        for source, target in zip(["ab", "ba"], wanted, strict=True)
    ]
    file = folders["pets"].parent / "pets" / "dog" / "0.png"
    sent = {**LOCAL, "Content-Type": "image/png"}
    (row,) = asking.ask("POST", "/runs/pets/predict", file.read_bytes(), sent).json["answers"]
    assert row["prediction"] == nw.open_run(folders["pets"]).predict([file])[0]


def test_csv_is_answered_in_csv_where_it_is_asked_for(serve: Serve) -> None:
    asking, body = serve(), b"size,colour\n1,red\n9,blue\n"
    answer = asking.ask("POST", "/runs/things/predict", body, {**CSV, "Accept": "text/csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    head, *rows = answer.body.decode().splitlines()
    assert head == "kind,p(big),p(small)"
    assert len(rows) == 2
    plain = asking.ask("POST", "/runs/things/predict?probabilities=false", body, CSV)
    assert [list(row) for row in plain.json["answers"]] == [["kind"]] * 2


@pytest.mark.parametrize(
    ("method", "target", "headers", "status", "sentence"),
    [
        ("GET", "/nowhere", LOCAL, 404, "there is nothing at this path"),
        ("GET", "/runs/things/predict", LOCAL, 405, "this path takes another method"),
        ("POST", "/runs/thing/predict", CSV, 404, "there is no run 'thing'; did you mean"),
        ("GET", "/runs/..%2f..%2fetc", LOCAL, 404, "there is nothing at this path"),
        ("POST", "/runs/things/predict?treshold=1", CSV, 400, "did you mean 'threshold'"),
        ("POST", "/runs/things/predict?threshold=2", CSV, 400, "threshold must be at most 1"),
        ("POST", "/runs/things/predict", LOCAL, 415, "got 'no Content-Type'"),
        ("POST", "/runs/things/predict", CSV, 400, "the body: the file is empty"),
        ("POST", "/runs/letters/predict", CSV, 400, "a language model has no label to predict"),
        ("POST", "/runs/letters/generate", CSV, 415, "generate takes application/json"),
        ("GET", "/", {"Host": "evil.example"}, 421, "is not one that the server is called by"),
    ],
)
def test_refusals_have_a_status_and_a_sentence(
    serve: Serve, method: str, target: str, headers: dict[str, str], status: int, sentence: str
) -> None:
    answer = serve().ask(method, target, b"", headers)
    assert answer.status == status
    assert sentence in answer.error


def test_generated_text_comes_in_pieces_or_whole(serve: Serve, folders: dict[str, Path]) -> None:
    asking, asked = serve(), {"prompt": "the", "max_tokens": 6, "seed": 1}
    pieces = list(nw.open_run(folders["letters"]).stream("the", max_tokens=6, seed=1))
    target = "/runs/letters/generate"
    assert asking.post(target, asked).json == {"prompt": "the", "text": "".join(pieces)}
    plain = asking.post(target, asked, {"Accept": "text/plain"})
    assert (plain.body.decode(), plain.parts) == ("".join(pieces), len(pieces))
    events = asking.post(target, asked, {"Accept": "text/event-stream"})
    assert events.parts == len(pieces) + 1
    assert events.headers["content-type"].startswith("text/event-stream")
    assert events.headers["x-accel-buffering"] == "no"  # a proxy passes on each piece
    refused = asking.post(target, {"prompt": "the", "max_tokens": 0}, {"Accept": "text/plain"})
    assert refused.status == 400


def test_health_readiness_runs_and_metrics_are_told(serve: Serve) -> None:
    asking = serve()
    assert asking.ask("GET", "/health").json == {"status": "ok"}
    assert asking.ask("GET", "/ready").json["status"] == "ready"
    runs = asking.ask("GET", "/runs").json["runs"]
    assert asking.ask("GET", "/runs/things").json == runs[0]
    asking.ask("POST", "/runs/things/predict", b"size,colour\n1,red\n9,blue\n", CSV)
    asking.ask("POST", "/runs/unknown/predict", b"", CSV)
    measured = asking.ask("GET", "/metrics").body.decode()
    counted = 'netwright_requests_total{run="things",operation="predict",status="200"} 1'
    assert counted in measured
    assert 'netwright_rows_total{run="things"} 2' in measured
    assert 'netwright_requests_total{run="",operation="predict",status="404"} 1' in measured
    assert "unknown" not in measured
    page = asking.ask("GET", "/")
    assert page.headers["content-type"].startswith("text/html")
    assert b"netwright serve" in page.body


def test_a_token_opens_all_but_two_routes(serve: Serve) -> None:
    asking = serve(Door(token="a-token-of-some-length"))
    paths = asking.ask(
        "GET", "/openapi.json", headers={**LOCAL, "Authorization": "Bearer a-token-of-some-length"}
    ).json["paths"]
    opened = [
        path
        for path, operations in {**paths, "/": {"get": {}}, "/openapi.json": {"get": {}}}.items()
        for method in operations
        if asking.ask(method.upper(), path).status != 401
    ]
    assert opened == ["/health", "/ready"]


def test_a_request_that_takes_too_long_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()
    predictions_of = Run.predictions_of

    def slow(run: Run, inputs: Any) -> Any:
        may_end.wait(60)
        return predictions_of(run, inputs)

    monkeypatch.setattr(Run, "predictions_of", slow)
    asking = serve(timeout=0.1)
    answer = asking.ask("POST", "/runs/things/predict", b"size,colour\n1,red\n", CSV)
    may_end.set()
    assert (answer.status, answer.error) == (503, "there was no answer within 0.1 seconds")
    assert answer.headers["retry-after"] == "1"


def test_a_place_is_taken_before_the_body_is_read(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netwright.apps.server.body import read_body

    seen = list[str]()
    is_reading, may_read = threading.Event(), threading.Event()

    async def held_up(request: Any, config: Any) -> bytes:
        seen.append(request.url.path)
        if len(seen) == 1:
            is_reading.set()
            await asyncio.to_thread(may_read.wait, 60)
        return await read_body(request, config)

    monkeypatch.setattr("netwright.apps.server.app.read_body", held_up)
    asking, body, path = serve(max_waiting=1), b"size,colour\n1,red\n", "/runs/things/predict"
    first = asking.begin("POST", path, body, CSV)
    assert is_reading.wait(60)
    refused = asking.ask("POST", path, body, CSV)
    other = asking.ask("POST", "/runs/sizes/predict", b"colour,kind,id\nred,big,1\n", CSV)
    may_read.set()
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert refused.error == "1 requests are waiting for things already; try again later"
    assert other.status == 200  # each run has its own places
    assert first.result().status == 200
    assert asking.ask("POST", path, b"nonsense", CSV).status == 400
    assert asking.ask("POST", path, body, CSV).status == 200  # refused or not, the place is free
    assert seen == [path, "/runs/sizes/predict", path, path]


def test_a_large_body_is_read_beside_the_others(serve: Serve, folders: dict[str, Path]) -> None:
    rows = [{"size": row / 7, "colour": "red"} for row in range(3000)]
    answer = serve().post("/runs/things/predict", {"rows": rows})
    wanted = nw.open_run(folders["things"]).predict(rows).tolist()
    assert [row["kind"] for row in answer.json["answers"]] == wanted
    bad = serve().post("/runs/things/predict", {"rows": [*rows, {"size": "x", "colour": "y"}]})
    assert "input, row 3000: column 'size': 'x' is not a number" in bad.error


def test_a_fault_of_ours_is_told_and_shows_no_path(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []
    monkeypatch.setattr("netwright.apps.server.replies.print_message", printed.append)

    def failing(run: Run, inputs: Any) -> Any:
        raise KeyError("/secret/path")

    monkeypatch.setattr(Run, "predictions_of", failing)
    answer = serve().ask("POST", "/runs/things/predict", b"size,colour\n1,red\n", CSV)
    assert answer.status == 500
    assert answer.error == "the server failed on this request; what it printed says why"
    assert any("/secret/path" in line for line in printed)
    assert console  # the only printer


def test_too_little_memory_is_no_fault(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(run: Run, inputs: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(Run, "predictions_of", failing)
    answer = serve().ask("POST", "/runs/things/predict", b"size,colour\n1,red\n", CSV)
    assert (answer.status, answer.error) == (
        503,
        "there is not enough memory for this request: send fewer rows",
    )


def test_a_folder_that_changes_is_served_anew(
    serve: Serve, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.app.LOOK_EVERY", 0.01)
    folder = Path(shutil.copytree(folders["things"], tmp_path / "x"))
    asking = serve(given={"x": folder})
    assert asking.ask("GET", "/runs/x").json["gives"]["names"] == ["kind"]
    shutil.rmtree(folder)
    shutil.copytree(folders["iris"], folder)
    end = time.monotonic() + 60
    while asking.ask("GET", "/runs/x").json["gives"]["names"] == ["kind"]:
        assert time.monotonic() < end
        time.sleep(0.01)
    answer = asking.post("/runs/x/predict", {"inputs": [[5.0, 3.0, 1.0, 0.2]]})
    assert answer.status == 200


def test_a_reader_who_goes_away_makes_room(serve: Serve) -> None:
    asking = serve(max_streams=1)
    body = json.dumps({"max_tokens": 4000}).encode()
    sent = {**LOCAL, "Content-Type": "application/json", "Accept": "text/plain"}
    for _ in range(3):
        future = asking.begin("POST", "/runs/letters/generate", body, sent)
        while "netwright_streams 1" not in asking.ask("GET", "/metrics").body.decode():
            time.sleep(0.001)
        future.cancel()
        while "netwright_streams 1" in asking.ask("GET", "/metrics").body.decode():
            time.sleep(0.001)
    answer = asking.post("/runs/letters/generate", {"max_tokens": 3})
    assert (answer.status, len(answer.json["text"])) == (200, 3)


def test_when_it_ends_it_says_so(serve: Serve) -> None:
    pytest.importorskip("starlette")
    from netwright.apps.server.app import RunServer
    from netwright.apps.server.measurements import Measurements
    from netwright.apps.server.refusal import RefusalError
    from netwright.apps.server.served_runs import ServedRuns
    from netwright.apps.server.server_config import ServerConfig

    server = RunServer(ServedRuns({}, Measurements()), ServerConfig(), Door(), Measurements())
    with pytest.raises(RefusalError, match="the server is shutting down"):
        asyncio.run(server.ready(None))  # type: ignore[arg-type]
