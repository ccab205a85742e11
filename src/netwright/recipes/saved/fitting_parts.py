"""Whether the parts of a saved model, each of them whole by itself, are of one model.

A model says as many numbers as its spec has classes, and reads inputs of the shape that the
preprocessor gives; a file of somebody else may say otherwise.
"""

from torch import Tensor

from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.task import Task

SHARED = ("input_shape", "num_outputs")  # by the spec and by the preprocessor


def check_fitting(spec: DataSpec, preprocessor: Preprocessor, task: Task, guess: Tensor) -> None:
    """Refuse parts that do not fit each other; a ValueError says which."""
    names = getattr(preprocessor, "feature_names", None)
    if names is not None and spec.input_shape[-1:] != (len(names),):
        raise ValueError(f"rows of {len(names)} numbers for inputs {spec.input_shape}")
    own = getattr(preprocessor, "spec", preprocessor)
    for name in SHARED:
        given, wanted = getattr(own, name, None), getattr(spec, name)
        if given is not None and given != wanted:
            raise ValueError(f"{name} {given!s:.40} in preprocessor.json, not {wanted!s:.40}")
    for part in (spec, own):  # the names themselves may differ: a user may call classes otherwise
        classes = getattr(part, "class_names", ())
        if classes and len(classes) != spec.num_outputs:
            raise ValueError(f"{len(classes)} class names for {spec.num_outputs} outputs")
    if isinstance(task, Regression) and not len(task.center) == len(task.scale) == spec.num_outputs:
        raise ValueError(f"a task of {len(task.center)} reals for {spec.num_outputs} outputs")
    if not guess.ndim:
        raise ValueError("a baseline that is not a list")
    size = spec.output_shape[1] if spec.target == "boxes" else spec.num_outputs
    if guess.shape != (size,):
        raise ValueError(f"a baseline of shape {tuple(guess.shape)}, not ({size},)")
