"""Questions and their contexts as tokens, and answers as places among them.

    inputs    question <eos> context <pad> ...          (T): BERT puts [CLS] and [SEP] around it
    targets   first and last place of the context, then of each answer      (1 + A, 2)

A context that does not fit loses its end, and a question its end beyond 64 tokens. An answer that
was cut off has the places IGNORED.

Shapes: N questions, T tokens of a question and its context, A answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.data.encoder_checks import check_count
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.tables.cells import shortened
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.encoder import TextEncoder, given_encoding, padded, share
from netwright.data.text.spans.passage import Passage, read_passages
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.tokenizer import EOS, PAD, UNK
from netwright.data.text.word_tokenizer import WORD

LONGEST_QUESTION = 64  # tokens


@dataclass(frozen=True, kw_only=True)
class SpanEncoder(TextEncoder):
    """Encodes questions with their contexts, and the answers in them.

    It takes a table (a path, a frame, a row as a dict or a list of them) with a column of questions
    and one of contexts, and for targets one of answers.

    Args:
        columns: what questions, contexts and answers are called.
    """

    form: ClassVar[str] = "spans"

    columns: tuple[str, ...] = ("question", "context", "answer")

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit: two logits a token, to be the first and the last."""
        return DataSpec(
            inputs="tokens",
            input_shape=(self.length,),
            target="span",
            num_outputs=2,
            target_names=self.columns[2:],
            vocab_size=self.tokenizer.size,
            padding=PAD,
        )

    def reading(self, **settings: str) -> "SpanEncoder":
        """The same for files in another encoding."""
        return replace(self, encoding=given_encoding(settings))

    def read(self, source: Any) -> RawTable:
        """The source as a table."""
        return read_text_rows(source, self.encoding)

    def encode(self, source: Any) -> Tensor:
        """Questions and contexts -> tokens (N, T)."""
        questions, passages = self._parts(self.read(source))
        rows = [
            [*question, EOS, *passage.tokens]
            for question, passage in zip(questions, passages, strict=True)
        ]
        return padded(rows, self.length)

    def encode_targets(self, source: Any) -> Tensor:
        """The places (N, 2, 2) of each context and of its answer, which must be in it."""
        table = self.read(source)
        return self.encode_spans(table, find_answers(table, *self.columns[1:]))

    def encode_spans(self, table: RawTable, answers: Sequence[Sequence[tuple[int, int]]]) -> Tensor:
        """The places (N, 1 + A, 2) of answers, given by their first character and their length."""
        questions, passages = self._parts(table)
        most = max(map(len, answers))
        places = torch.full((len(answers), 1 + most, 2), IGNORED)
        for row, (question, passage) in enumerate(zip(questions, passages, strict=True)):
            begin = len(question) + 1
            last = min(begin + len(passage.tokens), self.length) - 1
            places[row, 0] = torch.tensor((begin, last))
            for place, (at, size) in enumerate(answers[row], 1):
                first, behind = passage.tokens_of(at, at + size)
                if begin + behind <= last:
                    places[row, place] = torch.tensor((begin + first, begin + behind))
        return places

    def write(self, spans: Tensor, source: Any, *, marked: bool = False) -> list[str]:
        """The texts of spans (N, 2); or all of each context, where the span is marked."""
        questions, passages = self._parts(self.read(source))
        texts = []
        for (first, last), question, passage in zip(
            spans.tolist(), questions, passages, strict=True
        ):
            write = passage.marked if marked else passage.text_of
            texts.append(write(first - len(question) - 1, last - len(question) - 1))
        return texts

    def remarks(self, source: Any) -> tuple[str, ...]:
        """How many contexts are cut."""
        questions, passages = self._parts(self.read(source))
        sizes = [
            len(question) + 1 + len(passage.tokens)
            for question, passage in zip(questions, passages, strict=True)
        ]
        cut = sum(size > self.length for size in sizes)
        said = f"{share(cut, len(sizes))} of the contexts are truncated, to {self.length} tokens"
        return (f"{said} with their question",) if cut else ()

    def check_numbers(self) -> None:
        """Refuse a length that no text has, and columns that are not three."""
        super().check_numbers()
        check_count(3, columns=self.columns)

    def _parts(self, table: RawTable) -> tuple[list[list[int]], list[Passage]]:
        """The tokens of each question, and its context."""
        questions, contexts = (table.column(column) for column in self.columns[:2])
        for column, texts in zip(self.columns, (questions, contexts), strict=False):
            for row, text in enumerate(texts):
                if not WORD.search(text):
                    raise table.refusal(row, column, "there is no word")
        passages = read_passages(contexts, self.tokenizer)
        tokens = self.tokenizer.encode_all(questions)
        cut = [(one or [UNK])[: min(LONGEST_QUESTION, self.length - 2)] for one in tokens]
        return cut, [passages[context] for context in contexts]


def find_answers(table: RawTable, context: str, answer: str) -> list[list[tuple[int, int]]]:
    """First character and length of each answer; one that is not in its context is refused.

    Args:
        table: the rows.
        context: the column of contexts.
        answer: the column of answers; the first place where one stands is taken.
    """
    found = []
    for row, (text, given) in enumerate(
        zip(table.column(context), table.column(answer), strict=True)
    ):
        at = text.find(given)
        if at < 0 or not WORD.search(given):
            raise table.refusal(
                row, answer, f"{shortened(given)} is not in its context, from which it is copied"
            )
        found.append([(at, len(given))])
    return found


def context_of(inputs: Tensor) -> Tensor:
    """The first and the last place of the context (B, 2) in encoded inputs (B, T)."""
    begin = (inputs == EOS).int().argmax(dim=1) + 1
    last = (inputs != PAD).sum(dim=1) - 1
    return torch.stack((begin, last), dim=1)
