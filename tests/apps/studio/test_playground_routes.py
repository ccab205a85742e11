"""The routes of the playground: the page, and refusals with their status."""

from tests.apps.studio.conftest import Open


def test_the_page_is_there_under_the_studios_policy(studio: Open) -> None:
    answer = studio().get("/playground")
    assert answer.status == 200 and b"playground.js" in answer.body
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_what_cannot_be_opened_or_is_not_open_is_refused(studio: Open) -> None:
    visitor = studio()
    assert (
        "in this folder" in visitor.post("/api/playground", {"data": "../x", "model": "mlp"}).error
    )
    told = visitor.post("/api/playground", {"data": "line", "model": "mlp"})
    assert told.status == 400 and "two features" in told.error
    told = visitor.post("/api/playground/act", {"name": "nobody", "action": "play"})
    assert told.status == 404 and "reload" in told.error
