"""The settings of how weights are learned, in groups; marks on a field say who depends on it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Interval

from netwright.core.config import Config, Count, Doc, Fraction, NotNegative, OneOf, Positive, Size
from netwright.losses.catalog import LOSSES
from netwright.losses.penalty import Penalized
from netwright.losses.smoothing import SmoothOver
from netwright.losses.target_transform import TransformKind
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel
from netwright.optimizers.schedules import SCHEDULES
from netwright.train.setting_marks import ConvexSearch, Heeded, Resume, Typed

Averaging = Literal["none", "exponential", "equal"]
ForcingDecay = Literal["linear", "inverse-sigmoid"]
Share = Annotated[float, Interval(ge=0, le=1)]


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
        ConvexSearch.IMPOSSIBLE,
    ] = None
    accumulate: Annotated[
        Size,
        Doc("batches whose gradients are accumulated for one step"),
        Resume.READS,
        ConvexSearch.IMPOSSIBLE,
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
        NotNegative,
        Doc("strength of weight decay"),
        Resume.STEERS,
        Typed.AS_OPTION,
        ConvexSearch.OTHER_LOSS,
    ] = 0.0
    optimizer_options: Annotated[
        dict[str, Any],
        Doc("more settings of the optimizer: betas, momentum, eps ..."),
        Resume.STEERS,
        ConvexSearch.IMPOSSIBLE,
    ] = field(default_factory=dict)
    kernel: Annotated[
        Kernel,
        Doc("torch's fused or foreach optimizer step"),
        Resume.STEERS,
        ConvexSearch.IMPOSSIBLE,
    ] = "auto"
    schedule: Annotated[
        str, OneOf(SCHEDULES), Doc("learning-rate schedule"), Resume.STEERS, ConvexSearch.IMPOSSIBLE
    ] = "constant"
    schedule_options: Annotated[
        dict[str, Any],
        Doc("more settings of the schedule: every, factor, patience ..."),
        Resume.STEERS,
        ConvexSearch.IMPOSSIBLE,
    ] = field(default_factory=dict)
    warmup: Annotated[
        Count,
        Doc("steps of linear warm-up, from near 0 to the learning rate"),
        Resume.STEERS,
        ConvexSearch.IMPOSSIBLE,
    ] = 0
    clip_norm: Annotated[
        Positive | None, Doc("clip the gradient to this norm"), ConvexSearch.IMPOSSIBLE
    ] = None
    clip_value: Annotated[
        Positive | None,
        Doc("clip each entry of the gradient to this absolute value"),
        ConvexSearch.IMPOSSIBLE,
    ] = None
    average: Annotated[
        Averaging,
        Doc("average the weights: exponential moving average, or plain mean over the last quarter"),
        ConvexSearch.OTHER_LOSS,
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
        ConvexSearch.OTHER_LOSS,
    ] = ""
    unfreeze_every: Annotated[
        Size | None,
        Doc("unfreeze one more part, from the last to the first, every so many epochs"),
        Resume.REGROUPS,
        Typed.AS_OPTION,
        ConvexSearch.IMPOSSIBLE,
    ] = None
    layer_decay: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc(
            "each part's learning rate as a fraction of that of the next part; default: the same "
            "for all"
        ),
        Resume.REGROUPS,
        Typed.AS_OPTION,
        ConvexSearch.IMPOSSIBLE,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Objective(Config):
    """What is made small."""

    loss: Annotated[
        str | None,
        OneOf(LOSSES),
        Doc("the loss to minimise; default: the usual one for the target"),
    ] = None
    loss_options: Annotated[
        dict[str, Any],
        Doc("more settings of the loss: delta of huber, gamma of focal ..."),
        Resume.IF_GIVEN,  # checkpoints of before have none
    ] = field(default_factory=dict)
    label_smoothing: Annotated[Fraction, Doc("probability mass taken from the true class")] = 0.0
    smooth_over: Annotated[
        SmoothOver, Doc("classes that receive that mass: all (as in torch), or only the others")
    ] = "all"
    aux_weight: Annotated[NotNegative, Doc("weight of an auxiliary head's loss")] = 0.3
    class_weight: Annotated[
        str | dict[str | int, Any] | None,
        Doc(
            "'balanced' gives every class the same total weight; or a weight by class name, 1 for "
            "those left out: {spam: 5}"
        ),
        Heeded.BY_ANY_RULE,
    ] = None
    target_transform: Annotated[
        TransformKind | None,
        Doc(
            "learn reals with long tails through a curve: log (above 0), log1p (from 0 on), asinh "
            "or quantile (normal scores); predictions and metrics stay in the units of the target; "
            "default: as they are"
        ),
        Resume.IF_GIVEN,  # checkpoints of before have none
    ] = None
    threshold: Annotated[
        str | None,
        Doc(
            "for two classes, choose on the validation rows above which probability the second is "
            "predicted: f1, f2 ... for the best F-beta, or cost=10 where a missed one costs 10 "
            "times a false alarm; default: 0.5"
        ),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
    ] = None
    calibrate: Annotated[
        Literal["temperature", "isotonic"] | None,
        Doc(
            "for classes, find on the validation rows what makes probabilities honest, and keep "
            "it: temperature, one number; isotonic, a rising curve for each class, from about a "
            "thousand rows on; `loss` stays that of training; default: as the model gives them"
        ),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Regularization(Config):
    """What keeps the weights small and the data varied."""

    l1: Annotated[
        NotNegative,
        Doc("L1 penalty, lambda |w|: small weights become exactly 0"),
        ConvexSearch.OTHER_LOSS,
    ] = 0.0
    l2: Annotated[NotNegative, Doc("L2 penalty, lambda / 2 w^2, added to the loss")] = 0.0
    penalize: Annotated[
        Penalized,
        Doc("parameters that weight_decay, l1 and l2 act on: all, or only matrices and kernels"),
        Resume.REGROUPS,
    ] = "all"
    input_noise: Annotated[
        NotNegative, Doc("standard deviation of noise on inputs"), ConvexSearch.OTHER_LOSS
    ] = 0.0
    label_noise: Annotated[
        Fraction,
        Doc("fraction of labels replaced by another class, redrawn for every batch"),
        ConvexSearch.OTHER_LOSS,
    ] = 0.0
    weight_noise: Annotated[
        NotNegative, Doc("standard deviation of noise on weights"), ConvexSearch.OTHER_LOSS
    ] = 0.0
    gradient_noise: Annotated[
        NotNegative, Doc("standard deviation of noise on gradients"), ConvexSearch.OTHER_LOSS
    ] = 0.0
    output_noise: Annotated[
        NotNegative, Doc("standard deviation of noise on outputs"), ConvexSearch.OTHER_LOSS
    ] = 0.0
    augment: Annotated[
        tuple[str, ...],
        Doc("random image augmentations: flip, crop=4, mixup=0.2 ..."),
        ConvexSearch.OTHER_LOSS,
    ] = ()


@dataclass(frozen=True, kw_only=True)
class SequenceTraining(Config):
    """What only models of sequences heed."""

    by_length: Annotated[
        bool,
        Doc("batches of pairs of texts of about one length, cut to it: less padding"),
        Resume.IF_GIVEN,
    ] = False
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
