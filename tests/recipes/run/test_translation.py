"""Translating: the likeliest target of a run, its BLEU, and which runs have none."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, DataError
from netwright.data.loading.paired_texts import PairSplit
from netwright.data.text.tokenizer import BOS, EOS
from netwright.decoding.source_decoder import SourceDecoder, say_by_beams
from netwright.metrics.bleu import corpus_bleu
from netwright.recipes.run.translation import score_translations, translate

TINY: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "epochs": 1, "quiet": True}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    folder = tmp_path_factory.mktemp("translation") / "run"
    return nw.fit("transformer", "reverse", n=50, length=4, symbols=3, out=folder, **TINY)


def test_one_beam_is_what_the_run_predicts_and_many_are_a_search(run: nw.Run) -> None:
    texts = ["ab", "cab", "b"]
    assert list(translate(run, texts, beams=1)) == list(run.predict(texts))
    model, encoder = run.model, run.preprocessor
    assert isinstance(model, SourceDecoder)
    source = encoder.encode(texts)[:, :4].to(device_of(model))
    with torch.no_grad():
        said = say_by_beams(model, source, 5, begin=BOS, end=EOS, beams=9, length_penalty=0.6)
    assert list(translate(run, texts, beams=9)) == encoder.write(said)  # type: ignore[attr-defined]


def test_texts_may_be_more_than_are_searched_at_a_time(
    run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["ab", "cab", "b", "ccc", "a"]
    whole = translate(run, texts, beams=3)
    for together in (1, 6):  # one source at a time, two at a time
        monkeypatch.setattr("netwright.recipes.run.translation.TOGETHER", together)
        assert translate(run, texts, beams=3) == whole


def test_beams_are_counted_and_only_pairs_have_them(run: nw.Run, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^beams must be a whole number, got 2.5$"):
        translate(run, ["ab"], beams=2.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^beams must be from 1 to 1000, got 0$"):
        translate(run, ["ab"], beams=0)
    with pytest.raises(ConfigError, match=r"^beams must be from 1 to 1000, got 1000000000$"):
        translate(run, ["ab"], beams=10**9)
    with pytest.raises(ConfigError, match=r"^length_penalty must be finite, got nan$"):
        translate(run, ["ab"], length_penalty=float("nan"))
    with pytest.raises(DataError, match=r"^no inputs were given to translate$"):
        translate(run, [])
    other = nw.fit("mlp", "iris", epochs=1, out=tmp_path / "run", quiet=True)
    with pytest.raises(
        ConfigError, match=r"^beams are for pairs of texts, this run takes features"
    ):
        translate(other, ["ab"])


DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ZIFFERN = ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")


def numbers(folder: Path, count: int, seed: int = 0) -> Path:
    """Numbers of two to four digits, read out in English and in German."""
    draws = torch.randint(10, (count, 5), generator=torch.Generator().manual_seed(seed)).tolist()
    rows = [places[: 2 + last % 3] for *places, last in draws]
    file = folder / "numbers.tsv"
    said = (
        f"{' '.join(DIGITS[place] for place in row)}\t{' '.join(ZIFFERN[place] for place in row)}"
        for row in rows
    )
    file.write_text("\n".join(["en\tde", *said]) + "\n")
    return file


def learn(folder: Path, **settings: Any) -> nw.Run:
    return nw.fit(
        "transformer",
        str(numbers(folder, settings.pop("count", 60))),
        source="en",
        target="de",
        out=folder / "run",
        **{**TINY, **settings},
    )


@pytest.mark.usefixtures("undrawn")
def test_bleu_is_kept_with_its_signature(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    run = learn(tmp_path)
    kept = nw.open_run(tmp_path / "run").results["bleu"]
    examples = run.examples()
    assert isinstance(examples, PairSplit)
    said = list(run.predict(list(examples.sources)))
    wanted = corpus_bleu(said, examples.references)
    assert kept == {
        "bleu": wanted.score,
        "copied": corpus_bleu(examples.sources, examples.references).score,
        "signature": wanted.signature,
        "pairs": 12,
        "beams": 1,
        "length_penalty": 0.6,
    }
    table = run.examples(str(tmp_path / "numbers.tsv"))
    searched = score_translations(run.model, run.preprocessor, table, beams=3, length_penalty=1.0)
    assert (searched.pairs, searched.beams, searched.length_penalty) == (60, 3, 1.0)
    page = run.report(tmp_path / "page.html").read_text()
    assert f"BLEU {kept['bleu']:.2f} (sources copied: {kept['copied']:.2f}) on 12 pairs" in page


def test_references_are_the_texts_not_their_tokens(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    run = learn(tmp_path)
    pair = (["one two"], ["Unbekanntes Wort hier drin"])  # whose words the run does not know
    examples = run.examples(pair)
    assert run.preprocessor.decode(examples.inputs.cpu())[0]["de"].split() == ["<unk>"] * 4
    assert isinstance(examples, PairSplit)
    assert list(examples.references) == pair[1]
    assert score_translations(run.model, run.preprocessor, examples).bleu < 100


def test_what_has_no_texts_has_no_bleu(run: nw.Run) -> None:
    assert "bleu" not in run.results
    with pytest.raises(ConfigError, match=r"^BLEU is for pairs of texts that were read from files"):
        score_translations(run.model, run.preprocessor, run.examples())


@pytest.mark.slow
@pytest.mark.covers("machine-translation")
def test_digits_are_translated_word_by_word(tmp_path: Path) -> None:
    small = {"layers": 1, "heads": 4, "width": 32, "dropout": 0.0}
    run = learn(tmp_path, **small, count=3000, epochs=30, lr=3e-3, batch_size=64)
    known = set(run.data.train.sources)  # type: ignore[attr-defined]
    examples = run.examples()
    assert isinstance(examples, PairSplit)
    new = [row for row, text in enumerate(examples.sources) if text not in known]
    unseen = examples.take(torch.tensor(new, device=examples.targets.device))
    assert len(new) >= 200
    assert run.evaluate(unseen)["sequence_accuracy"] >= 0.99
    said = translate(run, list(unseen.sources), beams=4)
    right = sum(one == other for one, other in zip(said, unseen.references, strict=True))
    assert right / len(new) >= 0.99
