"""What a model of ours becomes in `transformers`: its files, and what it says of the same rows."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from netwright.core.errors import RunError
from netwright.core.files.storage import as_json
from netwright.data.text.tokenizer import UNK, Tokenizer
from netwright.models.model import Model
from netwright.recipes.exchange.export_format import ExportSource


class Architecture(ABC):
    """One architecture of `transformers`, and the family of models here that it is."""

    family: ClassVar[type[Model]]
    title: ClassVar[str]  # "GPT-2", as in "a GPT as a GPT-2"

    @abstractmethod
    def differs(self, source: ExportSource) -> str:
        """Why there is no place for this run there, in a few words; empty where there is."""

    @abstractmethod
    def config(self, source: ExportSource) -> dict[str, Any]:
        """The content of config.json."""

    @abstractmethod
    def weights(self, source: ExportSource) -> dict[str, Tensor]:
        """The weights by their names there."""

    @abstractmethod
    def others(self, source: ExportSource) -> Mapping[str, bytes]:
        """What else there is: a tokenizer, how images are scaled, how texts are generated."""

    @abstractmethod
    def kind(self, source: ExportSource) -> str:
        """The class of `transformers` by which the folder is opened."""

    @abstractmethod
    def outputs(self, theirs: Any, source: ExportSource, rows: Tensor) -> Tensor:
        """What their model gives of encoded rows, in the shape of our model's outputs."""

    @abstractmethod
    def check_inputs(self, transformers: Any, source: ExportSource, folder: Path) -> None:
        """Refuse a tokenizer, or a scaling of images, that reads otherwise than the run."""


def tokenizer_files(content: str, config: Mapping[str, Any]) -> dict[str, bytes]:
    """The two files of a tokenizer."""
    return {"tokenizer.json": content.encode(), "tokenizer_config.json": as_json(config)}


def check_tokenizer(
    transformers: Any,
    folder: Path,
    tokenizer: Tokenizer,
    rows: Tensor,
    around: tuple[list[int], list[int]] = ([], []),
) -> None:
    """Refuse a tokenizer in a folder that reads the texts of rows otherwise than ours.

    Args:
        transformers: the package.
        folder: what was written.
        tokenizer: ours.
        rows: tokens (N, T).
        around: what it is to put before and behind a text where it adds special tokens.
    """
    read = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    before, behind = around
    for row in rows.tolist():
        known = [token for token in row if token != UNK and token < tokenizer.size]
        text = tokenizer.decode(known)
        tokens = tokenizer.encode(text)
        for wanted, got in (
            (tokens, read(text, add_special_tokens=False)["input_ids"]),
            ([*before, *tokens, *behind], read(text)["input_ids"]),
        ):
            if wanted != got:
                raise RunError(
                    f"exported to hf, the tokenizer differs from the run: {text[:40]!r} is "
                    f"{wanted[:8]} there and {got[:8]} here; nothing was written"
                )
