"""What is counted of a shard once: kept, and made again where a shard changes."""

from pathlib import Path
from typing import Any

import pytest

from netwright.data.shards import source
from tests.data.shards.written_shards import (
    load,
    write_tar,
)


def test_what_was_counted_is_not_counted_again_until_a_shard_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tar(folder / "a.tar", range(20))
    write_tar(folder / "b.tar", range(20, 40))
    counted: list[str] = []
    plain = source._counted_now

    def noted(files: Any, number: int, config: Any) -> Any:
        counted.append(Path(files.shards[number].address).name)
        return plain(files, number, config)

    monkeypatch.setattr(source, "_counted_now", noted)
    first = load(folder)
    assert sorted(counted) == ["a.tar", "b.tar"]
    again = load(folder)
    assert len(counted) == 2 and again.spec == first.spec
    assert again.train.stored.fingerprint() == first.train.stored.fingerprint()  # type: ignore[attr-defined]
    write_tar(folder / "b.tar", range(50, 80))
    changed = load(folder)
    assert counted[2:] == ["b.tar"] and sum(len(one) for _, one in changed.splits()) == 50
    assert changed.train.stored.fingerprint() != first.train.stored.fingerprint()  # type: ignore[attr-defined]
    for file in (folder.parent / "home/data/shards").glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:50])  # a damaged note is made anew
    assert load(folder).spec == first.spec and len(counted) == 5
