"""A model as a graph, by `torch.export`: any number of rows, and for tokens any length it can take.

Some models have no such graph, because what they compute depends on the numbers that they get:
`UNTRACEABLE` says why.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram

from netwright.core.errors import ConfigError
from netwright.recipes.exchange.export_format import ExportSource

UNTRACEABLE: Mapping[str, str] = {
    "hopfield": "it updates its units until none changes any more",
    "dense-memory": "it updates its units until none changes any more",
    "modern-hopfield": "it reads its patterns in blocks whose size depends on the number of rows",
    "kernel-regression": "it compares rows with its examples in blocks of as many as fit in memory",
    "ngram": "it looks up as many n-grams as follow what it has read",
}
NOISY = ("torch.onnx", "torch.export", "torch.fx", "onnxscript", "onnx_ir")


def check_traceable(source: ExportSource, to: str) -> None:
    """Refuse a model that has no graph."""
    if source.spec.inputs == "parts":
        raise ConfigError(
            f"a model of several inputs cannot be exported to {to} yet; export it to state-dict"
        )
    name = source.section["name"]
    if name in UNTRACEABLE:
        raise ConfigError(
            f"{name} cannot be exported to {to}: {UNTRACEABLE[name]}, which a graph cannot do; "
            "export it to state-dict"
        )


def example_rows(source: ExportSource) -> Tensor:
    """Inputs to trace with: two rows, for one would be taken for a constant."""
    row: Tensor = source.predictor.raw(source.rows[:1])
    return row.repeat_interleave(2, dim=0)


def dynamic_shape(source: ExportSource) -> dict[int, Dim]:
    """Which dimensions of the inputs may vary: the batch, and the length of a text.

    A recurrence is written out step by step, and so of one length.
    """
    if source.spec.inputs == "tokens":
        return {0: Dim("batch"), 1: Dim.AUTO}
    return {0: Dim("batch")}


def trace(source: ExportSource, to: str) -> ExportedProgram:
    """The graph of the predictor."""
    check_traceable(source, to)
    with quietly(), torch.no_grad(), _one_sentence(source, to):
        return torch.export.export(
            source.predictor,
            (example_rows(source),),
            dynamic_shapes=(dynamic_shape(source),),
        )


@contextmanager
def quietly() -> Iterator[None]:
    """Torch's exporters tell their own developers much that is nothing to a user."""
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _one_sentence(source: ExportSource, to: str) -> Iterator[None]:
    """Whatever a tracer stumbles over, as a refusal."""
    try:
        yield
    except Exception as error:
        name = source.section["name"] or type(source.model).__name__
        reason = " ".join(str(error).split(". ")[0].split())
        raise ConfigError(
            f"{name} cannot be exported to {to}, for torch cannot trace it: {reason:.200}; export "
            "it to state-dict"
        ) from error
