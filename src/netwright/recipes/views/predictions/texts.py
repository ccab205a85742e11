"""The views of what BERT says of texts: `masked-tokens` while it is pre-trained, `marked-spans`.

Shapes: N questions, F or T tokens of a text, V kinds of token.
"""

from typing import cast

from torch import Tensor

from netwright.core.config import NoSettings
from netwright.core.evaluation import evaluating
from netwright.core.outputs import logits_of
from netwright.data.spec import IGNORED
from netwright.data.text.spans.span_encoder import SpanEncoder, context_of
from netwright.inspection.predictions.marked_spans import (
    MOST_QUESTIONS,
    MarkedSpans,
    measure_marked_spans,
)
from netwright.inspection.predictions.masked_tokens import MaskedTokens, measure_masked_tokens
from netwright.recipes.views.attribution.explained_answer import input_token_names
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _refuse_masked(subject: Subject) -> str:
    if subject.run.spec.inputs == "masked":
        return ""
    return "masked tokens are of a model that is pre-trained on masked text, this run is not"


def _measure_masked(subject: Subject, _: NoSettings) -> MaskedTokens:
    """Of the first example; its place 0 is no token but whether the second text follows."""
    run, first = subject.run, subject.example(0)
    with evaluating(run.model):
        logits = logits_of(run.model(first.inputs)).cpu()  # (1, F, V)
    names = input_token_names(run)
    tokens, targets = (cast(Tensor, part)[0, 1:].cpu() for part in (first.inputs, first.targets))
    return measure_masked_tokens(logits[0, 1:], tokens, targets, names.__getitem__)


def _refuse_spans(subject: Subject) -> str:
    reason = only_of("marked spans are", "span")(subject)
    if reason or isinstance(subject.run.preprocessor, SpanEncoder):
        return reason
    return "marked spans are of questions with their contexts, this run has none"


def _measure_spans(subject: Subject, _: NoSettings) -> MarkedSpans:
    encoder = cast(SpanEncoder, subject.run.preprocessor)
    some = subject.batch(MOST_QUESTIONS)
    inputs: Tensor = some.inputs
    begins = context_of(inputs)[:, 0].tolist()
    ends = context_of(inputs)[:, 1].tolist()
    rows = inputs.cpu().tolist()
    spans = subject.predict(inputs).tolist()
    answers = some.targets[:, 1].tolist()  # the first, from which it learned
    return measure_marked_spans(
        [
            encoder.tokenizer.decode(row[: begin - 1])
            for row, begin in zip(rows, begins, strict=True)
        ],
        [
            [encoder.tokenizer.tokens[token] for token in row[begin : end + 1]]
            for row, begin, end in zip(rows, begins, ends, strict=True)
        ],
        [(first - begin, last - begin) for (first, last), begin in zip(spans, begins, strict=True)],
        [
            None if first == IGNORED else (first - begin, last - begin)
            for (first, last), begin in zip(answers, begins, strict=True)
        ],
    )


MASKED_TOKENS = ViewEntry(
    card=report_card("What a model puts into masked places of a text, beside what belongs there."),
    measure=_measure_masked,
    refusal=_refuse_masked,
    section="predictions",
    has_examples=True,
    code=(measure_masked_tokens,),
)
MARKED_SPANS = ViewEntry(
    card=report_card("Answers marked in their contexts: the said ones and the true ones."),
    measure=_measure_spans,
    refusal=_refuse_spans,
    section="predictions",
    has_examples=True,
    code=(measure_marked_spans,),
)
