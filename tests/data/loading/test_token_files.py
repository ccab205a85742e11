"""Token files: one stream however it is divided; what is not as its index says is refused."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.loading import open_files
from netwright.data.loading.token_files import TokenStream
from tests.data.token_files import written_stream

TOKENS = [(7 * place) % 1000 for place in range(103)]


@pytest.mark.parametrize("cuts", [(), (50,), (0, 1, 2, 40, 40, 102), tuple(range(1, 103))])
@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_how_a_stream_is_divided_changes_nothing(
    tmp_path: Path, cuts: tuple[int, ...], dtype: str
) -> None:
    stream = written_stream(tmp_path, TOKENS, *cuts, dtype=dtype)
    stream.check_sizes()
    assert len(stream) == 103
    starts = torch.tensor([0, 96, 39, 39, 1])
    found = stream.read(starts, 7)
    assert found.dtype == torch.int64
    assert found.tolist() == [TOKENS[start : start + 7] for start in starts.tolist()]


def test_four_bytes_hold_what_two_do_not(tmp_path: Path) -> None:
    stream = written_stream(tmp_path, [70_000, 3], dtype="uint32", vocab_size=70_001)
    assert stream.read(torch.tensor([0]), 2).tolist() == [[70_000, 3]]


def test_only_so_many_files_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "MOST_OPEN", 2)
    stream = written_stream(tmp_path, TOKENS, *range(10, 100, 10))
    assert stream.read(torch.tensor([0]), 103)[0].tolist() == TOKENS
    assert len(stream._files.open) == 2


def test_what_is_not_as_the_index_says_is_refused(tmp_path: Path) -> None:
    stream = written_stream(tmp_path, TOKENS, 50, vocab_size=700)
    with pytest.raises(DataError, match=r"holds the token \d+, its vocabulary has 700"):
        stream.read(torch.tensor([0]), 103)
    with pytest.raises(DataError, match="ends at token 103"):
        stream.read(torch.tensor([100]), 4)
    whole = (tmp_path / "train-00001.bin").read_bytes()
    (tmp_path / "train-00001.bin").write_bytes(whole[:-2])
    with pytest.raises(DataError, match=r"train-00001.bin has 104 bytes, its index says 106"):
        stream.check_sizes()
    with pytest.raises(DataError, match=r"train-00001.bin has become shorter"):
        stream.read(torch.tensor([100]), 3)
    (tmp_path / "train-00000.bin").unlink()
    with pytest.raises(DataError, match=r"train-00000.bin cannot be read: No such file"):
        TokenStream(tmp_path, stream.files, "uint16", 700).check_sizes()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    stream = written_stream(tmp_path, TOKENS)
    (tmp_path / "train-00000.bin").rename(tmp_path / "elsewhere")
    (tmp_path / "train-00000.bin").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="symbolic link, which is not followed"):
        stream.check_sizes()
