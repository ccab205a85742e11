"""What a format of export is: how a run is written in it, and how what was written is read back."""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.files.storage import Staging
from netwright.core.trees import Tree
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.recipes.exchange.predictor import Predictor

Reopened = Callable[[Tree], Tensor]  # encoded inputs -> predictions


@dataclass(frozen=True, kw_only=True)
class ExportSource:
    """What is exported.

    Args:
        predictor: the model with what stands before and after it, on the CPU and at rest.
        preprocessor: encodes new inputs.
        section: the model's name and settings, as in `config.yaml`.
        rows: encoded inputs of the run's data (N, ...), on which the export is compared.
    """

    predictor: Predictor
    preprocessor: Preprocessor
    section: dict[str, Any]
    rows: Tree

    @property
    def model(self) -> nn.Module:
        """The trained model."""
        return self.predictor.model

    @property
    def spec(self) -> DataSpec:
        """Of the run's data."""
        return self.predictor.spec


class ExportFormat(ABC):
    """The abstract kind: a subclass says what it writes and how it is read back."""

    sentence: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()  # that are optional, by the names they are imported by

    def check(self, source: ExportSource) -> None:  # noqa: B027 - most formats take any model
        """Refuse a run that this format has no place for, before anything is written."""

    @abstractmethod
    def write(self, source: ExportSource, staging: Staging) -> None:
        """Write the files of this format."""

    @abstractmethod
    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """What the files in a folder predict, read as their users read them.

        Args:
            source: says how the model is built and how inputs are given, never its weights.
            folder: where `write` wrote.
        """


def check_packages(name: str, form: ExportFormat) -> None:
    """Refuse a format whose packages are not installed."""
    missing = [package for package in form.packages if importlib.util.find_spec(package) is None]
    if missing:
        raise ConfigError(
            f"export to {name} needs {' and '.join(missing)}: pip install 'netwright[export]'"
        )
