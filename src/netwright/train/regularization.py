"""The regularizers that a training config asks for, as callbacks of the trainer and as an average.

A batch first gets its noisy labels, then is augmented, then gets noise on its inputs. What changes
batches or weights comes before all other callbacks, so that these see the outcome and save it; what
changes gradients comes after them, so that a guard has seen the gradients as they were. What does
not learn at all is settled first of all.
"""

from functools import partial
from typing import NamedTuple

from torch import nn

from netwright.core.devices import pick_device
from netwright.core.errors import ConfigError
from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.spec import DataSpec
from netwright.data.text.pretraining.masking import mask_again
from netwright.data.text.pretraining.span_corruption import corrupt_again
from netwright.train.callback import Callback
from netwright.train.callbacks.average_weights import AverageWeights
from netwright.train.callbacks.batches.augment_batches import AugmentBatches
from netwright.train.callbacks.batches.input_noise import InputNoise
from netwright.train.callbacks.batches.label_noise import LabelNoise
from netwright.train.callbacks.batches.mask_batches import MaskBatches
from netwright.train.callbacks.clip_gradients import ClipGradients
from netwright.train.callbacks.freeze_parts import FreezeParts
from netwright.train.callbacks.gradient_noise import GradientNoise
from netwright.train.callbacks.proximal_l1 import ProximalL1
from netwright.train.callbacks.scheduled_sampling import ScheduledSampling
from netwright.train.callbacks.weight_noise import WeightNoise
from netwright.train.engines.engine import Engine
from netwright.train.memory_format import is_channels_last
from netwright.train.settings import TrainConfig
from netwright.train.weight_average import WeightAverage


class Regularizers(NamedTuple):
    """The callbacks before the user's own, and those after."""

    first: list[Callback]
    last: list[Callback]


def regularizing_callbacks(
    config: TrainConfig, seed: int, spec: DataSpec, model: nn.Module
) -> Regularizers:
    """What the config asks for; data or a model of another kind than it is for is refused.

    Args:
        config: how to train.
        seed: of the run; every noise is a stream of its own.
        spec: what inputs and targets are.
        model: what learns.
    """
    _check_one_step(config)
    first = [*_freezing(config, model), *_batch_callbacks(config, seed, spec)]
    last: list[Callback] = []
    if config.forcing != (1, 1):
        first.append(ScheduledSampling(model, *config.forcing, config.teacher_forcing_decay))
    if config.weight_noise:
        first.append(WeightNoise(config.weight_noise, seed=seed))
    if config.l1:
        first.append(ProximalL1(config.l1, penalize=config.penalize))
    if config.average != "none":
        first.append(AverageWeights())
    if config.clip_norm is not None or config.clip_value is not None:
        last.append(ClipGradients(norm=config.clip_norm, value=config.clip_value))
    if config.gradient_noise:
        last.append(GradientNoise(config.gradient_noise, seed=seed))  # unclipped, or it is no noise
    return Regularizers(first, last)


def _check_one_step(config: TrainConfig) -> None:
    """Refuse parts that learn differently where one step is found for all weights."""
    given = {"freeze": bool(config.freeze), "layer_decay": config.layer_decay is not None}
    for name, is_given in given.items():
        if is_given and config.rule.closure:
            raise ConfigError(
                f"{name} is not supported with {config.optimizer}: it updates all weights together"
            )


def _freezing(config: TrainConfig, model: nn.Module) -> list[Callback]:
    """What keeps parts of the model from learning."""
    if not config.freeze:
        if config.unfreeze_every is not None:
            raise ConfigError("unfreeze_every needs freeze: no part is frozen")
        return []
    if config.compile and config.unfreeze_every is not None:
        raise ConfigError(
            "unfreeze_every is not supported with compile: each change would need a recompilation"
        )
    return [FreezeParts(model, config.freeze, every=config.unfreeze_every)]


def _batch_callbacks(config: TrainConfig, seed: int, spec: DataSpec) -> list[Callback]:
    """What changes batches, in order."""
    callbacks: list[Callback] = []
    if spec.inputs == "masked":
        callbacks.append(MaskBatches(partial(mask_again, mask=spec.vocab_size - 1), seed))
    if spec.sentinels:
        again = partial(corrupt_again, sentinels=spec.sentinels, vocab_size=spec.vocab_size)
        callbacks.append(MaskBatches(again, seed))
    if config.label_noise:
        callbacks.append(LabelNoise(config.label_noise, spec, seed=seed))
    if config.augment:
        pipeline = parse_augmentations(config.augment, spec)
        device = pick_device(config.device)
        layout = is_channels_last(config.channels_last, config.precision, device)
        callbacks.append(AugmentBatches(pipeline, seed, channels_last=layout))
    if config.input_noise:
        callbacks.append(InputNoise(config.input_noise, spec, seed=seed))
    return callbacks


def build_average(
    config: TrainConfig, model: nn.Module, *, updates: int, engine: Engine | None = None
) -> WeightAverage | None:
    """The average that the config asks for, if any, for a run of so many updates."""
    if config.average == "none":
        return None
    if config.average == "exponential":
        return WeightAverage(model, decay=config.average_decay, engine=engine)
    start = updates - (updates + 3) // 4
    return WeightAverage(model, decay=None, start=start, engine=engine)
