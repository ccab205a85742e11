"""The view `next-tokens` of a run: what a language model expects at each place of a text.

Shapes: T tokens of the first window, V kinds of token.
"""

from netwright.core.config import NoSettings
from netwright.core.evaluation import evaluating
from netwright.core.outputs import logits_of
from netwright.data.text.encoder import TextEncoder
from netwright.inspection.predictions.next_tokens import VISIBLE, NextTokens, measure_next_tokens
from netwright.recipes.views.attribution.explained_answer import input_token_names
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _refusal(subject: Subject) -> str:
    of_tokens = only_of("next tokens are", "tokens")(subject)
    if subject.run.spec.inputs == "masked":
        return "next tokens need a model that reads one way, this run fills in masked ones"
    if of_tokens or isinstance(subject.run.preprocessor, TextEncoder):
        return of_tokens
    return "next tokens need a language model of running text, this run completes pairs or symbols"


def _measure(subject: Subject, _: NoSettings) -> NextTokens:
    run, first = subject.run, subject.example(0)
    with evaluating(run.model):
        logits = logits_of(run.model(first.inputs)).cpu()  # (1, T, V)
    names = input_token_names(run)
    return measure_next_tokens(
        logits[0],
        first.inputs[0].cpu(),
        first.targets[0].cpu(),
        lambda token: names[token].translate(VISIBLE),
    )


NEXT_TOKENS = ViewEntry(
    card=report_card("What a language model predicts at each position of a text."),
    measure=_measure,
    refusal=_refusal,
    section="predictions",
    has_examples=True,
    code=(measure_next_tokens,),
)
