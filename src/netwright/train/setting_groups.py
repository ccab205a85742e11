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
            "passes over the training data; if not given as many as max_steps takes, without it "
            "30, more where few rows make few updates"
        ),
        Resume.LENGTH,
        Typed.AS_OPTION,
    ] = None
    batch_size: Annotated[
        Size | None,
        Doc("examples a step; if not given 32, from 10,000 rows on 128; all for newton, lbfgs ..."),
        Resume.READS,
        Typed.AS_OPTION,
    ] = None
    accumulate: Annotated[
        Size, Doc("batches whose gradients are added up for one step"), Resume.READS
    ] = 1
    max_steps: Annotated[
        Size | None,
        Doc(
            "updates after which training stops; without epochs they are the whole run, which "
            "passes over the data as often as it takes, and schedules span them"
        ),
        Resume.FREE,
        Resume.LENGTH,
        Heeded.BY_EACH_MEMBER,
        Typed.AS_OPTION,
    ] = None
    max_time: Annotated[
        Positive | None,
        Doc("seconds after which training stops"),
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
        Doc("how weights move; if not given adam, for convex losses lbfgs to their optimum"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None
    lr: Annotated[
        Positive | None,
        Doc("learning rate; if not given, the optimizer's own"),
        Resume.STEERS,
        Typed.AS_OPTION,
    ] = None
    weight_decay: Annotated[
        NotNegative, Doc("pull of the weights toward zero"), Resume.STEERS, Typed.AS_OPTION
    ] = 0.0
    optimizer_options: Annotated[
        dict[str, Any],
        Doc("further settings of the optimizer: betas, momentum, eps ..."),
        Resume.STEERS,
    ] = field(default_factory=dict)
    kernel: Annotated[Kernel, Doc("torch's fused or foreach optimizer step"), Resume.STEERS] = (
        "auto"
    )
    schedule: Annotated[
        str, OneOf(SCHEDULES), Doc("how the learning rate moves"), Resume.STEERS
    ] = "constant"
    schedule_options: Annotated[
        dict[str, Any],
        Doc("further settings of the schedule: every, factor, patience ..."),
        Resume.STEERS,
    ] = field(default_factory=dict)
    warmup: Annotated[
        Count, Doc("steps over which the learning rate rises from near 0"), Resume.STEERS
    ] = 0
    clip_norm: Annotated[
        Positive | None, Doc("a gradient longer than this is cut to this length")
    ] = None
    clip_value: Annotated[
        Positive | None, Doc("each number of the gradient is cut to this size")
    ] = None
    average: Annotated[
        Averaging, Doc("use the mean of the weights: exponential, or equal over the last quarter")
    ] = "none"
    average_decay: Annotated[Fraction, Doc("what the exponential mean keeps each step")] = 0.999


@dataclass(frozen=True, kw_only=True)
class FineTuning(Config):
    """Which parts of a model learn, and how fast."""

    freeze: Annotated[
        str,
        Doc("the part of the model up to which, itself included, nothing learns: layer3"),
        Typed.AS_OPTION,
    ] = ""
    unfreeze_every: Annotated[
        Size | None,
        Doc("epochs after which the last frozen part begins to learn, one by one"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None
    layer_decay: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc("each part's learning rate is this times that of the part after it; nothing: all same"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Objective(Config):
    """What is made small."""

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
    class_weight: Annotated[
        Literal["balanced"] | None,
        Doc("'balanced' lets every class count the same"),
        Heeded.BY_ANY_RULE,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Regularization(Config):
    """What keeps the weights small and the data varied."""

    l1: Annotated[NotNegative, Doc("lambda of lambda |w|: small weights become exactly 0")] = 0.0
    l2: Annotated[NotNegative, Doc("lambda of lambda / 2 w^2, a term of the loss")] = 0.0
    penalize: Annotated[
        Penalized,
        Doc("what weight_decay, l1 and l2 pull on: all, or matrices and kernels alone"),
        Resume.REGROUPS,
    ] = "all"
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


@dataclass(frozen=True, kw_only=True)
class SequenceTraining(Config):
    """What only models of sequences heed."""

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


@dataclass(frozen=True, kw_only=True)
class Stopping(Config):
    """Which weights are the best, and when to stop looking for better ones."""

    monitor: Annotated[str, Doc("the measure that picks the best weights")] = "val/loss"
    patience: Annotated[
        Count | None,
        Doc(
            "stop after this many measurements without a better one: those at the end of epochs, "
            "and those of eval_every; nothing: never"
        ),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
        Typed.AS_OPTION,
    ] = None
    min_delta: Annotated[NotNegative, Doc("how much better counts as better")] = 0.0
    restore_best: Annotated[
        bool | None,
        Doc("end with the best weights, not the last; if not given, yes but at a convex optimum"),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
    ] = None
    on_non_finite: Annotated[
        Policy,
        Doc(
            "when numbers are not finite: stop, skip the update, or roll back to the epoch's start"
        ),
        Resume.FREE,
        Heeded.BY_EACH_MEMBER,
    ] = "stop"


@dataclass(frozen=True, kw_only=True)
class Keeping(Config):
    """What is measured, watched and saved on the way."""

    log_every: Annotated[
        Size | None,
        Doc(
            "updates between rows by step in metrics.jsonl; if not given, as many as take about a "
            "second, fewer in a short run, and none where a run is kept in memory only"
        ),
        Resume.FREE,
    ] = None
    eval_every: Annotated[
        Size | None,
        Doc(
            "updates between measurements of the validation data, beside those at the end of "
            "epochs; monitor, patience and the schedule plateau heed them all"
        ),
        Resume.IF_GIVEN,
        Typed.AS_OPTION,
    ] = None
    save_every: Annotated[
        Size | None,
        Doc("epochs between checkpoints; if not given, as often as it costs little time"),
        Resume.FREE,
    ] = None
    save_steps: Annotated[
        Size | None,
        Doc("updates between checkpoints, beside those at the end of epochs"),
        Resume.FREE,
    ] = None
    keep: Annotated[Size, Doc("newest checkpoints kept, beside the best"), Resume.FREE] = 2
    keep_path: Annotated[
        Count,
        Doc("snapshots of the weights kept along the way, for the landscape; 0: none"),
        Resume.FREE,
    ] = 24
    doctor: Annotated[
        bool,
        Doc("watch a few steps for dead units, rates too high or low, overfitting ..."),
        Resume.FREE,
    ] = True


@dataclass(frozen=True, kw_only=True)
class Hardware(Config):
    """Where and in which numbers it computes."""

    precision: Annotated[Precision, Doc("number format of the matrix work"), Typed.AS_OPTION] = (
        "fp32"
    )
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
    rank_timeout: Annotated[
        Positive,
        Doc("seconds after which a process that does not answer the others ends the run"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
    ] = 600.0
    workers: Annotated[
        Count, Doc("processes that read data which is not held in memory"), Resume.FREE
    ] = 0
    device: Annotated[
        str, Doc("auto, cpu, cuda, cuda:N or mps"), Resume.FREE, Heeded.BY_ANY_RULE, Typed.AS_OPTION
    ] = "auto"
