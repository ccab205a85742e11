"""A BERT with each of its heads: transformers gives what the run gives."""

from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.core.errors import RunError
from netwright.data.text.tokenizer import BOS, EOS
from netwright.data.text.tokenizer_json import to_tokenizer_json
from netwright.recipes.exchange.architectures import bert
from tests.data.text.test_tagged import write
from tests.recipes.exchange.architectures.test_gpt2 import SMALL, TEXT


@pytest.mark.slow
def test_a_bert_fills_masks_as_the_run_does_and_never_says_mask(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "book.txt").write_text(TEXT * 40, encoding="utf-8")
    data = nw.data.load("masked-text", path=str(tmp_path / "book.txt"), window=17, vocab_size=300)
    run = nw.fit("bert", data, save=False, lr=0.01, **{**SMALL, "epochs": 3})
    assert run.export("hf", tmp_path / "hf").difference < 1e-4
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    given = tokenizer("the quick [MASK] jumps", "over the dog", return_tensors="pt")
    size = run.spec.num_outputs
    assert tokenizer.mask_token_id == size == run.spec.vocab_size - 1
    tokens = given["input_ids"]
    assert tokens[0, 0] == BOS and tokens[0, -1] == EOS and size in tokens
    with torch.no_grad():
        logits = model(**given).logits
        ours = run.model(tokens)
    torch.testing.assert_close(logits[:, 1:, :size], ours[:, 1:], rtol=0, atol=1e-4)
    assert float(logits[:, 1:, size].max()) < float(logits[:, 1:, :size].min())


@pytest.mark.slow
def test_berts_of_classes_tags_and_spans_give_the_probabilities_of_the_run(
    tmp_path: Path, reviews_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    write(tmp_path / "tags.conllu", 40)
    asked = "".join(f"Who {n}?\tAda {n} wrote it.\tAda\n" for n in range(20))
    (tmp_path / "asked.tsv").write_text(f"question\tcontext\tanswer\n{asked}")
    data = {
        "class": nw.data.load("text-table", path=str(reviews_file), text="text", target="label"),
        "tags": nw.data.load("tagged", path=str(tmp_path / "tags.conllu"), min_count=1),
        "span": nw.data.load("questions", path=str(tmp_path / "asked.tsv"), vocab_size=200),
    }
    heads = {
        "class": "AutoModelForSequenceClassification",
        "tags": "AutoModelForTokenClassification",
        "span": "AutoModelForQuestionAnswering",
    }
    for target, one in data.items():
        run = nw.fit("bert", one, save=False, **SMALL)
        assert run.export("hf", tmp_path / target).difference < 1e-4
        model = getattr(transformers, heads[target]).from_pretrained(tmp_path / target)
        if target != "span":
            assert model.config.id2label == dict(enumerate(run.spec.class_names))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "class")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "class")
    run, texts = nw.fit("bert", data["class"], save=False, **SMALL), ["a fine film", "dull"]
    with torch.no_grad():
        shares = model(**tokenizer(texts, return_tensors="pt", padding=True)).logits.softmax(1)
    wanted = torch.from_numpy(run.predict_proba(texts))  # the same seed, the same weights
    torch.testing.assert_close(shares, wanted, rtol=0, atol=1e-5)
    monkeypatch.setattr(bert, "framing_json", lambda reader, _: to_tokenizer_json(reader))
    with pytest.raises(RunError, match=r"the tokenizer differs from the run: '.*nothing was"):
        run.export("hf", tmp_path / "unframed")
    assert not (tmp_path / "unframed").exists()
