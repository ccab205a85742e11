"""What a page sends: JSON, and nothing else."""

from tests.apps.studio.conftest import LET_IN, Open


def test_another_kind_of_body_is_refused(studio: Open) -> None:
    visitor = studio()
    headers = {**LET_IN, "Content-Type": "text/plain"}
    told = visitor.asking.ask("POST", "/api/plan", b"{}", headers)
    assert told.status == 415 and "application/json" in told.error
    assert (
        visitor.asking.ask(
            "POST", "/api/plan", b"[1]", {**LET_IN, "Content-Type": "application/json"}
        ).status
        == 400
    )
