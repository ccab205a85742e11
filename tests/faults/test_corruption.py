"""T15: checkpoints that rot. No damaged file is loaded, the newest good one is, and it is said.

Plain safetensors files have no checksum: most flipped bits and zeroed tails load without an error.
How many do is counted beside.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

import netwright as nw
from netwright.core.errors import NetwrightError
from netwright.core.files import manifest
from netwright.core.files.storage import MANIFEST
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.saving import checkpoint_store
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_content import FILES
from netwright.train.saving.checkpoint_store import list_checkpoints, newest_good
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_io_faults import quick_disk
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start

EACH = 500
SETTINGS: dict[str, Any] = {"batch_size": 20, "optimizer": "momentum"}
ALL_FILES = (*FILES, MANIFEST)


def flip(content: bytes, draw: random.Random) -> bytes:
    """One bit, somewhere."""
    changed = bytearray(content)
    changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def truncate(content: bytes, draw: random.Random) -> bytes:
    """The beginning only."""
    return content[: draw.randrange(len(content))]


def zero_tail(content: bytes, draw: random.Random) -> bytes:
    """What a power cut leaves: the size is right, the last part was never written."""
    end = len(content.rstrip(b"\0"))
    kept = draw.randrange(end)
    return content[:kept] + bytes(len(content) - kept)


class Rotting:
    """A run of three checkpoints, of which the newest is damaged and mended again.

    Args:
        run: its folder, which is made.
    """

    def __init__(self, run: Path) -> None:
        run.mkdir()
        save = SaveCheckpoints(run, every=1, keep=3)
        toy_fit(toy_net(batch_norm=True), toy_data(), callbacks=[save], epochs=3, **SETTINGS)
        self.run = run
        self.oldest, self.older, self.newest = list_checkpoints(run)
        self.content = {name: (self.newest / name).read_bytes() for name in ALL_FILES}
        self.state = toy_start(toy_net(batch_norm=True), epochs=3, **SETTINGS)
        load_checkpoint(self.newest, self.state)
        self.right = all_bytes(self.state)

    @contextmanager
    def damaged(self, name: str, content: bytes | None) -> Iterator[None]:
        """Another content of one file of the newest checkpoint; None: it is gone."""
        file = self.newest / name
        file.unlink() if content is None else file.write_bytes(content)
        yield
        file.write_bytes(self.content[name])

    def loads_wrong(self) -> bool:
        """Whether the newest loads without a word, and not as it was written."""
        try:
            load_checkpoint(self.newest, self.state)
        except NetwrightError:
            return False
        return all_bytes(self.state) != self.right

    def falls_back(self, *damaged: Path, to: Path) -> bool:
        """Whether this one is taken, and the damaged ones, newest first, are named."""
        place, remarks = newest_good(self.run)
        named = [any(remark.startswith(str(bad)) for remark in remarks) for bad in damaged]
        told = all(remark.endswith("; falling back to an older checkpoint") for remark in remarks)
        return place == to and len(remarks) == len(damaged) and told and all(named)

    def is_right(self) -> bool:
        """Whether the newest is either right as it is, or passed over for the one before."""
        if newest_good(self.run) == (self.newest, []):
            return not self.loads_wrong()
        return self.falls_back(self.newest, to=self.older)


def all_bytes(state: TrainState) -> list[bytes]:
    """Weights, buffers and the optimizer's memory."""
    memory = [part for kept in state.optimizer.state.values() for part in kept.values()]
    tensors = [*state.model.state_dict().values(), *memory]
    return [part.detach().numpy().tobytes() for part in tensors if isinstance(part, Tensor)]


def passes_as_safetensors(damaged: bytes, whole: bytes) -> bool:
    """Whether a plain safetensors file with this damage loads, with other values."""
    try:
        got = safetensors.torch.load(damaged)
    except (SafetensorError, KeyError, ValueError):
        return False
    wanted = safetensors.torch.load(whole)
    return got.keys() != wanted.keys() or any(
        got[name].numpy().tobytes() != wanted[name].numpy().tobytes() for name in wanted
    )


def fuzz(rotting: Rotting, each: int) -> dict[str, int]:
    """So many damages of each kind, spread over the files, and what came of them."""
    draw = random.Random(0)
    counts = dict.fromkeys(("silent wrong loads", "right fallbacks", "safetensors lets pass"), 0)
    for damage in (flip, truncate, zero_tail):
        for number in range(each):
            name = ALL_FILES[number % len(ALL_FILES)]
            whole = rotting.content[name]
            damaged = damage(whole, draw)
            with rotting.damaged(name, damaged):
                counts["silent wrong loads"] += rotting.loads_wrong()
                counts["right fallbacks"] += rotting.is_right()
            if name.endswith(".safetensors"):
                counts["safetensors lets pass"] += passes_as_safetensors(damaged, whole)
    return counts


