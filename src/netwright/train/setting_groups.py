"""The settings of training in groups; each field says by itself who depends on it.

A field without a mark is a condition of its run: where it has changed, a run cannot be resumed
exactly. `Resume` says what else a change means, `Heeded` who beside gradient descent depends on the
field, `Typed` that the command line has an option for it.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Annotated, Any, Literal

from annotated_types import Interval

from netwright.core.config import Config, Count, Doc, Fraction, NotNegative, OneOf, Positive, Size
from netwright.losses.catalog import LOSSES
from netwright.losses.penalty import Penalized
from netwright.losses.smoothing import SmoothOver
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel
from netwright.optimizers.schedules import SCHEDULES
from netwright.train.precision import Precision

Policy = Literal["stop", "skip", "roll-back"]
Averaging = Literal["none", "exponential", "equal"]
ForcingDecay = Literal["linear", "inverse-sigmoid"]
Share = Annotated[float, Interval(ge=0, le=1)]


class Resume(Enum):
    """What a change of a setting means for a run that is resumed."""

    FREE = auto()  # nothing: it says when a run ends, what it keeps and where it computes
    LENGTH = auto()  # it is a condition where it is the run's length and something depends on that
    IF_GIVEN = auto()  # it is a condition where it is given
    STEERS = auto()  # the optimizer and the schedule get new settings; the memory stays
    REGROUPS = auto()  # the optimizer begins anew, since it has other groups of weights
    READS = auto()  # the epoch begins again, since its batches are others


class Heeded(Enum):
    """Who depends on a setting beside a run by gradient descent."""

    BY_EACH_MEMBER = auto()  # free in a run of its own; what a member of an ensemble learned by
    BY_ANY_RULE = auto()  # a model that learns by a rule of its own heeds it too


class Typed(Enum):
    """How a setting is typed on the command line."""

    AS_OPTION = auto()  # --batch-size 32; the others by --set


@dataclass(frozen=True, kw_only=True)
class Length(Config):
    """How long training goes on, and how many examples a step takes."""

    epochs: Annotated[
        Size | None,
        Doc(
            "passes over the training data; default: as many as max_steps takes, otherwise 30, or "
            "more where a small data set gives few updates"
        ),
        Resume.LENGTH,
        Typed.AS_OPTION,
    ] = None
    batch_size: Annotated[
        Size | None,
        Doc(
            "examples per step; default: 32, from 10,000 rows on 128; the whole data set for "
            "newton, lbfgs ..."
        ),
        Resume.READS,
        Typed.AS_OPTION,
    ] = None
    accumulate: Annotated[
        Size, Doc("batches whose gradients are accumulated for one step"), Resume.READS
    ] = 1
    max_steps: Annotated[
        Size | None,
        Doc(
            "stop after this many updates; without epochs this is the length of the run, and "
            "schedules span it"
        ),
        Resume.FREE,
        Resume.LENGTH,
        Heeded.BY_EACH_MEMBER,
        Typed.AS_OPTION,
    ] = None
    max_time: Annotated[
        Positive | None,
        Doc("stop training after this many seconds"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
        Typed.AS_OPTION,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Optimization(Config):
    """How the weights move."""

    optimizer: Annotated[
        str | None,
        OneOf(OPTIMIZERS),
        Doc("the optimizer; default: adam, and lbfgs for convex losses"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None
    lr: Annotated[
        Positive | None,
        Doc("learning rate; default: the optimizer's own"),
        Resume.STEERS,
        Typed.AS_OPTION,
    ] = None
    weight_decay: Annotated[
        NotNegative, Doc("strength of weight decay"), Resume.STEERS, Typed.AS_OPTION
    ] = 0.0
    optimizer_options: Annotated[
        dict[str, Any],
        Doc("more settings of the optimizer: betas, momentum, eps ..."),
        Resume.STEERS,
    ] = field(default_factory=dict)
    kernel: Annotated[Kernel, Doc("torch's fused or foreach optimizer step"), Resume.STEERS] = (
        "auto"
    )
    schedule: Annotated[str, OneOf(SCHEDULES), Doc("learning-rate schedule"), Resume.STEERS] = (
        "constant"
    )
    schedule_options: Annotated[
        dict[str, Any],
        Doc("more settings of the schedule: every, factor, patience ..."),
        Resume.STEERS,
    ] = field(default_factory=dict)
    warmup: Annotated[
        Count, Doc("steps of linear warm-up, from near 0 to the learning rate"), Resume.STEERS
    ] = 0
    clip_norm: Annotated[Positive | None, Doc("clip the gradient to this norm")] = None
    clip_value: Annotated[
        Positive | None, Doc("clip each entry of the gradient to this absolute value")
    ] = None
    average: Annotated[
        Averaging,
        Doc("average the weights: exponential moving average, or plain mean over the last quarter"),
    ] = "none"
    average_decay: Annotated[Fraction, Doc("decay of the exponential moving average, per step")] = (
        0.999
    )


@dataclass(frozen=True, kw_only=True)
class FineTuning(Config):
    """Which parts of a model learn, and how fast."""

    freeze: Annotated[
        str,
        Doc("freeze the model up to and including this part: layer3"),
        Typed.AS_OPTION,
    ] = ""
    unfreeze_every: Annotated[
        Size | None,
        Doc("unfreeze one more part, from the last to the first, every so many epochs"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None
    layer_decay: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc(
            "each part's learning rate as a fraction of that of the next part; default: the same "
            "for all"
        ),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Objective(Config):
    """What is made small."""

    loss: Annotated[
        str | None,
        OneOf(LOSSES),
        Doc("the loss to minimise; default: the usual one for the target"),
    ] = None
    label_smoothing: Annotated[Fraction, Doc("probability mass taken from the true class")] = 0.0
    smooth_over: Annotated[
        SmoothOver, Doc("classes that receive that mass: all (as in torch), or only the others")
    ] = "all"
    aux_weight: Annotated[NotNegative, Doc("weight of an auxiliary head's loss")] = 0.3
    class_weight: Annotated[
        Literal["balanced"] | None,
        Doc("'balanced' gives every class the same total weight"),
        Heeded.BY_ANY_RULE,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Regularization(Config):
    """What keeps the weights small and the data varied."""

    l1: Annotated[NotNegative, Doc("L1 penalty, lambda |w|: small weights become exactly 0")] = 0.0
    l2: Annotated[NotNegative, Doc("L2 penalty, lambda / 2 w^2, added to the loss")] = 0.0
    penalize: Annotated[
        Penalized,
        Doc("parameters that weight_decay, l1 and l2 act on: all, or only matrices and kernels"),
        Resume.REGROUPS,
    ] = "all"
    input_noise: Annotated[NotNegative, Doc("standard deviation of noise on inputs")] = 0.0
    label_noise: Annotated[
        Fraction, Doc("fraction of labels replaced by another class, redrawn for every batch")
    ] = 0.0
    weight_noise: Annotated[NotNegative, Doc("standard deviation of noise on weights")] = 0.0
    gradient_noise: Annotated[NotNegative, Doc("standard deviation of noise on gradients")] = 0.0
    output_noise: Annotated[NotNegative, Doc("standard deviation of noise on outputs")] = 0.0
    augment: Annotated[
        tuple[str, ...], Doc("random image augmentations: flip, crop=4, mixup=0.2 ...")
    ] = ()


@dataclass(frozen=True, kw_only=True)
class SequenceTraining(Config):
    """What only models of sequences heed."""

    carry_state: Annotated[
        bool, Doc("carry a recurrent model's state over from one window of the text to the next")
    ] = False
    teacher_forcing: Annotated[
        Share, Doc("probability that a decoder reads the true previous token instead of its own")
    ] = 1.0
    teacher_forcing_end: Annotated[
        Share | None, Doc("its value at the last update; default: constant")
    ] = None
    teacher_forcing_decay: Annotated[
        ForcingDecay, Doc("how it gets there: linearly, or slowly at both ends")
    ] = "linear"


@dataclass(frozen=True, kw_only=True)
class Stopping(Config):
    """Which weights are the best, and when to stop looking for better ones."""

    monitor: Annotated[str, Doc("the metric that selects the best weights")] = "val/loss"
    patience: Annotated[
        Count | None,
        Doc(
            "early stopping: stop after this many evaluations (after each epoch, and every "
            "eval_every updates) without improvement; default: never"
        ),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
        Typed.AS_OPTION,
    ] = None
    min_delta: Annotated[NotNegative, Doc("smallest change that counts as an improvement")] = 0.0
    restore_best: Annotated[
        bool | None,
        Doc(
            "keep the best weights instead of the last ones; default: yes, except at a convex "
            "optimum"
        ),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
    ] = None
    on_non_finite: Annotated[
        Policy,
        Doc("on NaN or infinity: stop, skip the update, or roll back to the start of the epoch"),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
    ] = "stop"


@dataclass(frozen=True, kw_only=True)
class Keeping(Config):
    """What is measured, watched and saved on the way."""

    log_every: Annotated[
        Size | None,
        Doc(
            "updates between per-step rows of metrics.jsonl; default: about one row per second, "
            "more often in a short run, and never for a run kept in memory"
        ),
        Resume.FREE,
    ] = None
    eval_every: Annotated[
        Size | None,
        Doc(
            "updates between evaluations on the validation split, in addition to those after each "
            "epoch; monitor, patience and the schedule plateau use all of them"
        ),
        Resume.IF_GIVEN,
        Typed.AS_OPTION,
    ] = None
    save_every: Annotated[
        Size | None,
        Doc("epochs between checkpoints; default: as often as costs little time"),
        Resume.FREE,
    ] = None
    save_steps: Annotated[
        Size | None,
        Doc("updates between checkpoints, in addition to those after epochs"),
        Resume.FREE,
    ] = None
    keep: Annotated[
        Size, Doc("number of latest checkpoints to keep, besides the best"), Resume.FREE
    ] = 2
    keep_path: Annotated[
        Count,
        Doc("snapshots of the weights kept during training, for the loss landscape; 0: none"),
        Resume.FREE,
    ] = 24
    doctor: Annotated[
        bool,
        Doc("monitor some steps for dead units, a learning rate too high or low, overfitting ..."),
        Resume.FREE,
    ] = True


@dataclass(frozen=True, kw_only=True)
class Hardware(Config):
    """Where and in which numbers it computes."""

    precision: Annotated[Precision, Doc("number format of matrix products"), Typed.AS_OPTION] = (
        "fp32"
    )
    compile: Annotated[
        bool,
        Doc(
            "torch.compile the forward pass: takes up to a minute before the first step, which is "
            "not counted as training time; dropout then draws other random numbers"
        ),
    ] = False
    channels_last: Annotated[
        bool | None,
        Doc("channels-last memory format; default: on CUDA in mixed precision"),
    ] = None
    rank_timeout: Annotated[
        Positive,
        Doc("seconds of silence after which a process counts as lost and the run ends"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
    ] = 600.0
    workers: Annotated[
        Count, Doc("worker processes that load data which is not held in memory"), Resume.FREE
    ] = 0
    device: Annotated[
        str, Doc("auto, cpu, cuda, cuda:N or mps"), Resume.FREE, Heeded.BY_ANY_RULE, Typed.AS_OPTION
    ] = "auto"
