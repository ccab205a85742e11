"""A run that is looked at: what several views need of it is worked out once and shared.

Shapes: N examples of the split that the results tell of, B examples of a batch.
"""

from collections.abc import Callable, Mapping
from functools import cached_property

import torch
from torch import Tensor

from netwright.core.adapted_module import module_name
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.trees import Tree, flat_rows, move
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.loading.stored import Sample, evenly_spaced
from netwright.inspection.drawing.view import View
from netwright.models.model import Model
from netwright.recipes.saved.run_record import RunRecord
from netwright.train.evaluate import predict

Found = tuple[Sample | None, str]  # a sample of the data, or why there is none


class Subject:
    """A run that is looked at, with a sample of its data where that is at hand.

    Args:
        run: what is looked at; nothing of it is changed.
        sample: of its data, or None; or what finds it and `absent` once a view reads data.
        absent: why there is none, in one sentence.
        own: an encoded input (1, ...) that is looked at in the place of an example, or None.
    """

    def __init__(
        self,
        run: RunRecord,
        sample: Sample | Callable[[], Found] | None,
        absent: str = "",
        *,
        own: Tree = None,
    ) -> None:
        self.run, self.own = run, own
        self._find = sample if callable(sample) else lambda: (sample, absent)

    @cached_property
    def _found(self) -> Found:
        return self._find()

    @property
    def sample(self) -> Sample | None:
        """The sample of its data, or None."""
        return self._found[0]

    @property
    def absent(self) -> str:
        """Why there is none, in one sentence."""
        return self._found[1]

    @property
    def name(self) -> str:
        """What its model is called: the catalog's name, or the class of a module of one's own."""
        return str(self.run.config["model"]["name"]) or module_name(self.run.model)

    @property
    def data(self) -> Sample:
        """The sample of its data; a run without its data is refused."""
        if self.sample is None:
            raise ConfigError(f"this view needs the run's data: {self.absent}")
        return self.sample

    @property
    def split(self) -> Split:
        """The examples that the results tell of."""
        return self.data.shown.split(self.run.results["split"])

    @property
    def rows(self) -> Tensor | None:
        """The places (N,) of these examples in the whole split; None where they are all of it."""
        return self.data.rows(self.run.results["split"])

    @cached_property
    def inputs(self) -> Tree:
        """Their encoded inputs (N, ...), on the CPU."""
        return move(self.split.inputs, torch.device("cpu"))

    @cached_property
    def targets(self) -> Tensor:
        """Their targets (N, ...), on the CPU."""
        return self.split.targets.cpu()

    @cached_property
    def predictions(self) -> Tensor:
        """What the model says of them (N, ...), on the CPU: probabilities or reals."""
        return self.predict(self.inputs)

    def predict(self, inputs: Tree) -> Tensor:
        """Encoded inputs -> probabilities or reals, on the CPU."""
        return predict(self.run.model, move(inputs, device_of(self.run.model)), self.run.task)

    @property
    def inputs_as_shown(self) -> Tensor:
        """Images in the units that they came in, so that colours are right; the rest as it is.

        Several inputs are shown as the numbers of all of them, side by side.
        """
        if self.run.spec.inputs != "image":
            return self.inputs if isinstance(self.inputs, Tensor) else flat_rows(self.inputs)
        images: Tensor = self.inputs
        offset, scale = self.run.preprocessor.units()
        return (images.flatten(1) * scale + offset).reshape(images.shape)

    @cached_property
    def own_views(self) -> Mapping[str, View]:
        """The views that only its model has, by name."""
        model = self.run.model
        if self.sample is None or not isinstance(model, Model):
            return {}
        return model.own_views(self.split.to(device_of(model)))

    def batch(self, rows: int, *, split: str = "") -> Batch:
        """Examples of a split, spread evenly since it may be sorted, on the model's device.

        Args:
            rows: how many, or as many as there are.
            split: train, val or test; by default the one that the results tell of.
        """
        examples = self.data.shown.split(split) if split else self.split
        return self._batch(examples, evenly_spaced(len(examples), rows))

    def example(self, place: int) -> Batch:
        """A batch of the one example at this place of the split."""
        if not 0 <= place < len(self.split):
            name = self.run.results["split"]
            raise ConfigError(
                f"example must be from 0 to {len(self.split) - 1}, the {name} rows, got {place}"
            )
        return self._batch(self.split, torch.tensor([place]))

    def input_at(self, place: int) -> Tree:
        """One's own input (1, ...), or that of the example at this place, on the model's device."""
        if self.own is not None:
            return move(self.own, device_of(self.run.model))
        return self.example(place).inputs

    def first_steps(self) -> Tensor:
        """One's own sequence, or the split's first (1, T, ...), without padding, as `input_at`."""
        inputs: Tensor = self.input_at(0)
        padding = self.run.spec.padding
        return inputs if padding is None else inputs[inputs != padding][None]

    def first_training_inputs(self, rows: int) -> Tree:
        """The inputs (B, ...) of so many first training examples, or of as many as there are."""
        train = self.data.shown.train
        return train.read(torch.arange(min(rows, len(train)), device=train.targets.device))

    def _batch(self, examples: Split, rows: Tensor) -> Batch:
        rows, device = rows.to(examples.targets.device), device_of(self.run.model)
        weights = None if examples.weights is None else examples.weights[rows].to(device)
        return Batch(
            inputs=move(examples.read(rows), device),
            targets=examples.targets[rows].to(device),
            weights=weights,
            rows=rows,
        )
