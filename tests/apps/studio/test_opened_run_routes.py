"""The routes of one run: the pages, and what is measured of an input that is sent."""

from tests.apps.studio.conftest import Open

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
