r"""The cost of a gradient: a constant multiple of one evaluation, however many weights there are.

Reverse mode does for each product W x of the forward pass two products of the same size: the
gradient of W and that of x (the inputs of the network need none). Hence, in operations,

    forward and backward = 3 * forward - first layer,

while a full Jacobian of K outputs takes a backward pass for each.

Shapes: B examples, D features, L layers.
Source: Baur and Strassen, "The complexity of partial derivatives" (1983); Griewank and Walther,
"Evaluating Derivatives" (2008), chapter 4.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.data.spec import DataSpec
from netwright.inspection.inside.flops import counting_flops
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

WIDTHS = {
    "quick": (64, 128, 256, 512, 1024),
    "full": (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
}
BATCH = 32


@dataclass(frozen=True, kw_only=True)
class ReverseModeConfig(Config):
    """The network and what is differentiated."""

    layers: Annotated[
        int,
        Interval(ge=1, le=50),
        Doc("L, hidden layers; inputs and outputs are as wide as they"),
    ] = 3
    one_output: Annotated[
        bool,
        Assumption("one number is differentiated, the loss; without it, every output by itself"),
    ] = True


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Floating-point operations of one network.

    Args:
        parameters: how many numbers it learns.
        forward: one evaluation of a batch.
        first: the first layer's part in it.
        gradient: the evaluation, and all the derivatives that are wanted.
    """

    parameters: int
    forward: int
    first: int
    gradient: int


def count_cost(width: int, layers: int, *, one_output: bool) -> Cost:
    """Count on torch's meta device: the operations are listed and not done."""
    spec = DataSpec(inputs="features", input_shape=(width,), target="real", num_outputs=width)
    config = MLPConfig(hidden=(width,) * layers, dropout=0.0)
    with torch.device("meta"):
        net = MLP.build(config, spec)
        x = torch.empty(BATCH, width)
    with counting_flops() as forward:
        outputs = net(x)
    with counting_flops() as backward:
        nn.functional.mse_loss(outputs, x).backward()  # type: ignore[no-untyped-call]
    passes = 1 if one_output else width  # a pass costs the same, whichever output it starts from
    return Cost(
        parameters=sum(parameter.numel() for parameter in net.parameters()),
        forward=forward.get_total_flops(),
        first=2 * BATCH * width * width,
        gradient=forward.get_total_flops() + passes * backward.get_total_flops(),
    )


def measure_reverse_mode(given: ReverseModeConfig, seed: int, effort: Effort) -> Verdict:
    """Count the operations of networks of growing width, without and with the gradient."""
    costs = [
        count_cost(width, given.layers, one_output=given.one_output) for width in WIDTHS[effort]
    ]
    ratios = [cost.gradient / cost.forward for cost in costs]
    wrong = sum(cost.gradient != 3 * cost.forward - cost.first for cost in costs)
    parameters = [cost.parameters for cost in costs]
    return Verdict(
        findings=(
            at_most("evaluations that a gradient costs, the most", 5, max(ratios), n=len(costs)),
            at_least("evaluations that a gradient costs, the least", 2, min(ratios), n=len(costs)),
            no_violations("widths with another count than the formula", wrong, n=len(costs)),
            at_least(
                "operations of the widest over the narrowest: the cost itself does grow",
                parameters[-1] / parameters[0],
                costs[-1].gradient / costs[0].gradient,
                n=2,
            ),
        ),
        chart=ClaimChart(
            x_label="parameters",
            y_label=f"operations for {BATCH} examples",
            series=(
                predicted(
                    "3 · forward - first layer",
                    parameters,
                    [3 * cost.forward - cost.first for cost in costs],
                ),
                measured("one evaluation", parameters, [cost.forward for cost in costs]),
                measured("with its gradient", parameters, [cost.gradient for cost in costs]),
            ),
            explanation="The two lie the same distance apart at every size: the ratio is constant. "
            "Both grow with the number of parameters."
            if given.one_output
            else "Each output takes a pass of its own: the wider the network, the further the two "
            "lie apart.",
            log="xy",
        ),
    )


REVERSE_MODE_COST = Claim(
    card=Card(
        sentence="The gradient of a loss costs a constant multiple of one evaluation, 2 to 5, "
        "whatever the number of parameters.",
        formula=r"\mathrm{cost}(f, \nabla f) \leq 5 \; \mathrm{cost}(f), \quad"
        r" f: \mathbb{R}^P \rightarrow \mathbb{R}",
        symbols={
            "f": "the loss, one number",
            "P": "parameters",
            r"\mathrm{cost}": "floating-point operations",
        },
        source="Baur and Strassen (1983), Theoretical Computer Science 22, 317-330",
        misprint="The cost itself is often called independent of the number of parameters; only "
        "its ratio to one evaluation is.",
    ),
    topic="Counting and cost",
    kind="theorem",
    settings=ReverseModeConfig,
    experiment=measure_reverse_mode,
)
