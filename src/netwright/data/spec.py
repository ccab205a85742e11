"""What a data set is made of: kinds, shapes and names, so that a model can be built to fit it."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from netwright.core.checks import check_groups, check_levels
from netwright.core.flat_record import from_plain, to_plain
from netwright.core.limits import INPUT
from netwright.core.terminal.notebook_table import notebook_table

InputKind = Literal["features", "image", "tokens", "masked", "series", "pairs", "parts"]
TargetKind = Literal["class", "labels", "real", "tokens", "mask", "boxes", "tags", "span", "none"]
ClassType = Literal["", "text", "int", "float", "bool"]  # "": the source has text alone, as CSV
VARIES = -1  # a size that differs between batches
IGNORED = -100  # a target of tokens or tags that does not count, as torch's cross-entropy has it


MOST_NAMES = 12  # that are shown


def shortened(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    """The kinds, shapes and names of one data set.

    Args:
        inputs: what one input is; masked: tokens some of which are to be found again.
        input_shape: the shape of one input, without the batch: (features,), (C, I, J), tokens (T,),
            a series (T, features), a pair (source tokens + target tokens,); () for parts, which are
            several tensors in a tuple, list or dict, each with a shape of its own.
        target: what is to be predicted: one class, several labels (each yes or no), one or several
            reals, tokens, a mask, a set of boxes with a class each, a tag a token, a span, or
            nothing.
        num_outputs: classes, labels, reals, tags, or different target tokens; 2 of a span, whose
            first and last token are looked for; 0 where there is no target.
        class_names: the names of the classes or labels, in the order of the outputs.
        class_type: what the classes were in the data before they had names, and become again in
            answers.
        target_names: the names of the target columns.
        feature_names: one name a feature, after encoding; empty where inputs are not features.
        feature_groups: the column of each feature, numbered from 0 in their order; the features of
            one column are its categories, each 0 or 1. Empty where each is a column by itself.
        feature_levels: of each feature, how many vectors a model has for it: it is the place of a
            category among them, 0, 1, 2 ..., the last where training did not have it; 0 where it is
            a number. Empty where all are.
        vocab_size: the number of different tokens; 0 where inputs are not tokens.
        padding: the token that fills up short inputs; None where all are equally long.
        source_length: how many of the tokens of a pair are its source; the rest is what a decoder
            is told: the target, one place later.
        source_side: pixels along a side of the square image that a source is, a token a pixel; 0:
            sources are texts.
        shared_vocabulary: whether a token of a source and one of a target with the same number are
            the same token.
        sentinels: how many of the last tokens stand for spans of a text that are left out of its
            source and said in its target, and are drawn anew in each epoch; 0: there are no spans.
    """

    inputs: InputKind
    input_shape: tuple[int, ...]
    target: TargetKind
    num_outputs: int = 0
    class_names: tuple[str, ...] = ()
    class_type: ClassType = ""
    target_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    feature_groups: tuple[int, ...] = ()
    feature_levels: tuple[int, ...] = ()
    vocab_size: int = 0
    padding: int | None = None
    source_length: int = 0
    source_side: int = 0
    shared_vocabulary: bool = False
    sentinels: int = 0

    def _repr_html_(self) -> str:
        told = {
            "inputs": f"{self.inputs} {self.input_shape}",
            "target": f"{self.target}, {self.num_outputs} outputs"
            if self.num_outputs
            else self.target,
            "classes": shortened(self.class_names),
            "target columns": shortened(self.target_names),
            "features": shortened(self.feature_names),
            "vocabulary": f"{self.vocab_size:,} tokens" if self.vocab_size else "",
        }
        rows = [{"": name, "of one example": value} for name, value in told.items() if value]
        return notebook_table("", rows)

    @property
    def num_features(self) -> int:
        """The numbers in one input, flattened."""
        return math.prod(self.input_shape)

    @property
    def groups_of_features(self) -> tuple[int, ...]:
        """The column of each feature, also where each is one by itself."""
        return self.feature_groups or tuple(range(self.num_features))

    @property
    def output_names(self) -> tuple[str, ...]:
        """What the outputs are called: the classes or labels, by number where they have no name."""
        return self.class_names or tuple(map(str, range(self.num_outputs)))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of what a model says of one example: once, or of each pixel or token.

        The number of tokens is -1 where inputs are several parts, whose lengths may vary, and so
        is the number of boxes, which is up to the model.
        """
        if self.target == "mask":
            return (self.num_outputs, *self.input_shape[1:])
        if self.target == "boxes":  # of each query: the classes, that there is nothing, and a box
            return (VARIES, self.num_outputs + 5)
        if self.target in {"tokens", "tags", "span"}:
            length = self.input_shape[0] - self.source_length if self.input_shape else VARIES
            return (length, self.num_outputs)
        return (self.num_outputs,)

    def fits_output(self, shape: tuple[int, ...]) -> bool:
        """Whether a model may say this of one example: anything where there is no target."""
        wanted = self.output_shape
        is_as_wanted = len(shape) == len(wanted) and all(
            size in {VARIES, got} for size, got in zip(wanted, shape, strict=True)
        )
        return self.target == "none" or is_as_wanted

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return to_plain(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "DataSpec":
        """The spec that `to_json` gave."""
        spec = from_plain(cls, values)
        INPUT.check("an example", spec.num_features)
        if spec.feature_groups:
            check_groups("feature_groups", spec.feature_groups, spec.num_features)
        if spec.feature_levels:
            check_levels("feature_levels", spec.feature_levels, spec.num_features)
        return spec
