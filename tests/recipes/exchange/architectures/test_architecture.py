"""What is read there otherwise than here is an error, and nothing is left behind."""

from pathlib import Path

import pytest

from netwright.core.errors import RunError
from netwright.data.text.tokenizer import Tokenizer
from netwright.data.text.tokenizer_json import to_tokenizer_json
from netwright.recipes.exchange.architectures import gpt2
from tests.recipes.exchange.architectures.test_gpt2 import language_run


@pytest.mark.slow
def test_a_tokenizer_that_reads_otherwise_is_an_error_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    run = language_run(tmp_path)

    def lowered(tokenizer: Tokenizer) -> str:
        return to_tokenizer_json(type(tokenizer)(tokens=tokenizer.tokens, lower=True))

    monkeypatch.setattr(gpt2, "to_tokenizer_json", lowered)
    with pytest.raises(RunError, match=r"the tokenizer differs from the run: '.*nothing was"):
        run.export("hf", tmp_path / "hf")
    assert [path.name for path in tmp_path.iterdir()] == ["book.txt"]
