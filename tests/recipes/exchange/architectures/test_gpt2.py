"""A GPT as a GPT-2: it goes on as the run does, and gives the same classes."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError

TEXT = "The quick fox, it's re-made: jumps over the lazy dog.\n"
SMALL: dict[str, Any] = {
    **{"layers": 1, "heads": 2, "width": 8, "epochs": 1, "quiet": True},
    "device": "cpu",  # where transformers opens them
}


def language_run(folder: Path, **settings: Any) -> nw.Run:
    (folder / "book.txt").write_text(TEXT * 20, encoding="utf-8")
    data = nw.data.load("text", path=str(folder / "book.txt"), window=8)
    return nw.fit("gpt", data, save=False, **{**SMALL, **settings})


@pytest.mark.slow  # transformers takes seconds to be imported
def test_a_language_model_goes_on_as_the_run_does(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    run = language_run(tmp_path, lr=0.05, epochs=3)
    done = run.export("hf", tmp_path / "hf")
    assert done.difference < 1e-4
    assert {"config.json", "model.safetensors", "tokenizer.json"} < {*done.files}
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    assert type(model).__name__ == "GPT2LMHeadModel"
    given = tokenizer("The q", return_tensors="pt", add_special_tokens=False)
    said = model.generate(**given, max_new_tokens=3, do_sample=False, pad_token_id=0)
    wanted = run.generate("The q", beams=1, max_tokens=3)
    assert tokenizer.decode(said[0], skip_special_tokens=True) == "The q" + wanted


@pytest.mark.slow
def test_a_classifier_gives_the_probabilities_of_the_run(
    tmp_path: Path, reviews_file: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    data = nw.data.load("text-table", path=str(reviews_file), text="text", target="label")
    run = nw.fit("gpt", data, save=False, **SMALL)
    assert run.export("hf", tmp_path / "hf").difference < 1e-4
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    texts = ["a fine film", "dull"]  # of two lengths: one is padded
    given = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
    with torch.no_grad():
        shares = model(**given).logits.softmax(1)
    wanted = torch.from_numpy(run.predict_proba(texts))
    torch.testing.assert_close(shares, wanted, rtol=0, atol=1e-5)
    assert model.config.id2label == dict(enumerate(run.spec.class_names))


@pytest.mark.slow
def test_a_gpt_that_differs_from_gpt2_is_refused_by_its_setting(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    run = language_run(tmp_path, positions="rotary")
    with pytest.raises(ConfigError, match="as a GPT-2: positions are rotary, those of GPT-2 are"):
        run.export("hf", tmp_path / "hf")
