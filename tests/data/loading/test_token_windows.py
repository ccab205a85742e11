"""Windows of token files: inputs, targets one place later, a few in memory for all."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.fingerprint import fingerprint
from netwright.data.loading import token_windows
from netwright.data.loading.token_windows import TokenSplit, TokenWindows
from netwright.data.loading.windows import WindowSplit
from tests.data.token_files import written_stream


def test_windows_are_those_of_a_stream_in_memory(tmp_path: Path) -> None:
    tokens = list(range(100, 141))
    windows = TokenWindows(written_stream(tmp_path, tokens, 13, 30), 8)
    held = WindowSplit(stream=torch.tensor(tokens), window=8, stride=8)
    rows = torch.tensor([4, 0, 2])
    inputs, targets = windows.read(rows)
    assert len(windows) == len(held) == 5  # the 41st token is a target
    assert torch.equal(inputs, held.inputs[rows]) and torch.equal(targets, held.targets[rows])


def test_a_few_windows_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_windows, "MOST_IN_MEMORY", 3)
    split = TokenSplit(windows=TokenWindows(written_stream(tmp_path, range(101)), 10))
    assert (len(split), split.total) == (3, 10)
    assert split.inputs[:, 0].tolist() == [0, 40, 90]  # from the first to the last
    assert split.to(torch.device("cpu")).total == 10
    assert len(split.to_measure()) == split.to_measure().total == 3
    assert "10 windows of 10 in 1 files; 3 in memory" in repr(split)


def test_the_fingerprint_follows_from_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_windows, "MOST_IN_MEMORY", 2)

    def of(tokens: list[int], window: int) -> dict[str, str | int]:
        return fingerprint(
            TokenSplit(windows=TokenWindows(written_stream(tmp_path, tokens), window))
        )

    tokens = list(range(101))
    changed = [*tokens[:55], 7, *tokens[56:]]  # in a window that is not in memory
    assert of(tokens, 10) == of(tokens, 10)
    assert of(tokens, 10)["count"] == 10
    assert of(changed, 10)["rows"] != of(tokens, 10)["rows"]
    assert of(tokens, 20) != of(tokens, 10)


def test_too_few_tokens_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 8 tokens to train on, wanted more than window=8"):
        TokenWindows(written_stream(tmp_path, range(8)), 8)
