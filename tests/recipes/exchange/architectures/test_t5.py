"""A T5: transformers says the same spans."""

from pathlib import Path

import pytest

import netwright as nw
from tests.recipes.exchange.architectures.test_gpt2 import SMALL, TEXT


@pytest.mark.slow
def test_a_t5_says_spans_as_the_run_does(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "book.txt").write_text(TEXT * 40, encoding="utf-8")
    data = nw.data.load(
        "corrupted-text", path=str(tmp_path / "book.txt"), window=24, tokenizer="char"
    )
    run = nw.fit("t5", data, save=False, lr=0.01, **{**SMALL, "epochs": 5})
    assert run.export("hf", tmp_path / "hf").difference < 1e-4
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    texts = ["The quick <extra_id_0>, it's", "jumps<extra_id_0>"]
    given = tokenizer(texts, return_tensors="pt", padding=True)
    given.pop("token_type_ids", None)
    said = model.generate(**given, do_sample=False)
    ours = [one.replace("<unk>", "") for one in run.predict(texts)]
    assert [tokenizer.decode(one).partition("<eos>")[0] for one in said] == [
        f"<bos>{one}" for one in ours
    ]