def whole_file_cases(rotting: Rotting) -> Iterator[bool]:
    """Files that are gone, empty, of another step, or too many."""
    for name in ALL_FILES:
        for content in (None, b"", (rotting.older / name).read_bytes()):
            with rotting.damaged(name, content):
                yield rotting.falls_back(rotting.newest, to=rotting.older)
    extra = rotting.newest / "notes.txt"
    extra.write_text("of the user")
    yield rotting.falls_back(to=rotting.newest) and not rotting.loads_wrong()
    extra.unlink()


def exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def folder_cases(rotting: Rotting) -> Iterator[bool]:
    """Whole folders: exchanged, and damaged one after the other until none is left."""
    oldest, older, newest = rotting.oldest, rotting.older, rotting.newest
    exchange(older, newest)
    yield rotting.falls_back(newest, older, to=oldest)
    exchange(older, newest)
    yield rotting.falls_back(to=newest)
    for place, left in ((newest, older), (older, oldest), (oldest, None)):
        (place / MANIFEST).write_bytes(b"")
        if left is not None:
            gone = (newest, older)[: 1 + (left == oldest)]
            yield rotting.falls_back(*gone, to=left)
    yield newest_good(rotting.run)[0] is None


def measure(folder: Path, each: int = EACH) -> Figures:
    with quick_disk():
        rotting = Rotting(folder / "run")
        counts = fuzz(rotting, each)
        others = [*whole_file_cases(rotting), *folder_cases(rotting)]
    return Figures(
        n=3 * each + len(others),
        passed=counts["right fallbacks"] - counts["silent wrong loads"] + sum(others),
        counts={**counts, "whole files and folders": len(others)},
    )


SCENARIO = Scenario(
    code="T15",
    title="Damaged checkpoints",
    measure=measure,
    # Of 500 flips and zeroed tails of such files most load without an error.
    least={"safetensors lets pass": 251, "whole files and folders": 18},
)


def test_no_damage_is_loaded_and_the_newest_good_checkpoint_is(tmp_path: Path) -> None:
    few = EACH // 10
    figures = measure(tmp_path, few)
    assert figures.passed == figures.n == 3 * few + 18
    assert figures.counts["silent wrong loads"] == 0
    assert figures.counts["safetensors lets pass"] > few / 2  # as of all of them


@pytest.mark.slow
def test_no_damage_of_many_is_loaded(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == 3 * EACH + 18
    assert figures.counts["silent wrong loads"] == 0


def test_planted_bug_a_check_of_presence_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "_check_sum", lambda file, found, wanted: None)
    rotting = Rotting(tmp_path / "run")
    whole = rotting.content["model.safetensors"]
    for place in range(1, 21):  # the last numbers, of batch norm and the last layer
        damaged = bytearray(whole)
        damaged[-place] ^= 1
        with rotting.damaged("model.safetensors", bytes(damaged)):
            assert rotting.loads_wrong()
            assert not rotting.is_right()


def test_planted_bug_a_check_that_does_not_know_the_step_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_store, "check_checkpoint", manifest.check_folder)
    assert not next(folder_cases(Rotting(tmp_path / "run")))


def test_planted_bug_an_unsaid_fallback_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotting = Rotting(tmp_path / "run")
    found = newest_good
    monkeypatch.setitem(globals(), "newest_good", lambda run: (found(run)[0], []))
    assert not next(whole_file_cases(rotting))


def test_a_resumed_run_says_that_it_went_back_and_ends_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"n": 40, "epochs": 4, "save_every": 1, "hidden": (4,)}
    whole = nw.fit("mlp", "xor", out=tmp_path / "whole", quiet=True, **settings)
    nw.fit("mlp", "xor", out=tmp_path / "cut", quiet=True, max_steps=5, **settings)
    older, newest = list_checkpoints(tmp_path / "cut")[-2:]
    file = newest / "model.safetensors"
    file.write_bytes(flip(file.read_bytes(), random.Random(0)))
    capsys.readouterr()
    resumed = nw.fit("mlp", "xor", out=tmp_path / "cut", resume="auto", **settings)
    told = "".join(capsys.readouterr().err.split())  # lines are broken where the screen ends
    assert f"{file} is damaged".replace(" ", "") in told
    assert f"resuming from {older}".replace(" ", "") in told
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], weight)
