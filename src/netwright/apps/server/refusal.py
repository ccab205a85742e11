"""A request that is not answered: the status of HTTP, and one sentence."""

from http import HTTPStatus

from netwright.core.errors import NetwrightError


class RefusalError(NetwrightError):
    """Why a request is not answered.

    Args:
        status: of the response.
        sentence: what, wanted, got.
        headers: that belong to the status, such as `Retry-After`.
    """

    def __init__(
        self, status: HTTPStatus, sentence: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers or {}


def try_later(status: HTTPStatus, sentence: str, seconds: int = 1) -> RefusalError:
    """Refuse for now: the same request may be answered later."""
    return RefusalError(status, sentence, {"Retry-After": str(seconds)})
