"""The forward pass of an update, as the settings ask for it."""

from torch import nn

from netwright.train.settings import TrainConfig
from netwright.train.tasks.forward_pass import Forward, forward_for
from netwright.train.tasks.task import Task
from netwright.train.updates.compiled_forward import compiled, compiled_blocks
from netwright.train.updates.recomputed_blocks import recomputed


def training_forward(model: nn.Module, task: Task, config: TrainConfig) -> Forward:
    """What is called with the inputs of a batch and gives what the loss takes."""
    # Noise is added to logits as a whole, and second derivatives are of them.
    is_whole = config.output_noise > 0 or config.rule.closure
    forward = model if is_whole else forward_for(model, task)
    if not config.activation_checkpointing:
        return compiled(model, forward) if config.compile else forward
    forward = recomputed(forward, model)
    # Only blocks: a compiler cannot trace how the way in which they run is changed.
    return compiled_blocks(model, forward) if config.compile else forward
