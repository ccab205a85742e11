r"""Saliency: which numbers of an input an answer is most sensitive to, by gradients.

    gradient          |d s / d x_i|                          how steep the score s is
    gradient-input    x_i d s / d x_i                        what x_i adds, were s a line through 0
    integrated        (x_i - b_i) int_0^1 d s / d x_i (b + a (x - b)) da

Integrated gradients are complete: they add up to s(x) - s(b), what the score gained on the way from
the base b. Tokens have no gradient: it is taken at the vectors that stand for them, and a token
counts with the length of its gradient, or with the sum over its vector.

Shapes: one input (1, ...), B points on the way from the base, T tokens, E numbers of a vector.
Source: Simonyan, Vedaldi and Zisserman, "Deep Inside Convolutional Networks" (2014); Shrikumar et
al., "Not Just a Black Box" (2016); Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep
Networks" (2017).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import DataError
from netwright.core.evaluation import evaluating
from netwright.core.outputs import logits_of
from netwright.inspection.attribution.input_map import InputMap, ShownInput, map_values
from netwright.inspection.drawing.wording import number
from netwright.inspection.inside.torch_calls import WatchedCalls

Method = Literal["gradient", "gradient-input", "integrated"]
Score = Callable[[Any], Tensor]  # what a model gives -> a number an input (B,)
Run = Callable[[Tensor], Any]
BATCH = 16
FAR, ROUNDING = 0.05, 1e-3  # shares of the gain, and of the score, by which sums may be off
UNITS: dict[Method, str] = {
    "gradient": "|d score / d input|",
    "gradient-input": "input x gradient",
    "integrated": "added to the score",
}
READING: dict[Method, str] = {
    "gradient": "How fast {} changes with each part of the input, in either direction.",
    "gradient-input": "Each part of the input times the gradient of {}: blue raises it, orange "
    "lowers it.",
    "integrated": "What each part of the input adds to {} on the way from the base: blue raises "
    "it, orange lowers it.",
}


@dataclass(frozen=True, kw_only=True)
class Saliency(InputMap):
    """What an answer is most sensitive to.

    Args:
        method: how it was measured.
        score: of the answer.
        base_score: at the base, where the way begins; None where there is none.
        total: the sum of all numbers before any are averaged to be shown.
    """

    title: ClassVar[str] = "Saliency"

    method: Method
    score: float
    base_score: float | None
    total: float

    @property
    def unit(self) -> str:
        """What a number is."""
        return UNITS[self.method]

    @property
    def is_signed(self) -> bool:
        """All but the size of a gradient."""
        return self.method != "gradient"

    @property
    def caption(self) -> str:
        """How to read it, and where it is strongest."""
        reading = READING[self.method].format(f"the score of {self.shown.answer}")
        return f"{reading} The strongest is {self.strongest}.{self._completeness}"

    @property
    def _completeness(self) -> str:
        """Of integrated gradients what they add up to, and whether that is what they should."""
        if self.base_score is None:
            return ""
        gain, slack = self.score - self.base_score, ROUNDING * abs(self.score)
        is_near = math.isclose(self.total, gain, rel_tol=FAR, abs_tol=slack)
        return (
            f" They add up to {number(self.total)}; the score is {number(self.score)}, at the "
            f"base {number(self.base_score)}, a gain of {number(gain)}."
            f"{'' if is_near else ' The two should be equal: more steps are needed.'}"
        )


def measure_saliency(
    model: nn.Module,
    inputs: Tensor,
    score: Score,
    shown: ShownInput,
    *,
    method: Method = "gradient",
    base: Tensor | None = None,
    steps: int = 64,
    looked_up: Tensor | None = None,
) -> Saliency:
    """How the score of one input hangs on its parts.

    Args:
        model: any module; it is not changed.
        inputs: one input (1, ...), encoded; of tokens those that are shown come first.
        score: what the model gives -> the score of each input (B,).
        shown: the input as it is shown, and what the score is of.
        method: see the head.
        base: where the way of integrated gradients begins, shaped like the input; by default 0. For
            tokens it is always the zero vector.
        steps: points on that way.
        looked_up: the tokens (1, F) that the model looks up for these, where it adds some of its
            own; it is these that are shown.
    """
    with evaluating(model), torch.backends.cudnn.flags(enabled=False):  # cuDNN keeps no gradients
        point, run = _differentiable(model, inputs, looked_up)
        start = torch.zeros_like(point) if base is None or point.ndim > inputs.ndim else base
        if method == "integrated":
            parts = (point - start) * _mean_gradient(point, run, score, start, steps)
        else:
            slopes = gradient_of(point, run, score)
            parts = slopes.abs() if method == "gradient" else point * slopes
        at_point, at_start = score(run(torch.cat((point, start)))).tolist()
    is_signed = method != "gradient"
    return Saliency(
        shown=shown,
        values=map_values(shown, _by_place(parts[0], shown, is_signed=is_signed)),
        method=method,
        score=at_point,
        base_score=at_start if method == "integrated" else None,
        total=float(parts.sum()),
    )


def gradient_of(points: Tensor, run: Run, score: Score) -> Tensor:
    """The gradient of the score of each point (B, ...) with respect to it."""
    points = points.detach().requires_grad_()
    with torch.enable_grad():
        total = score(run(points)).sum()
        gradient = None
        if total.requires_grad:
            (gradient,) = torch.autograd.grad(total, points, allow_unused=True)
    if gradient is None:
        raise DataError("the score does not depend on the input through differentiable operations")
    return gradient


def has_gradient(model: nn.Module, inputs: Tensor, looked_up: Tensor | None = None) -> bool:
    """Whether what a model gives of one input (1, ...) hangs on it by steps that have gradients.

    `looked_up` is as for `measure_saliency`.
    """
    with evaluating(model), torch.backends.cudnn.flags(enabled=False):
        try:
            gradient_of(*_differentiable(model, inputs, looked_up), score=logits_of)
        except DataError:
            return False
    return True


def _differentiable(
    model: nn.Module, inputs: Tensor, looked_up: Tensor | None
) -> tuple[Tensor, Run]:
    """The point (1, ...) at which gradients are taken, and the model as a function of points.

    Of tokens it is the vectors (1, T, E) that are looked up for them, or for the first of them: a
    source stands before its target.
    """
    if inputs.is_floating_point():
        return inputs, model
    found: list[Tensor] = []
    tokens = inputs if looked_up is None else looked_up

    def looks_up(func: Callable[..., Any], args: tuple[Any, ...]) -> bool:
        if func is not functional.embedding or args[0].ndim != tokens.ndim:
            return False
        return torch.equal(args[0][:1], tokens[:, : args[0].shape[1]])

    def keep(
        func: Callable[..., Any], args: tuple[Any, ...], _: Mapping[str, Any], result: Any
    ) -> Any:
        if looks_up(func, args):
            found.append(result)
        return result

    with WatchedCalls(keep):
        model(inputs)
    if not found:
        raise DataError("the model has no token embedding, so there is no gradient")

    def run(points: Tensor) -> Any:
        with WatchedCalls(lambda func, args, _, result: points if looks_up(func, args) else result):
            return model(inputs.expand(len(points), -1))

    return found[0], run


def _mean_gradient(point: Tensor, run: Run, score: Score, start: Tensor, steps: int) -> Tensor:
    """The mean of the gradient (1, ...) along the way, by the midpoint rule."""
    shares = (torch.arange(steps, device=point.device) + 0.5) / steps
    total = torch.zeros_like(point)
    for part in torch.split(shares, BATCH):
        on_the_way = start + part.view(-1, *(1 for _ in point.shape[1:])) * (point - start)
        total += gradient_of(on_the_way, run, score).sum(dim=0)
    return total / steps


def _by_place(parts: Tensor, shown: ShownInput, *, is_signed: bool) -> Tensor:
    """One number a place: over the channels of an image, or the vector of a token.

    Sums keep what parts add up to; of sizes a token has the length, an image the largest channel.
    """
    match shown.kind:
        case "tokens":
            vectors = parts[: len(shown.names)]  # padding comes last
            return vectors.sum(dim=1) if is_signed else vectors.norm(dim=1)
        case "image":
            return parts.sum(dim=0) if is_signed else parts.amax(dim=0)
        case _:
            return parts
