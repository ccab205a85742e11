"""What may be wrong with a model before it learns: a batch it cannot learn, a start far off."""

import torch

from netwright.core.adapted_module import module_name
from netwright.core.devices import device_of
from netwright.core.learner import Learner
from netwright.core.trees import count_numbers, move
from netwright.data.checkup.examination import Examination, examined
from netwright.data.checkup.wording import counted
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.doctor.initial_variance import find_initial_variance
from netwright.recipes.doctor.overfit_one_batch import overfit_one_batch
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.squashed_outputs import find_squashed_outputs

MOST_ROWS = 64  # whose differences are followed through the layers
MOST_NUMBERS = 2**18  # of these rows together: large images are few


def look_at_model(prepared: Prepared) -> Examination:
    """Try one batch, and follow the differences between rows through the layers."""
    model, train = prepared.model, prepared.data.train
    if isinstance(model, Learner | Ensemble):
        name = prepared.recipe.model or module_name(model)
        return Examination(not_looked_at=(f"{name}: it has its own learning rule",))
    if prepared.own.training_step is not None:
        return Examination(not_looked_at=(f"{module_name(model)}: your training_step calls it",))
    one = train.read(torch.zeros(1, dtype=torch.int64, device=train.targets.device))
    most = max(2, min(MOST_ROWS, MOST_NUMBERS // max(count_numbers(one), 1)))
    rows = torch.arange(min(most, len(train)), device=train.targets.device)
    inputs = move(train.read(rows), device_of(model))
    seen = examined(
        "how differences between rows propagate through the layers at initialisation",
        find_initial_variance(model, inputs),
    )
    seen += examined("what the outputs end in", find_squashed_outputs(model, inputs, prepared.task))
    tried = overfit_one_batch(prepared)
    what = f"whether {counted(tried.rows, 'row')} can be memorised"
    return seen + examined(what, tried.answer())
