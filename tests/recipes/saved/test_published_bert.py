"""A BERT of `transformers` with its own vocabulary: fine-tuned by --from, and says the same."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.text.row_encoder import RowEncoder
from tests.data.text.pretraining.test_bert_vocabulary import PIECES, TEXTS, write

transformers = pytest.importorskip("transformers")
SIZE: dict[str, Any] = {"layers": 2, "heads": 2, "width": 16, "context": 40, "device": "cpu"}


def published(folder: Path, **settings: Any) -> Any:
    """A folder as a hub has it: weights, settings, vocab.txt."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=settings.pop("rows", len(PIECES)),
        **sizes,
        intermediate_size=64,
        max_position_embeddings=40,
        **settings,
    )
    torch.manual_seed(0)
    model = transformers.BertForPreTraining(config).eval()
    with torch.no_grad():
        model.cls.predictions.bias.normal_()
    model.save_pretrained(folder)
    write(folder)
    return model


def tune(folder: Path, **settings: Any) -> nw.Run:
    table = folder / "rows.tsv"
    table.write_text("text\tlabel\n" + "The dog is running\tyes\na cat, café\tno\n" * 10)
    given: dict[str, Any] = {"text": "text", "target": "label", "epochs": 1, "max_length": 30}
    given |= {
        "start_from": folder / "model.safetensors",
        "lr": 1e-12,
        "dropout": 0.0,
        "quiet": True,
    }
    return nw.fit("bert", table, **{**given, "save": False, **SIZE, **settings})


def test_texts_are_read_with_its_vocabulary_and_mean_the_same(tmp_path: Path) -> None:
    theirs = published(tmp_path)
    run = tune(tmp_path)
    assert isinstance(run.preprocessor, RowEncoder)
    assert run.preprocessor.tokenizer.as_bert  # type: ignore[attr-defined]
    assert run.config["data"]["vocabulary"] == str(tmp_path / "model.safetensors")
    reader = transformers.BertTokenizer(str(tmp_path / "vocab.txt"))
    texts = [text for text in TEXTS if text][:3]
    given = reader(texts, return_tensors="pt", padding=True)
    with torch.no_grad():
        wanted: Tensor = theirs.bert(**given).pooler_output
        rows = run.preprocessor.encode_tokens(run.preprocessor.tokenizer.encode_all(texts))
        framed = run.model.framed(rows)  # type: ignore[operator]
        segments, counted = torch.zeros_like(framed), framed != 0
        found: Tensor = run.model._pooled(  # type: ignore[operator]
            run.model.encode(framed, segments, counted)  # type: ignore[operator]
        )
    assert torch.allclose(found, wanted, atol=1e-5)


def test_rows_of_the_embedding_are_those_of_its_tokens(tmp_path: Path) -> None:
    theirs = published(tmp_path)
    run = tune(tmp_path)
    assert isinstance(run.preprocessor, RowEncoder)
    table = theirs.bert.embeddings.word_embeddings.weight
    ours = run.model.get_parameter("wte.weight")
    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *run.preprocessor.tokenizer.tokens[4:], "[MASK]")
    for row, name in enumerate(names):
        assert torch.allclose(ours[row], table[PIECES.index(name)], atol=1e-6), name


def test_a_vocabulary_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    published(tmp_path, rows=len(PIECES) + 3)
    sentence = f"^the weights have {len(PIECES) + 3} tokens, the vocabulary beside them has "
    with pytest.raises(DataError, match=sentence):
        tune(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    file = write(other, *PIECES[:-1], "ball")
    with pytest.raises(ConfigError, match=r"do not fit these data: the first tokens that differ"):
        tune(tmp_path, vocabulary=str(file))


def test_other_data_names_what_a_vocabulary_may_be(tmp_path: Path) -> None:
    published(tmp_path)
    with pytest.raises(DataError, match=r"or the vocab.txt or tokenizer.json of a BERT, got "):
        tune(tmp_path, vocabulary=str(tmp_path / "words.txt"))
