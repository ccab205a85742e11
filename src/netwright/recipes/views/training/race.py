"""The view `race`: optimizers side by side on a run's own model, data and loss."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size, parse
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.core.seeding import derive_seed, seeded
from netwright.data.loading.loader import Batch
from netwright.inspection.training.race_curves import Builder, RaceCurves, measure_race
from netwright.models.catalog import MODELS
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.saved.start_from import take_weights
from netwright.recipes.views.cost import MOST_SECONDS, Cost, measure_cost
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_several
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training_batches import training_batches

USUAL = ("sgd", "momentum", "rmsprop", "adam")
SECONDS = 5.0  # of all laps, on one core
LAPS, FEW_LAPS = 18, 8  # that four optimizers usually run: on a grid that grows, at two rates each


class Length(NamedTuple):
    """Examples a batch, updates at each rate, and whether there are only two rates each."""

    rows: int
    steps: int
    few_rates: bool

    def seconds(self, cost: Cost) -> float:
        """Of a race of this length."""
        laps = FEW_LAPS if self.few_rates else LAPS
        return laps * self.steps * cost.update_seconds(self.rows)


LENGTHS = (
    Length(32, 30, few_rates=False),
    Length(16, 30, few_rates=False),
    Length(8, 30, few_rates=False),
    Length(8, 15, few_rates=False),
    Length(8, 15, few_rates=True),
    Length(8, 10, few_rates=True),
    Length(4, 5, few_rates=True),
    Length(2, 5, few_rates=True),  # batch norm needs two
)


@dataclass(frozen=True, kw_only=True)
class RaceConfig(Config):
    """Who races, and how far."""

    optimizers: Annotated[
        tuple[str, ...],
        Doc(f"names; default: {', '.join(USUAL)} and the one that the run was trained with"),
    ] = ()
    steps: Annotated[
        Size | None,
        Doc("updates at each rate; default: 30, fewer where an update is slow"),
    ] = None
    rows: Annotated[
        Size | None,
        Doc("examples per batch; default: 32, fewer where a pass is slow"),
    ] = None


def measure(subject: Subject, settings: RaceConfig) -> RaceCurves:
    """Let them run from the run's first weights, on its first batches; the run stays as it is."""
    run, seed = subject.run, subject.run.config["seed"]
    cost = measure_cost(run.model, next(training_batches(subject, 1)).inputs)
    length = _affordable(cost)
    if not (settings.rows or settings.steps) and length.seconds(cost) > MOST_SECONDS:
        raise ConfigError(
            f"a race of {subject.name} would take {length.seconds(cost):,.0f} seconds "
            f"with {length.rows} examples and {length.steps} updates: set rows or steps to accept "
            f"that"
        )

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        return run.task.loss(model(run.task.inputs(batch)), batch)

    return measure_race(
        _with_first_weights(run),
        loss,
        list(
            islice(
                training_batches(subject, settings.rows or length.rows),
                settings.steps or length.steps,
            )
        ),
        {name: _entrant(name, run) for name in _names(settings, run)},
        seed=derive_seed(seed, "race"),
        few_rates=length.few_rates,
    )


def _affordable(cost: Cost) -> Length:
    """The longest race within the seconds; where there is none, the shortest."""
    return next((one for one in LENGTHS if one.seconds(cost) <= SECONDS), LENGTHS[-1])


def _with_first_weights(run: RunRecord) -> nn.Module:
    """The run's model as it was before it learned."""
    settings = dict(run.config["model"])
    kind = MODELS.load(settings.pop("name"))
    with seeded(derive_seed(run.config["seed"], "weights")):
        model: nn.Module = kind.build(parse(kind.settings, settings, "model"), run.spec)
    if run.config.get("from"):
        take_weights(model, Path(run.config["from"]), run.spec.class_names)
    return model.to(device_of(run.model))


def _names(settings: RaceConfig, run: RunRecord) -> tuple[str, ...]:
    """Who races; one that cannot is refused where it was asked for, else left out."""
    for name in settings.optimizers:
        OPTIMIZERS.check(name)
        if not _can_race(name):
            raise ConfigError(f"{name} cannot take part: its step needs more than one batch's loss")
    usual = dict.fromkeys((*USUAL, run.config["train"]["optimizer"]))
    return settings.optimizers or tuple(name for name in usual if _can_race(name))


def _can_race(name: str) -> bool:
    entry = OPTIMIZERS.load(name)
    return not entry.closure and not entry.full_batch


def _entrant(name: str, run: RunRecord) -> tuple[float, Builder]:
    """An optimizer's usual rate and what builds it; the run's own has the run's rate and options.

    No one has weight decay, which not all know.
    """
    entry, train = OPTIMIZERS.load(name), run.config["train"]
    if name != train["optimizer"]:
        return entry.lr, lambda model, lr: build_optimizer(entry, model, lr=lr)
    options = train["optimizer_options"]
    return train["lr"] or entry.lr, lambda model, lr: build_optimizer(
        entry, model, lr=lr, options=options
    )


def refusal(subject: Subject) -> str:
    """Optimizers need gradients, and the race the first weights of one model."""
    config = subject.run.config
    if not config["model"]["name"]:
        return "a race starts from the run's initial weights, which are unknown for your own module"
    if isinstance(subject.run.model, Learner):
        return f"a race compares optimizers, {subject.name} has its own learning rule"
    if config["train"].get("freeze"):
        return (
            f"a race trains all weights, this run froze those up to {config['train']['freeze']!r}"
        )
    return refuse_several(subject, "a race")


RACE = ViewEntry(
    card=Card(
        sentence="Optimizers from the same first weights on the run's own loss, each at its best "
        "learning rate.",
        formula=r"w_{t+1} = w_t - \eta\, u(\nabla L_1(w_1), \dots, \nabla L_t(w_t))",
        symbols={
            "w_1": "the first weights, the same for all",
            "L_t": "the loss of batch t, the same for all; without augmentation, penalties, weight "
            "decay, clipping and layer decay",
            r"\eta": "the learning rate: the best of a grid",
            "u": "what makes the optimizer",
        },
        source="Schmidt, Schneider and Hennig, "
        '"Descending through a Crowded Valley: Benchmarking Deep Learning Optimizers" (2021)',
    ),
    measure=measure,
    refusal=refusal,
    settings=RaceConfig,
)
