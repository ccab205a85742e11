"""A refusal: its status, its sentence, and when to try again."""

from http import HTTPStatus

from netwright.apps.server.refusal import RefusalError, try_later


def test_a_refusal_has_a_status_and_a_sentence_that_steers_no_terminal() -> None:
    refusal = RefusalError(HTTPStatus.NOT_FOUND, "there is no run '\x1b[2J'")
    assert (refusal.status, str(refusal)) == (404, "there is no run '\\x1b[2J'")
    assert refusal.headers == {}


def test_what_may_be_answered_later_says_when() -> None:
    assert try_later(HTTPStatus.TOO_MANY_REQUESTS, "busy", 2).headers == {"Retry-After": "2"}
