"""What a server allows: sizes, rows, requests that wait, and seconds."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from netwright.core.config import Config, Doc, Positive, Size

MOST_NUMBERS = 2**23  # that the inputs of one request may be encoded to: 32 MB of float32
DECODING = 96e6  # bytes that decoding an image may take
REQUEST_PIXELS = 2**26  # of all images of a request, by their headers
MASK_PIXELS = 2**24  # of all masks of a request, which have the sizes of their images
BRACKETS = 200_000  # lists and objects of a JSON body: an empty one takes 30 times its two letters
HEAD_SECONDS = 15.0  # in which the head of a request has to arrive
MOST_BEAMS = 16
PROMPT_TOKENS = 2**14  # that a model reads before its first word; of a context only the last ones


@dataclass(frozen=True, kw_only=True)
class ServerConfig(Config):
    """What is allowed; what asks for more is refused in one sentence."""

    max_body: Annotated[Positive, Doc("largest body of a request, in MB")] = 4.0
    max_rows: Annotated[Size, Doc("most rows, texts or images of a request")] = 10_000
    max_batch: Annotated[
        Size, Doc("most rows passed to the model together; 1: each request by itself")
    ] = 256
    max_waiting: Annotated[
        Size, Doc("most requests that wait for a run; further ones get status 429")
    ] = 256
    max_streams: Annotated[
        Size, Doc("most texts that are generated at a time; further requests get status 429")
    ] = 8
    max_tokens: Annotated[Size, Doc("most tokens of a generated text")] = 4096
    timeout: Annotated[
        Annotated[float, Interval(gt=0, le=3600)],
        Doc("seconds in which a request has to arrive and to be answered; then status 408 or 503"),
    ] = 30.0

    @property
    def body_bytes(self) -> int:
        """The largest body."""
        return int(self.max_body * 1e6)

    def rows_of(self, numbers: int) -> int:
        """The most rows of a request, where one row is encoded to so many numbers."""
        return max(1, min(self.max_rows, MOST_NUMBERS // max(numbers, 1)))
