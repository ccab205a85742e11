"""The entry of the curvature: of the loss that training lowered, on a batch of its examples."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.learner import Learner
from netwright.inspection.training.curvature import Curvature, measure_curvature
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.recipes.views.cost import measure_cost
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_several
from netwright.recipes.views.subject import Subject

MOST_ROWS = 32
SECONDS = 0.04  # of an evaluation: the view takes about a hundred times as long


@dataclass(frozen=True, kw_only=True)
class CurvatureConfig(Config):
    """How closely the loss is looked at."""

    rows: Annotated[
        Size | None,
        Doc("number of training examples; default: 32, or fewer for a costly model"),
    ] = None
    steps: Annotated[
        Size, Doc("Lanczos steps, where the model is too large for all eigenvalues")
    ] = 16


def measure(subject: Subject, settings: CurvatureConfig) -> Curvature:
    """Of some training examples, without penalties and dropout."""
    run, train = subject.run, subject.run.config["train"]
    batch = subject.batch(settings.rows or _few(subject), split="train")
    return measure_curvature(
        run.model,
        run.task.inputs(batch),
        lambda output: run.task.loss(output, batch),
        steps=settings.steps,
        lr=train["lr"] or OPTIMIZERS.load(train["optimizer"]).lr,
        optimizer=train["optimizer"],
    )


def _few(subject: Subject) -> int:
    """As many rows as are looked at in seconds."""
    cost = measure_cost(subject.run.model, subject.batch(1, split="train").inputs)
    return min(MOST_ROWS, max(1, cost.rows_within(SECONDS)))


def refusal(subject: Subject) -> str:
    """Only what learns by gradients has a loss that could be differentiated twice."""
    if isinstance(subject.run.model, Learner):
        return f"curvature needs a model trained by gradients, {subject.name} is not"
    return refuse_several(subject, "curvature")


CURVATURE = ViewEntry(
    card=Card(
        sentence="How the loss bends around the trained weights: the spectrum of its Hessian, the "
        "largest stable learning rate, and what a step down the slope does.",
        formula=r"H = \nabla^2 f(w), \quad f(w - \eta g) \approx f - \eta g^T g"
        r" + \frac{\eta^2}{2} g^T H g, \quad \eta < \frac{2}{\lambda_{\max}}",
        symbols={
            "f": "the loss of a batch, without penalties",
            "w": "the weights, (N)",
            "g": "the gradient, (N)",
            "H": "the Hessian, (N, N)",
            r"\lambda_{\max}": "its largest eigenvalue",
            r"\eta": "a learning rate",
        },
        source="Cohen et al. (2021), Gradient Descent on Neural Networks Typically Occurs at the "
        "Edge of Stability, arXiv:2103.00065",
    ),
    measure=measure,
    refusal=refusal,
    one_input=True,
    settings=CurvatureConfig,
)
