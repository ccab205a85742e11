"""Vectors of a file as the first ones of a model: where they go, and what does not fit."""

import hashlib
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
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.words.vector_files import save_vectors
from netwright.data.words.word_vectors import WordVectors
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Model
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.run.run_words import vectors_of
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


PAIR_SETTINGS: dict[str, dict[str, Any]] = {
    "encoder-decoder": {"embedding": 4, "hidden": 4},
    "transformer": {"width": 4, "heads": 1, "layers": 1},
    "t5": {"width": 4, "heads": 1, "layers": 1},
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


def learned_pairs(place: Path, name: str, **settings: Any) -> nw.Run:
    rows = "".join(f"a good film {n % 3}\tnot a bad one\n" for n in range(20))
    (place / "pairs.tsv").write_text(f"source\ttarget\n{rows}")
    given: dict[str, Any] = {
        **{"data.name": "text-pairs", "embeddings": str(place / "vectors.txt")},
        **{"epochs": 1, "batch_size": 14, "quiet": True, "save": False},
    }
    return nw.fit(name, str(place / "pairs.tsv"), **given, **PAIR_SETTINGS[name], **settings)


def row_of(run: nw.Run, word: str) -> torch.Tensor:
    assert isinstance(run.model, Model)
    table = run.model.word_table()
    assert table is not None
    return table[run.preprocessor.tokenizer.tokens.index(word)].detach().cpu()  # type: ignore[attr-defined]


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


def test_a_run_keeps_the_sum_of_the_file_and_refuses_another(place: Path) -> None:
    learned(place, "bag-of-vectors", embedding=4, save=True, out=place / "run")
    wanted = hashlib.sha256((place / "vectors.txt").read_bytes()).hexdigest()
    values = yaml.safe_load((place / "run" / "config.yaml").read_text())
    assert values["model"]["embeddings_sha256"] == wanted
    recipe = parse_recipe(values)
    nw.fit(recipe, save=False, quiet=True)  # the same file is taken again
    (place / "vectors.txt").write_text("good 1 2 3 4\nbad 5 6 7 8\n")
    with pytest.raises(ConfigError, match=r"vectors\.txt is not the file .*embeddings_sha256="):
        nw.fit(recipe, save=False, quiet=True)
    taken = nw.fit(recipe, embeddings_sha256="", save=False, quiet=True, lr=1e-12)
    torch.testing.assert_close(row_of(taken, "good"), torch.tensor([1.0, 2, 3, 4]))


@for_each("name", PAIR_SETTINGS)
@for_each("shared", [False, True])
def test_sources_of_pairs_start_from_the_file_and_targets_of_the_same_vocabulary(
    place: Path, name: str, shared: bool
) -> None:
    run = learned_pairs(place, name, shared_vocabulary=shared, lr=1e-12)
    assert isinstance(run.model, Model)
    assert isinstance(run.preprocessor, PairEncoder)
    read, told = run.model.word_table(), run.model.told_table()
    assert read is not None
    good = read[run.preprocessor.source.tokens.index("good")].detach()
    torch.testing.assert_close(good.cpu(), torch.tensor([9.0, 0, 9, 0]), rtol=0, atol=1e-4)
    bad = (read if told is None else told)[run.preprocessor.target.tokens.index("bad")].detach()
    assert torch.allclose(bad.cpu(), torch.tensor([0.0, 9, 0, 9]), atol=1e-4) == shared
    assert vectors_of(run).similar("good", 1)  # `netwright words` asks for those of the sources


@for_each("name", PAIR_SETTINGS)
def test_the_vectors_of_the_sources_alone_can_be_frozen(place: Path, name: str) -> None:
    tables = []
    for lr in (1e-12, 0.1):
        run = learned_pairs(place, name, freeze="source_embedding", lr=lr)
        assert isinstance(run.model, Model)
        tables.append((run.model.word_table(), run.model.told_table()))
    (read, told), (read_moved, told_moved) = tables
    assert read is not None
    assert read_moved is not None
    assert told is not None
    assert told_moved is not None
    assert torch.equal(read, read_moved)
    assert not torch.allclose(told, told_moved, atol=0.01)


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
    (place / "vectors.txt").write_text("good 1 2 3 4\n")
    series = DataSpec(inputs="series", input_shape=(5, 2), target="real", num_outputs=1)
    model = nw.models.LSTM.build(nw.models.LSTMConfig(), series)
    with pytest.raises(ConfigError, match="LSTM has none on these data"):
        take_vectors(
            model,
            FirstVectorsConfig(embeddings=str(place / "vectors.txt")),
            ArrayEncoder(input_shape=(5, 2), target="real", num_outputs=1),
        )
