"""The settings of a run around its learning, in groups: when it stops, what it keeps, where it is.

Marks on a field say who depends on it.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from netwright.core.config import Config, Count, Doc, NotNegative, OneOf, Positive, Size
from netwright.train.engines.catalog import Parallel
from netwright.train.precision import Precision
from netwright.train.setting_marks import ConvexSearch, Heeded, Resume, Typed
from netwright.train.trackers.catalog import TRACKERS

Capture = Literal["auto", "on", "off"]
OneDnn = Literal["auto", "on", "off"]
Policy = Literal["stop", "skip", "roll-back"]


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
        ConvexSearch.IMPOSSIBLE,
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
    track: Annotated[
        tuple[str, ...],
        OneOf(TRACKERS),
        Doc("also write the run for tensorboard, wandb (offline) or mlflow, inside its folder"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
        Typed.AS_OPTION,
    ] = ()
    doctor: Annotated[
        bool,
        Doc("monitor some steps for dead units, a learning rate too high or low, overfitting ..."),
        Resume.FREE,
        Heeded.BY_ANY_RULE,  # what ails its data is told, too
    ] = True
    profile: Annotated[
        bool,
        Doc(
            "profile some updates, for a section of the report: time by part and operation, "
            "samples/s or tokens/s, model FLOP utilisation, memory by kind"
        ),
        Resume.FREE,
        Typed.AS_OPTION,
    ] = False


@dataclass(frozen=True, kw_only=True)
class Hardware(Config):
    """Where and in which numbers it computes."""

    precision: Annotated[
        Precision, Doc("number format of matrix products"), Typed.AS_OPTION, ConvexSearch.IMPOSSIBLE
    ] = "fp32"
    compile: Annotated[
        bool,
        Doc(
            "torch.compile the forward pass: takes up to a minute before the first step, which is "
            "not counted as training time; dropout then draws other random numbers"
        ),
    ] = False
    activation_checkpointing: Annotated[
        bool,
        Doc(
            "recompute the activations of the blocks of each stack whose blocks are all alike, as "
            "a GPT's are, in the backward pass instead of keeping them: less memory, about a third "
            "more time"
        ),
        Resume.FREE,
    ] = False
    capture: Annotated[
        Capture,
        Doc(
            "capture an update as a CUDA graph, which starts all its kernels at once; auto: where "
            "starting them takes longer than running them"
        ),
        Resume.FREE,
    ] = "auto"
    onednn: Annotated[
        OneDnn,
        Doc(
            "oneDNN on a CPU: on (as torch has it) or off; auto: off for networks of small dense "
            "layers where it was measured to be slow, which is remembered in the cache folder"
        ),
        Resume.FREE,
    ] = "auto"
    channels_last: Annotated[
        bool | None,
        Doc("channels-last memory format; default: on CUDA in mixed precision"),
    ] = None
    parallel: Annotated[
        Parallel,
        Doc(
            "how several processes hold the model: replicate (each holds all of it; gradients "
            "are added in one fixed order, so that a resumed run has the same bits, which "
            "DistributedDataParallel does not promise) or shard (each holds a part of every "
            "weight, gradient and moment, by FSDP2); auto: shard where a replica would take more "
            "than half of a GPU's memory"
        ),
        Resume.FREE,
    ] = "auto"
    offload: Annotated[
        bool,
        Doc(
            "with parallel=shard on CUDA, keep weights, gradients and moments in the host's "
            "memory, where the optimizer then steps: for models that do not fit on the GPUs; "
            "slower"
        ),
        Resume.FREE,
    ] = False
    rank_timeout: Annotated[
        Positive,
        Doc("seconds of silence after which a process counts as lost and the run ends"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,
    ] = 600.0
    workers: Annotated[
        Count,
        Doc("worker processes that load data which is not held in memory"),
        Resume.FREE,
        Heeded.BY_ANY_RULE,  # they also load what is measured
    ] = 0
    device: Annotated[
        str, Doc("auto, cpu, cuda, cuda:N or mps"), Resume.FREE, Heeded.BY_ANY_RULE, Typed.AS_OPTION
    ] = "auto"
