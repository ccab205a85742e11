"""Span corruption: spans of a text are left out, a sentinel for each, and all are to be said.

    text      Thank you for inviting me to your party last week
    source    Thank you <0> me to your party <1> week
    target    <0> for inviting <1> last <2> <eos>

15 % of the tokens are left out, in spans of 3 on average; how long they are and where they lie is
drawn, each way being as likely as any other. Between two spans there is at least one token. Texts
of one length have sources of one length, and targets too. Source and target together tell the text:
so spans are drawn anew without the text being kept a second time.

Shapes: B batch, L tokens of a text, K of them left out in n spans, S = L - K + n tokens of a
source, T = K + n + 2 of a target: n sentinels, one more at the end, and <eos>.
Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
Transformer" (2019), section 3.1.4 and figure 2.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.data.text.tokenizer import BOS, EOS

LEFT_OUT = 0.15  # of all tokens
MEAN_LENGTH = 3  # of a span
ENDING = 2  # the last sentinel and <eos>


class Spans(NamedTuple):
    """How much of each text is left out.

    Args:
        tokens: L.
        left_out: K.
        number: n.
    """

    tokens: int
    left_out: int
    number: int

    @property
    def source_length(self) -> int:
        """S."""
        return self.tokens - self.left_out + self.number

    @property
    def target_length(self) -> int:
        """T."""
        return self.left_out + self.number + ENDING

    @property
    def sentinels(self) -> int:
        """Those of the spans, and the one behind the last."""
        return self.number + 1


def spans_of(tokens: int) -> Spans:
    """What is left out of texts of so many tokens: one at least, and not all."""
    left_out = max(1, round(LEFT_OUT * tokens))
    return Spans(tokens, left_out, max(1, round(left_out / MEAN_LENGTH)))


def draw_spans(rows: int, spans: Spans, random: torch.Generator) -> Tensor:
    """Which tokens are left out (B, L): K of each row, in n stretches.

    Args:
        rows: B.
        spans: L, K and n.
        random: draws; the result is on its device.
    """
    tokens, left_out, count = spans
    cuts = 1 + _drawn(rows, left_out - 1, count - 1, random)
    ends = functional.pad(functional.pad(cuts, (1, 0)), (0, 1), value=left_out)
    lengths = ends.diff(dim=1)  # (B, n), each at least 1
    kept_before = _drawn(rows, tokens - left_out + 1, count, random)  # tokens before each span
    begins = kept_before + ends[:, :-1]
    steps = torch.zeros(rows, tokens + 1, dtype=torch.int64, device=random.device)
    steps.scatter_(1, begins, 1).scatter_(1, begins + lengths, -1)
    return steps.cumsum(dim=1)[:, :-1].bool()


def leave_out(tokens: Tensor, is_out: Tensor, spans: Spans, first: int) -> tuple[Tensor, Tensor]:
    """Texts (B, L) and what is left out of them (B, L) -> inputs (B, S + T), targets (B, T).

    Args:
        tokens: as they are.
        is_out: as `draw_spans` gives it.
        spans: L, K and n.
        first: the number of the first sentinel; the others follow it.
    """
    begins = is_out & ~functional.pad(is_out, (1, -1))
    sentinels = first + begins.cumsum(dim=1) - 1
    source = _chosen(torch.where(begins, sentinels, tokens), ~is_out | begins, spans.source_length)
    told = torch.stack((sentinels, tokens), dim=2).flatten(1)  # each token behind its sentinel
    is_told = torch.stack((begins, is_out), dim=2).flatten(1)
    said = _chosen(told, is_told, spans.left_out + spans.number)
    said = functional.pad(
        functional.pad(said, (0, 1), value=first + spans.number), (0, 1), value=EOS
    )
    heard = functional.pad(said[:, :-1], (1, 0), value=BOS)
    return torch.cat((source, heard), dim=1), said


def put_back(inputs: Tensor, targets: Tensor, spans: Spans, first: int) -> Tensor:
    """The texts (B, L) that inputs (B, S + T) and targets (B, T) were made of."""
    source, said = inputs[:, : spans.source_length], targets[:, :-ENDING]
    in_source, in_said = source >= first, said >= first
    # What is kept before the first span comes first, then that span, then what is kept behind it.
    order = torch.cat((2 * in_source.cumsum(dim=1), 2 * in_said.cumsum(dim=1) - 1), dim=1)
    is_sentinel = torch.cat((in_source, in_said), dim=1)
    order = order.masked_fill(is_sentinel, 2 * spans.sentinels)  # behind everything
    places = order.argsort(dim=1, stable=True)[:, : spans.tokens]
    return torch.cat((source, said), dim=1).gather(1, places)


def corrupt_again(
    inputs: Tensor, targets: Tensor, *, sentinels: int, vocab_size: int, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Other spans of the same texts: inputs (B, S + T) and targets (B, T) -> the same.

    Args:
        inputs: of texts without padding.
        targets: of these.
        sentinels: n + 1, the last tokens of the vocabulary.
        vocab_size: all tokens, with the sentinels.
        random: draws; on the device of the inputs.
    """
    count, target_length = sentinels - 1, targets.shape[1]
    left_out = target_length - count - ENDING
    tokens = inputs.shape[1] - target_length + left_out - count
    spans, first = Spans(tokens, left_out, count), vocab_size - sentinels
    texts = put_back(inputs, targets, spans, first)
    return leave_out(texts, draw_spans(len(texts), spans, random), spans, first)


def _drawn(rows: int, among: int, count: int, random: torch.Generator) -> Tensor:
    """So many different whole numbers below `among`, in order: (B, count)."""
    chances = torch.rand(rows, among, generator=random, device=random.device)
    return chances.argsort(dim=1)[:, :count].sort(dim=1).values


def _chosen(values: Tensor, is_chosen: Tensor, count: int) -> Tensor:
    """The values that are chosen, so many in each row, in their order."""
    places = (~is_chosen).byte().argsort(dim=1, stable=True)[:, :count]
    return values.gather(1, places)
