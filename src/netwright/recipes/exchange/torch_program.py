"""`model.pt2`: the graph and its weights, which `torch.export.load` runs without netwright.

program = torch.export.load("model.pt2")
predictions = program.module()(rows)
"""

import io
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.files.storage import Staging, read_bytes
from netwright.core.trees import Tree
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.tracing import check_traceable, quietly, trace

FILE, NAME = "model.pt2", "torch-export"


class TorchProgram(ExportFormat):
    """A program of `torch.export`."""

    sentence: ClassVar[str] = "a graph for torch.export.load, which needs torch alone"

    def check(self, source: ExportSource) -> None:
        """Refuse a model that has no graph."""
        check_traceable(source, NAME)

    def write(self, source: ExportSource, staging: Staging) -> None:
        """The traced program with its weights."""
        program, content = trace(source, NAME), io.BytesIO()
        with quietly():
            torch.export.save(program, content)
        staging.write(FILE, content.getvalue())

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """The program of the file, on raw rows."""
        with quietly():
            run = torch.export.load(io.BytesIO(read_bytes(folder / FILE))).module()

        def predicted(rows: Tree) -> Tensor:
            with torch.no_grad():
                predictions: Tensor = run(source.predictor.raw(rows))
            return predictions

        return predicted
