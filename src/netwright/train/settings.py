"""How a model is trained by gradients: the settings of a recipe's `train` section."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Interval

from netwright.core.config import Config, Count, Doc, Fraction, NotNegative, OneOf, Positive, Size
from netwright.core.errors import ConfigError
from netwright.data.augment.catalog import AUGMENTATIONS
from netwright.losses.catalog import LOSSES
from netwright.losses.penalty import Penalized
from netwright.losses.smoothing import SmoothOver
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel, OptimizerEntry
from netwright.optimizers.schedules import SCHEDULES
from netwright.train.precision import Precision

Policy = Literal["stop", "skip", "roll-back"]
Averaging = Literal["none", "exponential", "equal"]
ForcingDecay = Literal["linear", "inverse-sigmoid"]
Share = Annotated[float, Interval(ge=0, le=1)]
DEFAULT_OPTIMIZER = "adam"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Config):
    """Settings of training; the names are torch's and the field's."""

    epochs: Annotated[
        Size | None,
        Doc(
            "passes over the training data; if not given as many as max_steps takes, without it "
            "30, more where few rows make few updates"
        ),
    ] = None
    batch_size: Annotated[
        Size | None,
        Doc("examples a step; if not given 32, from 10,000 rows on 128; all for newton, lbfgs ..."),
    ] = None
    optimizer: Annotated[
        str | None,
        OneOf(OPTIMIZERS),
        Doc("how weights move; if not given adam, for convex losses lbfgs to their optimum"),
    ] = None
    lr: Annotated[Positive | None, Doc("learning rate; if not given, the optimizer's own")] = None
    weight_decay: Annotated[NotNegative, Doc("pull of the weights toward zero")] = 0.0
    optimizer_options: Annotated[
        dict[str, Any], Doc("further settings of the optimizer: betas, momentum, eps ...")
    ] = field(default_factory=dict)
    kernel: Annotated[Kernel, Doc("torch's fused or foreach optimizer step")] = "auto"
    schedule: Annotated[str, OneOf(SCHEDULES), Doc("how the learning rate moves")] = "constant"
    schedule_options: Annotated[
        dict[str, Any], Doc("further settings of the schedule: every, factor, patience ...")
    ] = field(default_factory=dict)
    warmup: Annotated[Count, Doc("steps over which the learning rate rises from near 0")] = 0
    accumulate: Annotated[Size, Doc("batches whose gradients are added up for one step")] = 1
    precision: Annotated[Precision, Doc("number format of the matrix work")] = "fp32"
    compile: Annotated[
        bool,
        Doc(
            "torch.compile the forward pass: up to a minute before the first step, counted apart "
            "from training; dropout then draws numbers of its own"
        ),
    ] = False
    channels_last: Annotated[
        bool | None,
        Doc("keep the channels of a pixel together; if not given, on CUDA in half precision"),
    ] = None
    freeze: Annotated[
        str, Doc("the part of the model up to which, itself included, nothing learns: layer3")
    ] = ""
    unfreeze_every: Annotated[
        Size | None, Doc("epochs after which the last frozen part begins to learn, one by one")
    ] = None
    layer_decay: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc("each part's learning rate is this times that of the part after it; nothing: all same"),
    ] = None
    loss: Annotated[
        str | None, OneOf(LOSSES), Doc("what is made small; if not given, what suits the target")
    ] = None
    label_smoothing: Annotated[
        Fraction, Doc("share of the certainty that is taken from the right class")
    ] = 0.0
    smooth_over: Annotated[
        SmoothOver, Doc("who gets that share: all classes (as torch does), or the others alone")
    ] = "all"
    aux_weight: Annotated[NotNegative, Doc("how much the loss of an auxiliary head counts")] = 0.3
    l1: Annotated[NotNegative, Doc("lambda of lambda |w|: small weights become exactly 0")] = 0.0
    l2: Annotated[NotNegative, Doc("lambda of lambda / 2 w^2, a term of the loss")] = 0.0
    penalize: Annotated[
        Penalized, Doc("what weight_decay, l1 and l2 pull on: all, or matrices and kernels alone")
    ] = "all"
    clip_norm: Annotated[
        Positive | None, Doc("a gradient longer than this is cut to this length")
    ] = None
    clip_value: Annotated[
        Positive | None, Doc("each number of the gradient is cut to this size")
    ] = None
    input_noise: Annotated[NotNegative, Doc("standard deviation of noise on inputs")] = 0.0
    label_noise: Annotated[
        Fraction, Doc("share of labels replaced by another class, anew each time")
    ] = 0.0
    weight_noise: Annotated[NotNegative, Doc("standard deviation of noise on weights")] = 0.0
    gradient_noise: Annotated[NotNegative, Doc("standard deviation of noise on gradients")] = 0.0
    output_noise: Annotated[NotNegative, Doc("standard deviation of noise on outputs")] = 0.0
    augment: Annotated[
        tuple[str, ...], Doc("changes of images, drawn anew each time: flip, crop=4, mixup=0.2 ...")
    ] = ()
    carry_state: Annotated[
        bool, Doc("a recurrent model's state goes on from one window of the text to the next")
    ] = False
    teacher_forcing: Annotated[
        Share, Doc("probability that a decoder is told the true token before the next, not its own")
    ] = 1.0
    teacher_forcing_end: Annotated[
        Share | None, Doc("the same at the last update; if not given, it stays as it is")
    ] = None
    teacher_forcing_decay: Annotated[
        ForcingDecay, Doc("how it gets there: evenly, or slowly at both ends")
    ] = "linear"
    average: Annotated[
        Averaging, Doc("use the mean of the weights: exponential, or equal over the last quarter")
    ] = "none"
    average_decay: Annotated[Fraction, Doc("what the exponential mean keeps each step")] = 0.999
    class_weight: Annotated[
        Literal["balanced"] | None, Doc("'balanced' lets every class count the same")
    ] = None
    monitor: Annotated[str, Doc("the measure that picks the best weights")] = "val/loss"
    patience: Annotated[
        Count | None,
        Doc(
            "stop after this many measurements without a better one: those at the end of epochs, "
            "and those of eval_every; nothing: never"
        ),
    ] = None
    min_delta: Annotated[NotNegative, Doc("how much better counts as better")] = 0.0
    restore_best: Annotated[
        bool | None,
        Doc("end with the best weights, not the last; if not given, yes but at a convex optimum"),
    ] = None
    log_every: Annotated[
        Size | None,
        Doc(
            "updates between rows by step in metrics.jsonl; if not given, as many as take about a "
            "second, fewer in a short run, and none where a run is kept in memory only"
        ),
    ] = None
    eval_every: Annotated[
        Size | None,
        Doc(
            "updates between measurements of the validation data, beside those at the end of "
            "epochs; monitor, patience and the schedule plateau heed them all"
        ),
    ] = None
    save_every: Annotated[
        Size | None,
        Doc("epochs between checkpoints; if not given, as often as it costs little time"),
    ] = None
    save_steps: Annotated[
        Size | None, Doc("updates between checkpoints, beside those at the end of epochs")
    ] = None
    keep: Annotated[Size, Doc("newest checkpoints kept, beside the best")] = 2
    keep_path: Annotated[
        Count, Doc("snapshots of the weights kept along the way, for the landscape; 0: none")
    ] = 24
    on_non_finite: Annotated[
        Policy,
        Doc(
            "when numbers are not finite: stop, skip the update, or roll back to the epoch's start"
        ),
    ] = "stop"
    doctor: Annotated[
        bool, Doc("watch a few steps for dead units, rates too high or low, overfitting ...")
    ] = True
    max_steps: Annotated[
        Size | None,
        Doc(
            "updates after which training stops; without epochs they are the whole run, which "
            "passes over the data as often as it takes, and schedules span them"
        ),
    ] = None
    max_time: Annotated[Positive | None, Doc("seconds after which training stops")] = None
    rank_timeout: Annotated[
        Positive, Doc("seconds after which a process that does not answer the others ends the run")
    ] = 600.0
    workers: Annotated[Count, Doc("processes that read data which is not held in memory")] = 0
    device: Annotated[str, Doc("auto, cpu, cuda, cuda:N or mps")] = "auto"

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        for augmentation in self.augment:
            name = augmentation.partition("=")[0].strip()
            AUGMENTATIONS.check(name)
            if name == "mixup" and self.loss not in {None, "cross-entropy"}:
                raise ConfigError(
                    f"mixup mixes classes: it needs the loss cross-entropy, got {self.loss!r}"
                )
        if self.carry_state and self.on_non_finite == "skip":
            raise ConfigError(
                "on_non_finite must not be skip with carry_state: the state that goes on is not "
                "finite either"
            )
        if self.compile and self.forcing != (1, 1):
            raise ConfigError("teacher_forcing must be 1 with compile: each change is new code")
        if self.rule.closure:
            self._check_closure()

    @property
    def rule(self) -> OptimizerEntry:
        """The optimizer: the one that is named, or the usual one."""
        return OPTIMIZERS.load(self.optimizer or DEFAULT_OPTIMIZER)

    @property
    def forcing(self) -> tuple[float, float]:
        """Teacher forcing at the first and at the last update."""
        end = self.teacher_forcing_end
        return (self.teacher_forcing, self.teacher_forcing if end is None else end)

    def _check_closure(self) -> None:
        """Refuse what does not go with an optimizer that asks for the loss again."""
        optimizer = self.rule
        if self.accumulate > 1:
            raise ConfigError(f"accumulate must be 1 with {self.optimizer}: it steps by itself")
        if self.on_non_finite != "stop":
            raise ConfigError(f"on_non_finite must be stop with {self.optimizer}")
        if self.precision == "fp16-mixed":
            raise ConfigError(f"precision must not be fp16-mixed with {self.optimizer}")
        moving = ("l1", "clip_norm", "clip_value", "weight_noise", "gradient_noise")
        reasons = dict.fromkeys(moving, "it steps by itself")
        if optimizer.full_gradient:
            changing = ("augment", "input_noise", "label_noise")
            reasons |= dict.fromkeys(changing, "its two gradients must be of the same rows")
        reasons["carry_state"] = "it reads a batch several times"
        if optimizer.graph:
            reasons["compile"] = "it differentiates twice"
        for name, reason in reasons.items():
            if getattr(self, name):
                raise ConfigError(f"{name} must be left out with {self.optimizer}: {reason}")


class Pace(NamedTuple):
    """How training walks through rows.

    Args:
        batch_size: examples a batch.
        updates: of an epoch.
        epochs: passes to make; the last may be a part of one.
        last_step: the update with which the run is whole; None: its last pass makes it whole.
    """

    batch_size: int
    updates: int
    epochs: int
    last_step: int | None = None

    @property
    def all_updates(self) -> int:
        """Updates of the whole run, where none is left out."""
        return self.updates * self.epochs if self.last_step is None else self.last_step


def pace_for(config: TrainConfig, rows: int) -> Pace:
    """The pace of these settings on so many rows, with what was not given chosen.

    A few hundred rows are a handful of updates an epoch, and thirty epochs of them would leave a
    model half learned: so there are 30 epochs, or as many as make 1,000 updates, at most 300. An
    optimizer that searches within a step would learn a small batch by heart, and its steps go far:
    it takes all rows, and at most 100 epochs. A limit of updates alone, without epochs, is the
    length of the run.
    """
    optimizer = config.rule
    searches = optimizer.closure and not optimizer.full_gradient
    chosen = rows if optimizer.full_batch or searches else batch_size_for(rows)
    batch_size = config.batch_size or chosen
    if optimizer.full_batch and batch_size < rows:
        raise ConfigError(
            f"batch_size must be left out with {config.optimizer}: a step takes all {rows} rows, "
            f"got {batch_size}"
        )
    updates = math.ceil(math.ceil(rows / batch_size) / config.accumulate)
    if config.epochs is None and config.max_steps is not None:
        return Pace(batch_size, updates, math.ceil(config.max_steps / updates), config.max_steps)
    most = 100 if searches else 300
    return Pace(batch_size, updates, config.epochs or min(most, max(30, math.ceil(1000 / updates))))


def batch_size_for(count: int) -> int:
    """A batch for `count` rows: 32, from 10,000 rows on 128, never more than there are."""
    return min(count, 32 if count < 10_000 else 128)
