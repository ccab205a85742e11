"""Refusals as pages, for who opens an address; JSON stays for programs and scripts."""

import pytest

pytest.importorskip("starlette")
from netwright.apps.studio.error_pages import error_page
from netwright.apps.studio.pages import POLICY
from tests.apps.studio.conftest import HOST, LET_IN, Open

OPENED = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
NAVIGATED = {"Accept": "*/*", "Sec-Fetch-Mode": "navigate"}
GONE = "/report?run=runs/mlp-2-1"


@pytest.mark.parametrize("by_hand", [OPENED, NAVIGATED])
def test_who_opens_an_address_that_is_refused_reads_a_page(
    studio: Open, by_hand: dict[str, str]
) -> None:
    visitor = studio()
    for path, status, said in (
        (GONE, 404, "runs/mlp-2-1 has no report"),
        ("/view?run=runs/mlp-2-0&view=attention", 400, "attention"),
        ("/nowhere", 404, "there is nothing at this path</p>"),
        ("/report?run=<b>x", 400, "&lt;b&gt;x"),
    ):
        answer = visitor.get(path, {**LET_IN, **by_hand})
        page = answer.body.decode()
        assert answer.status == status and said in page and '<nav class="site"' in page
        assert answer.headers["content-type"].startswith("text/html")
        assert int(answer.headers["content-length"]) == len(answer.body)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-frame-options"] == "DENY"
        assert "<b>" not in page


def test_a_stranger_reads_how_to_get_in_and_is_sent_no_other_page(studio: Open) -> None:
    visitor = studio()
    for path in ("/", "/enter?token=guessed", "/runs"):
        answer = visitor.get(path, {**HOST, **OPENED})
        page = answer.body.decode()
        assert answer.status == 401 and "terminal" in page and "token" in page
        assert "<nav" not in page and "/static/" not in page and "Content-Security-Policy" in page
        assert answer.headers["x-frame-options"] == "DENY"
    elsewhere = visitor.get("/", {"Host": "rebound.example.org", **OPENED})
    assert elsewhere.status == 421 and "terminal" not in elsewhere.body.decode()


def test_a_status_without_a_name_has_a_page() -> None:
    page = error_page(499, "it was closed")
    assert "This cannot be shown" in page and "it was closed" in page


def test_scripts_and_programs_get_json_and_answers_are_left_as_they_are(studio: Open) -> None:
    visitor = studio()
    script = {**LET_IN, "Accept": "text/html", "Sec-Fetch-Mode": "cors"}
    for headers in (LET_IN, script):
        assert visitor.get(GONE, headers).error == "runs/mlp-2-1 has no report"
    assert visitor.post("/api/delete", {"run": "gone"}, {**LET_IN, **OPENED}).error
    assert visitor.get("/api/runs", {**LET_IN, **OPENED}).json["runs"]
    report = visitor.get("/report?run=runs/mlp-2-0", {**LET_IN, **OPENED})
    assert report.body == b"<p>a report</p>"
