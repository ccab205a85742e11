"""The routes of the studio: who is let in, what is shown, what is done to runs."""

import json
import re
from pathlib import Path

import pytest

from netwright.apps.server.guard import Door
from netwright.apps.server.server_config import ServerConfig
from tests.apps.server.asking import Answer, Asking
from tests.apps.studio.conftest import COOKIE, HOST, LET_IN, TOKEN, Open, Visitor

RUN = "runs/mlp-2-0"
WAYS = [
    *(("GET", path) for path in ("/", "/api/runs", "/api/events", "/report", "/static/runs.js")),
    *(("POST", f"/api/{name}") for name in ("stop", "resume", "delete")),
]


def names(answer: Answer) -> list[str]:
    return sorted(run["name"] for run in answer.json["runs"])


def test_all_runs_are_listed_with_result_baseline_and_curves(studio: Open) -> None:
    runs = studio().get("/api/runs").json["runs"]
    assert len(runs) == 6
    one = next(run for run in runs if run["name"] == RUN)
    assert (one["state"], one["metric"], one["model"]) == ("finished", "accuracy", "mlp")
    assert 0 <= one["value"] <= 1 and one["baseline"] == 0.5
    assert one["curves"]["val/loss"] and one["epoch"] == 1 and one["has_report"]


def test_the_page_has_a_policy_and_no_script_of_its_own(studio: Open) -> None:
    page = studio().get("/")
    assert page.status == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    text = page.body.decode()
    assert '<script type="module" src="/static/runs.js"></script>' in text
    assert len(re.findall(r'<script[^>]* src="/static/[^>]*></script>', text)) == text.count(
        "<script"
    )
    assert "<style" not in text and "http" not in text.replace("http-equiv", "")


def test_the_token_gives_a_cookie_that_scripts_and_other_sites_do_not_get(studio: Open) -> None:
    visitor = studio()
    entered = visitor.get(f"/enter?token={TOKEN}", HOST)
    assert entered.status == 303 and entered.headers["location"] == "/"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and f"{COOKIE}={TOKEN}" in cookie
    wrong = visitor.get("/enter?token=guessed", HOST)
    assert wrong.status == 401 and "set-cookie" not in wrong.headers
    assert visitor.get("/enter?token=%C3%A9", HOST).status == 401


def test_nothing_is_told_or_done_without_the_token(studio: Open) -> None:
    visitor = studio()
    for headers in (HOST, {**HOST, "Cookie": f"{COOKIE}=guessed"}):
        for way, where in WAYS:
            assert visitor.asking.ask(way, where, headers=headers).status == 401


def test_a_page_of_another_site_changes_nothing(studio: Open) -> None:
    visitor = studio()
    cookie = {"Cookie": LET_IN["Cookie"]}
    strange = [
        {**HOST, **cookie, "Origin": "http://127.0.0.1:9999"},
        {**HOST, **cookie, "Origin": "null"},
        {**HOST, **cookie},  # what changes anything says where it comes from
        {**LET_IN, "Sec-Fetch-Site": "cross-site"},
        {**LET_IN, "Host": "rebound.example.org"},
    ]
    for headers in strange:
        answer = visitor.post("/api/delete", {"run": RUN}, headers)
        assert answer.status in {401, 403, 421}
    assert (visitor.folder / RUN).is_dir()


def test_a_form_of_plain_text_is_not_taken_for_an_order(studio: Open) -> None:
    visitor = studio()
    body = json.dumps({"run": RUN}).encode()
    sent = {**LET_IN, "Content-Type": "text/plain"}
    assert visitor.asking.ask("POST", "/api/delete", body, sent).status == 415
    assert (visitor.folder / RUN).is_dir()


def test_delete_moves_a_run_to_the_bin(studio: Open) -> None:
    visitor = studio()
    assert "moved to .bin/runs-mlp-2-0" in visitor.post("/api/delete", {"run": RUN}).json["said"]
    assert RUN not in names(visitor.get("/api/runs"))
    (kept,) = (visitor.folder / ".bin").iterdir()
    assert (kept / "config.yaml").is_file()


