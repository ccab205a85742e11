"""Keras 3 on torch: `Model.fit` on arrays in memory, with Keras's own Adam.

Its Adam for torch works on lists of tensors as torch's foreach kernel does; it has no fused one.
"""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
from contest import Problem, Turn
from torch import nn


def fastest(problem: Problem) -> Turn:
    """No progress bar."""
    return _turn(problem, verbose=0)


def defaults(problem: Problem) -> Turn:
    """The progress bar on."""
    return _turn(problem, verbose="auto")


def _turn(problem: Problem, *, verbose: int | str) -> Turn:
    model = keras.Sequential(
        [
            keras.layers.Input((784,)),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    first = [layer for layer in problem.network() if isinstance(layer, nn.Linear)]
    model.set_weights(
        [array.detach().numpy() for layer in first for array in (layer.weight.T, layer.bias)]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(problem.lr, epsilon=1e-8),  # torch's epsilon
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,  # torch.compile takes seconds and is slower on small CPU networks
    )
    inputs, labels = problem.inputs.numpy(), problem.labels.numpy()

    def train() -> None:
        model.fit(
            inputs, labels, batch_size=problem.batch_size, epochs=problem.epochs, verbose=verbose
        )

    return Turn(train, model)
