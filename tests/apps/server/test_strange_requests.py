"""No request, however strange, makes the server fail, read a file, or answer a stranger."""

import base64
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.apps.server.asking import LOCAL, Asking
from tests.apps.server.conftest import Serve
from tests.apps.server.strange_requests import strange_request

QUICK, ALL = 400, 5000
_listening: list[list[str]] = []


def check_strange(asking: Asking, count: int, rows: list[dict[str, Any]]) -> Counter[int]:
    """Send so many strange requests; what was honest before is answered as before."""
    before = asking.post("/runs/things/predict", {"rows": rows}).body
    statuses: Counter[int] = Counter()
    for seed in range(count):
        sent = strange_request(seed)
        answer = asking.ask(sent.method, sent.target, sent.body, sent.headers)
        assert answer.status < 500, (seed, sent, answer)
        if answer.status >= 400 and sent.method != "HEAD":
            sentence = answer.error
            assert "\n" not in sentence, (seed, sent)
            assert "Traceback" not in sentence, (seed, sent)
        statuses[answer.status] += 1
    assert asking.post("/runs/things/predict", {"rows": rows}).body == before
    return statuses


def test_strange_requests_are_answered_or_refused(
    serve: Serve, things_rows: list[dict[str, Any]]
) -> None:
    statuses = check_strange(serve(), QUICK, things_rows)
    assert statuses[200] > QUICK / 20  # else it is refused before it is read
    assert len(statuses) >= 5


@pytest.mark.slow
def test_thousands_of_strange_requests(serve: Serve, things_rows: list[dict[str, Any]]) -> None:
    check_strange(serve(), ALL, things_rows)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The names of all files that are opened meanwhile."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and _listening:
            _listening[-1].append(str(arguments[0]))

    if not hasattr(sys, "_netwright_hears"):  # a hook stays for good
        sys.addaudithook(hear)
        sys._netwright_hears = True  # type: ignore[attr-defined]
    _listening.append([])
    try:
        yield _listening[-1]
    finally:
        _listening.pop()


def paths_to(secret: Path) -> list[str]:
    """Ways to write the name of a file, so as to get by a check."""
    plain = [str(secret), f"file://{secret}", f"{secret.parent}/./{secret.name}", "~/secret.csv"]
    up = ["../" * depth + str(secret).lstrip("/") for depth in range(1, 12)]
    odd = ["..\\" * depth + "secret.csv" for depth in range(1, 5)]
    quoted = [one.replace("/", "%2f").replace(".", "%2e") for one in up[:4]]
    twice = [one.replace("%", "%25") for one in quoted]
    tails = ["", "\x00.png", "%00"]
    return [path + tail for path in (*plain, *up, *odd, *quoted, *twice) for tail in tails]


def test_no_path_in_a_request_is_followed(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("size,colour,text,source\n1,SECRET-WORD,SECRET-WORD,ab\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    asking, tried = serve(), 0
    with opened_files() as opened:
        Path(secret).read_text()
        assert any("secret" in name for name in opened)  # it hears
        opened.clear()
        for place, path in enumerate(paths_to(secret)):
            encoded = base64.b64encode(path.encode()).decode()
            asked: list[tuple[str, Any]] = [
                ("/runs/things/predict", {"rows": path}),
                ("/runs/things/predict", {"rows": [path]}),
                ("/runs/things/predict", {"rows": [{"size": path, "colour": path}]}),
                ("/runs/texts/predict", {"texts": path}),
                ("/runs/texts/predict", {"texts": [path]}),
                ("/runs/pets/predict", {"images": [path]}),
                ("/runs/pets/predict", {"images": [encoded]}),
                ("/runs/iris/predict", {"inputs": path}),
                ("/runs/iris/predict", {"inputs": [path]}),
                ("/runs/iris/predict", {"inputs": [[path] * 4]}),
                ("/runs/reverse/predict", {"texts": [path]}),
                ("/runs/letters/generate", {"prompt": path, "max_tokens": 1}),
                (f"/runs/{path}/predict", {"rows": [{"size": 1, "colour": "red"}]}),
                (f"/{path}", {}),
            ]
            for target, value in asked[place % 2 :: 2]:  # half of them each time
                answer = asking.post(target, value)
                assert answer.status < 500, (target, value)
                assert b"SECRET-WORD" not in answer.body, (target, value)
                tried += 1
            for media in ("text/csv", "text/plain", "image/png"):
                sent = {**LOCAL, "Content-Type": media}
                name = ("things", "texts", "pets")[place % 3]
                answer = asking.ask("POST", f"/runs/{name}/predict", path.encode(), sent)
                assert answer.status < 500, (name, media, path)
                assert b"SECRET-WORD" not in answer.body
                tried += 1
    assert tried >= 500
    assert not [name for name in opened if "secret" in name or "passwd" in name]


def test_no_page_of_another_site_is_answered(serve: Serve) -> None:
    """What a browser sends for a form, a script or a picture of a stranger's page."""
    asking = serve()
    body = json.dumps({"rows": [{"size": 1, "colour": "red"}]}).encode()
    targets = (("POST", "/runs/things/predict"), ("GET", "/"), ("GET", "/runs"))
    for extra in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "rebound.example:8000"},
        {"Host": "127.0.0.1.nip.io"},
    ):
        for media in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            for method, target in targets:
                sent = {**LOCAL, "Content-Type": media, **extra}
                assert asking.ask(method, target, body, sent).status in {403, 421}, (extra, target)
