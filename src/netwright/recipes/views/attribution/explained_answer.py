"""Which answer of a run is explained, by which input: what saliency and occlusion share.

Shapes: B inputs; of one input C classes or labels (C,), K reals (K,), a mask (C, I, J), a token or
a tag a place (T, C), of a span the first and the last place (T, 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.config import Config, Count, Doc
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.data.loading.stored import evenly_spaced
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.pretraining.framing import MASK
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.inspection.attribution.input_map import Kind, ShownInput
from netwright.inspection.drawing.pictures import pixels_of
from netwright.inspection.drawing.wording import quoted
from netwright.inspection.predictions.next_tokens import VISIBLE
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.views.subject import Subject

MOST_ROWS = 1_000  # that a mean is taken of


@dataclass(frozen=True, kw_only=True)
class AnswerConfig(Config):
    """Which answer to which example is explained."""

    example: Annotated[Count, Doc("index of the example in the split, from 0")] = 0
    answer: Annotated[
        str, Doc("the class, target or token to explain; default: the most likely, or the first")
    ] = ""
    place: Annotated[
        Count | None,
        Doc(
            "the token whose answer it is, from 0, where each has one; by default the first, of "
            "what is said next the last, of masked text the first that is masked"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ExplainedAnswer:
    """One number among all that a model says of an input, or the mean of some.

    Args:
        words: what it is, 'the class "7"'.
        where: True at these numbers, shaped as the model's answer to one input.
    """

    words: str
    where: Tensor

    def of(self, values: Tensor) -> Tensor:
        """The number in what is said of several inputs (B, ...): (B,)."""
        return values[:, self.where.to(values.device)].mean(dim=1)


@runtime_checkable
class FramesTexts(Protocol):
    """A model that puts tokens of its own around a text."""

    def framed(self, tokens: Tensor, /) -> Tensor:
        """All tokens that it reads (B, F) of texts (B, T)."""

    def framed_names(self, names: Sequence[str], /) -> list[str]:
        """The names of all tokens, where those of the text have these."""


def explained_answer(run: RunRecord, inputs: Tensor, settings: AnswerConfig) -> ExplainedAnswer:
    """The answer to one input (1, ...) that the settings ask for."""
    with evaluating(run.model):
        output = run.model(inputs)
        said = run.task.predictions(output)[0].cpu()
    names, where = output_names(run), torch.zeros_like(said, dtype=torch.bool)
    match run.spec.target:
        case "mask":
            masks = said.argmax(dim=0)
            chosen = _asked(settings.answer, names, int(masks.flatten().mode().values))
            where[chosen] = (masks == chosen) if (masks == chosen).any() else True
            words = f"the class {quoted(names[chosen])}"
        case "boxes":  # of the query that is the surest of it
            classes = said[:, : len(names)]
            chosen = _asked(settings.answer, names, int(classes.amax(dim=0).argmax()))
            where[int(classes[:, chosen].argmax()), chosen] = True
            words = f"the class {quoted(names[chosen])} of one box"
        case "tokens" | "tags":
            place = _place(run, inputs[0], settings.place)
            chosen = _asked(settings.answer, names, int(said[place].argmax()))
            where[place, chosen] = True
            words = f"{quoted(names[chosen].translate(VISIBLE))} {_place_in_words(run, place)}"
        case "span":
            if settings.answer or settings.place is not None:
                raise ConfigError(
                    "the predicted span is the one explained: leave out answer and place"
                )
            first, last = run.task.answers(run.model, inputs, output)[0].tolist()
            where[first, 0] = where[last, 1] = True
            tokenizer = cast(TextEncoder, run.preprocessor).tokenizer
            text = tokenizer.decode(inputs[0, first : last + 1].tolist())
            words = f"the beginning and the end of {quoted(text.translate(VISIBLE))}"
        case "real":
            chosen = _asked(settings.answer, names, 0)
            where[chosen] = True
            words = quoted(names[chosen])
        case _:
            chosen = _asked(settings.answer, names, int(said.argmax()))
            where[chosen] = True
            words = f"the class {quoted(names[chosen])}"
    return ExplainedAnswer(words=words, where=where)


def shown_input(run: RunRecord, inputs: Tensor, answer: str) -> ShownInput:
    """One input (1, ...) as it is shown beside its map."""
    read = run.spec.inputs  # several inputs have no such map
    kind = cast(Kind, "tokens" if read in {"pairs", "masked"} else read)
    if kind == "image":
        offset, scale = (part.to(inputs) for part in run.preprocessor.units())
        image = (inputs.flatten(1) * scale + offset).reshape(inputs.shape[1:])
        seen = image if len(image) in (1, 3) else image.mean(dim=0, keepdim=True)
        return ShownInput(kind=kind, answer=answer, pixels=pixels_of(seen))
    names = _token_names(run, inputs[0]) if kind == "tokens" else _feature_names(run)
    return ShownInput(kind=kind, answer=answer, names=names)


def training_mean(subject: Subject) -> Tensor:
    """The mean training input, shaped like one of them; of images one colour, the mean of all.

    Of many rows some are read, spread evenly.
    """
    train = subject.data.shown.train
    rows = evenly_spaced(len(train), MOST_ROWS).to(train.targets.device)
    mean: Tensor = train.read(rows).double().mean(dim=0)
    if subject.run.spec.inputs == "image":
        mean = mean.mean(dim=(1, 2), keepdim=True).expand_as(mean)
    return mean.float()


def input_token_names(run: RunRecord) -> Sequence[str]:
    """The name of each token that is read."""
    match run.preprocessor:
        case MaskedEncoder():
            return (*run.preprocessor.tokenizer.tokens, MASK)
        case TextEncoder():
            return run.preprocessor.tokenizer.tokens
        case PairEncoder():
            return run.preprocessor.source.tokens
        case SymbolEncoder():
            return f"-{run.preprocessor.symbols}"  # token 0 is padding
        case _:
            return [str(token) for token in range(run.spec.vocab_size)]


def output_names(run: RunRecord) -> Sequence[str]:
    """The name of each class, label, real, tag or token that is said."""
    if run.spec.target == "tokens":
        match run.preprocessor:
            case TextEncoder():
                return run.preprocessor.tokenizer.tokens
            case PairEncoder():
                return run.preprocessor.target.tokens
    names = run.spec.target_names if run.spec.target == "real" else run.spec.class_names
    return names or [str(place) for place in range(run.spec.num_outputs)]


def _feature_names(run: RunRecord) -> tuple[str, ...]:
    encoder, count = run.preprocessor, run.spec.input_shape[-1]
    names = encoder.feature_names if isinstance(encoder, SeriesEncoder) else run.spec.feature_names
    return names or tuple(f"x{place}" for place in range(count))


def _token_names(run: RunRecord, tokens: Tensor) -> tuple[str, ...]:
    """The tokens that count, by name; of a pair those of the source."""
    counted = tokens[: run.spec.source_length or len(tokens)]
    if run.spec.padding is not None:
        counted = counted[counted != run.spec.padding]
    names = input_token_names(run)
    return tuple(names[token].translate(VISIBLE) for token in counted.tolist())


def _place(run: RunRecord, tokens: Tensor, asked: int | None) -> int:
    """The token whose answer is explained, among those that count."""
    told = tokens[run.spec.source_length :]
    padding = run.spec.padding
    count = len(told) if padding is None else int((told != padding).sum())
    if asked is None and run.spec.inputs == "masked":
        masked = (told == run.spec.vocab_size - 1).nonzero()  # [MASK] is the last token
        return int(masked[0]) if len(masked) else 0
    if asked is None:
        return count - 1 if _says_next(run) else 0
    if asked >= count:
        raise ConfigError(f"place must be from 0 to {count - 1}, the tokens there are, got {asked}")
    return asked


def _says_next(run: RunRecord) -> bool:
    """Whether what is said at a place is the token that comes after it."""
    is_masked = run.spec.inputs == "masked"
    return run.spec.target == "tokens" and not run.spec.source_length and not is_masked


def _place_in_words(run: RunRecord, place: int) -> str:
    if _says_next(run):
        return f"after place {place}"
    return f"at place {place}{' of the answer' if run.spec.source_length else ''}"


def _asked(answer: str, names: Sequence[str], default: int) -> int:
    """The place of the name that was asked for, or the one that is taken otherwise."""
    if not answer:
        return default
    if answer not in names:
        hint = nearest(answer, names) or f"; there are {', '.join(list(names)[:10])}"
        raise ConfigError(f"unknown answer {answer!r}{hint}")
    return list(names).index(answer)
