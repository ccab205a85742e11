"""One request to a run: its body becomes inputs, and what the model says becomes the reply.

Shapes: N rows.
"""

import base64
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from http import HTTPStatus
from itertools import accumulate
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray
from torch import Tensor

from netwright.apps.server.accepted_forms import CSV, JSON
from netwright.apps.server.given_inputs import Given, Pictures, open_body, read_values
from netwright.apps.server.joined_inputs import form_of, join_given
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.apps.server.written_answers import written, written_rows
from netwright.core.config import Config, Doc
from netwright.core.trees import Tree, count_rows
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.masks import MOST_CLASSES, mask_png, resize_mask
from netwright.recipes.run.answer_table import (
    Answers,
    answers_of,
    as_csv,
    count_answers,
)
from netwright.recipes.run.answers import check_asked, in_words
from netwright.recipes.run.run import Run


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(Config):
    """What is asked for beside the predictions."""

    probabilities: Annotated[bool, Doc("add the probability of each class, to six digits")] = True
    threshold: Annotated[
        Annotated[float, Interval(ge=0, le=1)] | None,
        Doc("for two classes: predict the second above this probability"),
    ] = None
    remarks: Annotated[
        bool, Doc("say what is new in the inputs: unseen categories, far numbers, unknown words")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is sent back.

    Args:
        content: the body.
        media: its media type.
        rows: how many answers it holds.
    """

    content: bytes
    media: str
    rows: int


class Question:
    """One request, or several of one form that are prepared and answered as one.

    Args:
        run: that is asked, as it was when the request came.
        media: the media type of the body.
        body: all of it.
        options: what is asked for.
        config: what is allowed.
        as_csv: whether the reply is CSV, not JSON.
    """

    def __init__(
        self,
        run: Run,
        media: str,
        body: bytes,
        *,
        options: AnswerOptions,
        config: ServerConfig,
        as_csv: bool = False,
    ) -> None:
        check_asked(run.spec, threshold=options.threshold)
        self.run, self.as_csv = run, as_csv
        self._body: bytes | None = body
        self._media, self._options, self._config = media, options, config
        self._given: Given | None = None
        self._rows: Any = None
        self._sizes: list[tuple[int, int]] = []
        self._inputs: Tree = None
        self._counts: list[int] = []

    def open(self) -> Hashable:
        """Read the body; the form of what is in it, or None where it cannot be joined to others.

        Rows of one form have the same columns, of the same kinds: what is read of one does not
        depend on the others.
        """
        given = self._opened()
        is_plain = not self.as_csv and not self._options.remarks
        is_open = self._inputs is None  # else it is prepared already
        form = form_of(self.run, given) if is_plain and is_open else None
        return None if form is None else (id(self.run), self._options, form)

    def _opened(self) -> Given:
        if self._given is None:
            self._given = open_body(self.run, self._media, self._body or b"", self._config)
            self._body = None
            self._counts = [self._given.count]
        return self._given

    @classmethod
    def joined(cls, questions: Sequence["Question"]) -> "Question":
        """All requests, which are open and of one form, as one."""
        first, *others = questions
        if not others:
            return first
        every = copy(first)
        given = [one._opened() for one in questions]
        every._given = join_given(given)
        every._counts = [one.count for one in given]
        return every

    def prepare(self) -> Tree:
        """The inputs (N, ...), read and encoded once; what is wrong with them is refused."""
        if self._inputs is None:
            given = read_values(self.run, self._opened())
            if isinstance(given, Pictures):
                self._rows, self._sizes = given.pixels, given.sizes
            else:
                self._rows = given
            self._inputs = self.run.encode(self._rows)
        return self._inputs

    @property
    def size(self) -> int:
        """N: of what is prepared its rows, else those of the body."""
        return sum(self._counts) if self._inputs is None else count_rows(self._inputs)

    def reply(self, values: Tensor) -> Reply:
        """What the model said of the inputs (N, ...) of one request, as it is sent."""
        (reply,) = self.replies(values)
        return reply

    def replies(self, values: Tensor) -> list[Reply]:
        """The same for each request."""
        options, spec, encoder = self._options, self.run.spec, self.run.preprocessor
        if spec.target == "mask" and isinstance(encoder, ImageEncoder):
            classes = in_words(values, self._rows, spec, encoder)
            answers = _masks(encoder.decode_masks(classes), self._sizes)
        else:
            answers = answers_of(
                self.run,
                self._rows,
                values,
                proba=options.probabilities and spec.target in {"class", "labels"},
                threshold=options.threshold,
            )
        if self.as_csv:
            content = as_csv(answers).encode()
            return [Reply(content=content, media=CSV, rows=count_answers(answers))]
        rows = self._objects(answers)
        if len(self._counts) == 1:
            return [self._written(rows)]
        ends = accumulate(self._counts)
        return [
            self._written(rows[end - count : end])
            for end, count in zip(ends, self._counts, strict=True)
        ]

    def _objects(self, answers: Answers) -> list[str]:
        try:
            return written_rows(answers)
        except ValueError:
            raise RefusalError(
                HTTPStatus.UNPROCESSABLE_ENTITY, "an answer of the model is not a finite number"
            ) from None

    def _written(self, rows: list[str]) -> Reply:
        remarks = ""
        if self._options.remarks:
            found = list(self.run.remarks(self._rows))
            remarks = f', "remarks": {written(found)}'
        content = f'{{"answers": [{", ".join(rows)}]{remarks}}}'
        return Reply(content=content.encode(), media=JSON, rows=len(rows))


def _masks(masks: NDArray[np.integer], sizes: Sequence[tuple[int, int]]) -> Answers:
    """The mask of each image, in its size, as a PNG in base64."""
    kind = np.uint8 if masks.max() < MOST_CLASSES else np.uint16
    resized = (
        resize_mask(mask, *size) for mask, size in zip(masks.astype(kind), sizes, strict=True)
    )
    return {"mask": [base64.b64encode(mask_png(mask)).decode() for mask in resized]}
