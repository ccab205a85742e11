"""What a run on batches of the caller's own loader asks of its model: before anything is trained.

Shapes: B rows, C classes.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.core.learner import Learner
from netwright.core.outputs import Output, logits_of
from netwright.core.seeding import seeded
from netwright.core.trees import move
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.data.targets import PER_TOKEN
from netwright.data.tree_encoder import TreeEncoder
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.plan.recipe import Recipe

ROWS = 2


def fit_to_module(data: Data, module: nn.Module, recipe: Recipe) -> Data:
    """The data with as many classes as the user's own module has outputs; else as it is.

    The first batches need not have every class, texts need not have every token, and a module says
    how many there are. A model that learns from all rows at once is refused.
    """
    encoder, known = data.preprocessor, data.spec.num_outputs
    is_loader = isinstance(data.train, SourceSplit)
    if is_loader and isinstance(module, Learner | Ensemble):
        name = recipe.model or type(module).__name__
        raise ConfigError(
            f"{name} learns from all rows at once, a DataLoader gives batches: give its Dataset, "
            f"or arrays"
        )
    growing = {"class", *PER_TOKEN} if is_loader else PER_TOKEN
    if recipe.model or not isinstance(encoder, TreeEncoder) or encoder.target not in growing:
        return data
    outputs = _count_outputs(data, module)
    if outputs <= known:
        return data
    more = map(str, range(known, outputs)) if data.spec.class_names else ()
    names = (*data.spec.class_names, *more)
    parts = {
        name: split.changed(outputs=outputs) if isinstance(split, SourceSplit) else split
        for name, split in data.splits()
    }
    return replace(
        data,
        spec=replace(data.spec, num_outputs=outputs, class_names=names),
        train=parts["train"],
        val=parts.get("val"),
        test=parts.get("test"),
        preprocessor=replace(encoder, num_outputs=outputs, class_names=names),
    )


def _count_outputs(data: Data, module: nn.Module) -> int:
    """The outputs of a module for one example; 0 where the first batch is to tell what is wrong."""
    train = data.train
    rows = torch.arange(min(ROWS, len(train)), device=train.targets.device)
    try:
        with evaluating(module), seeded(0):
            output = module(move(train.read(rows), device_of(module)))
    except Exception:
        return 0
    if not isinstance(output, Tensor | Output):
        return 0
    logits = logits_of(output)
    places = 1 if data.spec.target in PER_TOKEN else 0  # between examples and outputs
    return logits.shape[-1] if logits.ndim == 2 + places else 0
