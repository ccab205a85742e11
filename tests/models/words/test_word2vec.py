"""Word2vec: what it learns, by which version, exactly resumed, and what it refuses."""

import json
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.data.words.word_stream import WordStream
from netwright.models.words import plain_word2vec, word2vec
from netwright.models.words.word2vec import Word2Vec, Word2VecConfig
from netwright.train.saving.learner_checkpoint import Progress, save_learner
from netwright.train.watching.history import read_history, read_row


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))


def spec(size: int, length: int = 10) -> DataSpec:
    return DataSpec(
        inputs="tokens", input_shape=(length,), target="none", vocab_size=size, padding=0
    )


def build(size: int, **settings: object) -> Word2Vec:
    torch.manual_seed(0)
    return Word2Vec.build(Word2VecConfig(**{"dim": 8, "sample": 0.0, **settings}), spec(size))  # type: ignore[arg-type]


def company(count: int = 600) -> WordStream:
    """Texts of three words: 4 and 5 are used alike, 6 otherwise; 0 after each."""
    rng = np.random.default_rng(0)
    words = np.zeros((count, 5), dtype=np.int32)
    for row in words:
        word = int(rng.integers(4, 7))
        around = 7 if word < 6 else 10
        before, after = rng.integers(around, around + 3, 2).tolist()
        row[:4] = [before, word, after, 3]
    return WordStream(words.reshape(-1), 10)


@pytest.mark.covers("word2vec")
@pytest.mark.parametrize(
    "settings",
    [{"negatives": 0}, {"negatives": 3}, {"negatives": 3, "architecture": "cbow"}],
    ids=["softmax", "negatives", "cbow"],
)
def test_interchangeable_words_come_together(settings: dict[str, object]) -> None:
    model = build(13, version="plain", window=1, epochs=8, lr=0.1, **settings)
    losses = [step["loss"] for step in model.fit_steps(company(), 0)]
    assert losses[-1] < losses[0]
    alike = float(F.cosine_similarity(model.vectors[4], model.vectors[5], dim=0))
    apart = float(F.cosine_similarity(model.vectors[4], model.vectors[6], dim=0))
    assert alike > 0.9 > apart


@pytest.mark.covers("two-vector-trick")
def test_two_vectors_a_word_and_the_first_is_returned() -> None:
    model = build(13)
    assert sum(part.numel() for part in model.parameters()) == 2 * 13 * 8
    tokens = torch.tensor([[4, 7]])
    assert torch.equal(model(tokens)[0], model.vectors[[4, 7]])


def test_what_is_no_word_is_not_learned() -> None:
    model = build(13, version="plain", epochs=2)
    before = model.vectors[:4].clone()
    list(model.fit_steps(company(), 0))
    assert torch.equal(model.vectors[:4], before)
    assert not model.contexts[:4].any()


def test_rows_of_other_data_are_texts_of_their_own() -> None:
    rows = torch.tensor([[4, 5], [6, 7], [4, 5], [6, 7]])
    model = build(8, version="plain", window=5, epochs=3)
    seen: list[tuple[int, int]] = []
    step = plain_word2vec.negatives_step

    def watch(vectors, contexts, given, noise, lr):  # type: ignore[no-untyped-def]
        seen.extend(zip(given.inputs[:, 0].tolist(), given.outputs.tolist(), strict=True))
        return step(vectors, contexts, given, noise, lr)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word2vec, "negatives_step", watch)
        list(model.fit_steps(Split(inputs=rows, targets=rows), 0))
    assert set(seen) == {(4, 5), (5, 4), (6, 7), (7, 6)}


def test_steps_after_a_number_are_those_of_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word2vec, "PLAIN_STEP", 700)
    whole, part = build(13, version="plain", epochs=2), build(13, version="plain", epochs=2)
    all_steps = list(whole.fit_steps(company(), 3))
    assert len(all_steps) == 2 * 5
    first = list(islice(part.fit_steps(company(), 3), 4))
    resumed = build(13, version="plain", epochs=2)
    resumed.load_state_dict(part.state_dict())
    assert first + list(resumed.fit_steps_from(company(), 3, 4)) == all_steps
    assert torch.equal(resumed.vectors, whole.vectors)
    assert [step["lr"] for step in all_steps][:2] == pytest.approx([0.025, 0.0225])


def test_the_rate_never_reaches_zero_and_steps_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word2vec, "PLAIN_STEP", 1)
    monkeypatch.setattr(word2vec, "MOST_STEPS", 7)
    steps = list(build(13, version="plain", epochs=1).fit_steps(company(50), 0))
    assert len(steps) == 7
    assert all(step["lr"] > 0 for step in steps)


def test_the_rate_falls_evenly_to_its_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word2vec, "PLAIN_STEP", 700)
    steps = build(13, version="plain", epochs=2, lr=0.1, floor=0.5).fit_steps(company(), 0)
    rates = [step["lr"] for step in steps]
    assert rates == pytest.approx([0.1 - 0.005 * step for step in range(10)])