def test_a_report_is_shown_and_can_do_nothing(studio: Open) -> None:
    visitor = studio()
    report = visitor.get(f"/report?run={RUN}")
    assert report.body == b"<p>a report</p>"
    assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert visitor.get("/report?run=runs/mlp-8-0").status == 404


ELSEWHERE = ["", ".", "..", "runs", "runs/../runs/mlp-2-0", "/etc", "runs/mlp-2-0/", "a\0b", "~"]


def test_no_name_leads_out_of_the_folder(studio: Open) -> None:
    visitor = studio()
    (visitor.folder.parent / "outside").mkdir()
    for name in [*ELSEWHERE, "../outside", str(visitor.folder / RUN)]:
        assert visitor.post("/api/delete", {"run": name}).status == 400
    for name in ELSEWHERE:
        assert visitor.get(f"/report?run={name}".replace("\0", "%00")).status in {400, 404}
    for path in ("/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/__init__.py"):
        assert visitor.get(path).status == 404


def test_a_link_in_the_folder_is_no_run(studio: Open) -> None:
    visitor = studio()
    (visitor.folder / "linked").symlink_to(visitor.folder / RUN)
    assert "linked" not in names(visitor.get("/api/runs"))
    assert visitor.get("/report?run=linked").status == 400


def test_ticked_runs_are_compared_by_seed(studio: Open) -> None:
    visitor = studio()
    asked = "&".join(f"run=runs/mlp-{width}-{seed}" for width in (2, 8) for seed in range(3))
    told = visitor.get(f"/api/compare?{asked}").json
    assert [row["seeds"] for row in told["rows"]] == ["3", "3", "-"]
    assert any("mlp-8-0" in remark for remark in told["remarks"])
    assert visitor.get("/api/compare?run=runs/mlp-2-0").status == 400


def test_the_page_of_a_comparison_is_that_of_the_command(
    studio: Open,
    undrawn: None,
) -> None:
    visitor = studio()
    page = visitor.get("/comparison?run=runs/mlp-2-0&run=runs/mlp-8-0")
    assert page.status == 200 and b"mlp-2-0 against mlp-8-0" in page.body


def test_what_is_not_trained_cannot_be_stopped(studio: Open) -> None:
    assert "is not being trained" in studio().post("/api/stop", {"run": RUN}).error


def test_resuming_starts_a_command_of_its_own(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Started:
        pid = 7

        def __init__(self, words: list[str], **settings: object) -> None:
            started.append(words)
            assert settings["start_new_session"] is True

        def poll(self) -> None:
            return None

    monkeypatch.setattr("subprocess.Popen", Started)
    visitor: Visitor = studio()
    assert visitor.post("/api/resume", {"run": RUN}).json["pid"] == 7
    words = ["-P", "-m", "netwright", "train", "--resume", f"./{RUN}", "--quiet"]
    assert started[0][1:] == words


def test_a_run_gets_tags_and_a_note(studio: Open) -> None:
    visitor = studio()
    asked = {"run": "runs/mlp-2-0", "tags": ["base"], "note": "<b>first</b>"}
    assert visitor.post("/api/note", asked).status == 200
    told = {run["name"]: run for run in visitor.get("/api/runs").json["runs"]}["runs/mlp-2-0"]
    assert (told["tags"], told["note"]) == (["base"], "<b>first</b>")
    for wrong in ({"tags": ["a b"]}, {"tags": "base"}, {"note": 3}, {"run": "../x"}):
        assert visitor.post("/api/note", {**asked, **wrong}).status == 400


def test_a_proxy_is_told_to_pass_on_each_state_as_it_comes(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    from netwright.apps.studio.app import build_app

    door = Door(token=TOKEN, cookie=COOKIE)
    with Asking(build_app(tmp_path, door, ServerConfig(), is_ending=lambda: True)) as asking:
        answer = asking.ask("GET", "/api/events", headers=LET_IN)
    assert answer.headers["x-accel-buffering"] == "no" and b'"runs": []' in answer.body
