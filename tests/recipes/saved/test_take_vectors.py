"""Vectors of a file as the first ones of a model: where they go, and what does not fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.spec import DataSpec
from netwright.data.words.vector_files import save_vectors
from netwright.data.words.word_vectors import WordVectors
from netwright.models.model import Model
from netwright.recipes.saved.take_vectors import take_vectors
from tests.repetition import for_each

VECTORS = WordVectors(
    words=("good", "bad", "never-seen"),
    vectors=np.array([[9, 0, 9, 0], [0, 9, 0, 9], [1, 1, 1, 1]], dtype=np.float32),
)
SETTINGS: dict[str, dict[str, Any]] = {
    "text-cnn": {"embedding": 4, "maps": 2},
    "bag-of-vectors": {"embedding": 4},
    "time-delay": {"embedding": 4},
    "lstm": {"embedding": 4, "hidden": 3},
    "gpt": {"width": 4, "heads": 1, "layers": 1},
    "bert": {"width": 4, "heads": 1, "layers": 1},
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    save_vectors(tmp_path / "vectors.txt", VECTORS)
    rows = "".join(f"a good film\t1\nno a bad film {n % 3}\t0\n" for n in range(20))
    (tmp_path / "rows.tsv").write_text(f"text\tlabel\n{rows}")
    return tmp_path


def learned(place: Path, name: str, **settings: Any) -> nw.Run:
    return nw.fit(
        name, str(place / "rows.tsv"), text="text", target="label", epochs=1, batch_size=16,
        quiet=True, **{"save": False, "embeddings": str(place / "vectors.txt"), **settings},
    )  # fmt: skip


def row_of(run: nw.Run, word: str) -> torch.Tensor:
    assert isinstance(run.model, Model)
    table = run.model.word_table()
    assert table is not None
    return table[run.preprocessor.tokenizer.tokens.index(word)].detach()  # type: ignore[attr-defined]


@for_each("name", SETTINGS)
def test_a_model_of_words_starts_from_the_vectors_of_a_file(place: Path, name: str) -> None:
    run = learned(place, name, lr=1e-12, **SETTINGS[name])
    torch.testing.assert_close(row_of(run, "good"), torch.tensor([9.0, 0, 9, 0]), rtol=0, atol=1e-4)
    torch.testing.assert_close(row_of(run, "bad"), torch.tensor([0.0, 9, 0, 9]), rtol=0, atol=1e-4)


def test_other_words_keep_what_was_drawn_on_the_scale_of_the_file(place: Path) -> None:
    settings = {"embedding": 4, "lr": 1e-12}
    with_file = row_of(learned(place, "bag-of-vectors", **settings), "film")
    drawn = row_of(learned(place, "bag-of-vectors", embeddings="", **settings), "film")
    ratio = with_file / drawn
    torch.testing.assert_close(ratio, ratio[:1].expand(4), rtol=1e-3, atol=0)
    assert ratio[0] > 10  # the file's numbers have a spread of 4.5, what is drawn one of 0.14


def test_they_learn_or_are_frozen(place: Path) -> None:
    still = torch.tensor([9.0, 0, 9, 0])
    moved = learned(place, "text-cnn", lr=0.1, **SETTINGS["text-cnn"])
    assert not torch.equal(row_of(moved, "good"), still)
    frozen = learned(place, "text-cnn", lr=0.1, freeze="embedding", **SETTINGS["text-cnn"])
    assert torch.equal(row_of(frozen, "good"), still)


def test_a_run_names_the_file_and_is_opened_without_it(place: Path) -> None:
    run = learned(place, "bag-of-vectors", embedding=4, save=True, out=place / "run")
    (place / "vectors.txt").unlink()
    opened = nw.open_run(place / "run")
    assert torch.equal(row_of(opened, "good"), row_of(run, "good"))
    config = yaml.safe_load((place / "run" / "config.yaml").read_text())
    assert config["model"]["embeddings"] == str((place / "vectors.txt").resolve())


def test_what_does_not_fit_is_refused(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"have 4 features.* 7: --set model.embedding=4"):
        learned(place, "text-cnn", embedding=7)
    with pytest.raises(ConfigError, match=r"model\.width=4"):
        learned(place, "gpt", width=8)
    (place / "vectors.txt").write_text("other 1 2 3 4\nwords 1 2 3 4\n")
    with pytest.raises(ConfigError, match=r"vectors\.txt has none of the"):
        learned(place, "text-cnn", embedding=4)
    (place / "vectors.txt").write_bytes(b"gut 1 2\nb\xe4d 1 2\n")
    with pytest.raises(DataError, match="UTF-8"):
        learned(place, "text-cnn", embedding=2)
    with pytest.raises(ConfigError, match="leave out one"):
        learned(place, "text-cnn", embedding=4, start_from=str(place))
    series = DataSpec(inputs="series", input_shape=(5, 2), target="real", num_outputs=1)
    model = nw.models.LSTM.build(nw.models.LSTMConfig(), series)
    with pytest.raises(ConfigError, match="LSTM has none on these data"):
        take_vectors(
            model,
            place / "vectors.txt",
            ArrayEncoder(input_shape=(5, 2), target="real", num_outputs=1),
        )