def corpus(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    path = folder / "corpus.txt"
    path.write_text(" ".join(f"word{place}" for place in rng.integers(60, size=4000)))
    return path


def test_a_file_trains_stops_and_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word2vec, "PLAIN_STEP", 1000)
    given: dict[str, Any] = {"dim": 6, "epochs": 2, "version": "plain", "quiet": True}
    given["device"] = "cpu"  # CUDA adds up in an order of its own
    whole = nw.fit("word2vec", str(corpus(tmp_path)), out=tmp_path / "whole", **given)
    learn = Word2Vec.fit_steps_from

    def stopped(model, data, seed, made):  # type: ignore[no-untyped-def]
        def steps() -> Iterator[dict[str, float]]:
            for step in learn(model, data, seed, made):
                yield step
                signal.raise_signal(signal.SIGINT)

        return steps()

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Word2Vec, "fit_steps_from", stopped)
        nw.fit("word2vec", str(corpus(tmp_path)), out=tmp_path / "cut", **given)
    assert not nw.open_run(tmp_path / "cut").results["finished"]
    with pytest.raises(ConfigError, match=r"model.window was 5, is 4"):
        nw.fit("word2vec", str(tmp_path / "corpus.txt"), resume=tmp_path / "cut", window=4, **given)
    cut = nw.fit("word2vec", str(corpus(tmp_path)), out=tmp_path / "cut", resume="auto", **given)
    assert cut.results["finished"]
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(cut.model.state_dict()[name], weight)
    mine, theirs = (
        [(row.step, row.name, row.value) for row in run.history] for run in (cut, whole)
    )
    assert mine == theirs
    assert cut.results["metrics"].keys() == {"loss", "lr"}
    # 4,000 words are four steps of 1,000, and one of the end of the text.
    assert [row.epoch for row in cut.history if row.name == "loss"] == [0] * 4 + [1] * 5 + [2]
    assert (cut.results["epochs"], cut.results["steps"]) == (2, 10)
    assert (tmp_path / "cut" / "results.json").exists()
    assert cut.report().exists()


def test_rows_that_counted_steps_as_epochs_count_passes_once_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word2vec, "PLAIN_STEP", 1000)
    given: dict[str, Any] = {"dim": 6, "epochs": 2, "version": "plain", "quiet": True}
    run, path = tmp_path / "run", str(corpus(tmp_path))
    nw.fit("word2vec", path, out=run, max_time=1e-9, **given)
    (place,) = (run / "checkpoints").glob("step-*")
    state = json.loads((place / "state.json").read_text())
    rows = [read_row(row) for row in state["history"]]
    expected = [(0, 1)] * 2  # loss and rate, after one step of five, of 8 rows
    assert [(row.epoch, row.samples) for row in rows] == expected
    former = [replace(row, epoch=row.step, samples=row.step * 8) for row in rows]
    weights = nw.open_run(run).model
    shutil.rmtree(place)
    save_learner(place, weights, Progress(1, 0.1, former), state["conditions"])
    again = nw.fit("word2vec", path, resume=run, **given)
    assert [(row.epoch, row.samples) for row in again.history][:2] == expected
    assert read_history(run / "metrics.jsonl").rows == again.history.rows


def test_what_cannot_be_compiled_or_learned_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="compiled version needs negatives, got 0"):
        build(13, version="compiled", negatives=0)
    monkeypatch.setattr(word2vec, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="needs numba: pip install"):
        build(13, version="compiled")
    assert "numba is not installed" in build(13).forewarning(1)
    assert not build(13, version="plain").forewarning(1)
    elsewhere = build(13, version="plain").to("meta")  # as on CUDA
    assert "on meta, sums have no fixed order: two runs" in elsewhere.forewarning(1)
    short = WordStream(np.array([4, 5, 6, 4, 5, 0, 0, 0, 0, 0], dtype=np.int32), 10)
    with pytest.raises(DataError, match=r"5 words, fewer than a window of 5 .*model\.window=4"):
        list(build(13, version="plain").fit_steps(short, 0))
    alone = WordStream(np.full(10, 4, dtype=np.int32), 10)
    with pytest.raises(DataError, match="at least two different words"):
        list(build(13).fit_steps(alone, 0))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_both_versions_find_the_same_neighbours(architecture: str) -> None:
    pytest.importorskip("numba", reason="numba is an extra")
    found = []
    for version in ("plain", "compiled"):
        model = build(
            13, version=version, architecture=architecture, window=1, epochs=8, lr=0.1, negatives=3
        )
        assert model.is_compiled == (version == "compiled")
        list(model.fit_steps(company(3000), 0))
        units = F.normalize(model.vectors[4:])
        found.append((units @ units.T).tolist())
    np.testing.assert_allclose(found[0], found[1], atol=0.25)
