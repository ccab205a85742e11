"""`model.onnx`: the graph and its weights for onnxruntime, and all else that reads ONNX.

    session = onnxruntime.InferenceSession("model.onnx")
    (predictions,) = session.run(None, {"inputs": rows})

Source: the Open Neural Network Exchange format, https://onnx.ai.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.files.storage import Staging, read_bytes
from netwright.core.trees import Tree
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.tracing import check_traceable, quietly, trace

FILE, NAME, INPUTS = "model.onnx", "onnx", "inputs"
MOST_BYTES = 2**31 - 1  # of one message of protocol buffers
# What ONNX, or torch's translation to it, has not, by the model that needs it.
LACKING: Mapping[str, str] = {
    "lru": "the complex numbers of its state",
    "svm": "the distances between rows of its kernel",
}


class OnnxGraph(ExportFormat):
    """An ONNX graph with raw rows in and predictions out."""

    sentence: ClassVar[str] = "an ONNX graph, for onnxruntime and other languages"
    packages: ClassVar[tuple[str, ...]] = ("onnx", "onnxscript", "onnxruntime")

    def check(self, source: ExportSource) -> None:
        """Refuse a model that has no graph, or more weights than a file holds."""
        check_traceable(source, NAME)
        size = sum(weight.nbytes for weight in source.model.state_dict().values())
        if size > MOST_BYTES:
            raise ConfigError(
                f"an ONNX file holds at most 2 GiB, this model has {size / 2**30:.1f} GiB of "
                "weights; export it to torch-export"
            )

    def write(self, source: ExportSource, staging: Staging) -> None:
        """The traced program, translated to ONNX's operations."""
        program = trace(source, NAME)
        try:
            with quietly():
                translated = torch.onnx.export(
                    program,
                    dynamo=True,
                    verbose=False,
                    input_names=[INPUTS],
                    output_names=[source.predictor.output_name],
                )
        except torch.onnx.errors.OnnxExporterError as error:
            name = source.section["name"] or type(source.model).__name__
            lacks = LACKING.get(name, "an operation that it uses")
            raise ConfigError(
                f"{name} cannot be exported to onnx, which has not {lacks}; export it to "
                "torch-export"
            ) from error
        # None only of torch's older exporter
        model = cast(torch.onnx.ONNXProgram, translated).model_proto
        _fix_lengths(model)
        staging.write(FILE, model.SerializeToString())

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """What onnxruntime makes of the file, on the CPU."""
        import onnxruntime  # noqa: PLC0415 - optional

        session = onnxruntime.InferenceSession(
            read_bytes(folder / FILE), providers=["CPUExecutionProvider"]
        )

        def predicted(rows: Tree) -> Tensor:
            (predictions,) = session.run(None, {INPUTS: source.predictor.raw(rows).numpy()})
            return torch.from_numpy(predictions)

        return predicted


def _fix_lengths(model: Any) -> None:
    """Declare a length that is always the same as a number, where torch writes it as a name.

    So a runtime refuses texts of another length, which the outputs would not be declared for.
    """
    for value in (*model.graph.input, *model.graph.output):
        for size in value.type.tensor_type.shape.dim:
            if size.dim_param.isdigit():
                size.dim_value = int(size.dim_param)
