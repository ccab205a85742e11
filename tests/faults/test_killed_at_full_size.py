"""Networks of their published size: killed after a checkpoint, taken up, and the same at the end.

A few steps of small batches, so that a CPU has them in minutes; `benchmarks/real_sizes.py` does the
same, and everything else that is done with a run, with all models on a graphics card.

Shapes: N rows, T tokens.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.tokenizer import SPECIALS
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.recipes.fitting.fit import fit
from netwright.recipes.run.run import open_run
from netwright.train.callback import Callback
from netwright.train.state import TrainState

ROOT = Path(__file__).parents[2]
ROWS, BATCH = 8, 2
SAVED_AT, KILLED_AFTER = 2, 3  # of 4 steps


def words() -> Data:
    """Sixteen words of GPT-2's vocabulary a row."""
    names = (*SPECIALS, *(f"w{place}" for place in range(50_257 - len(SPECIALS))))
    encoder = CorpusEncoder(tokenizer=WordTokenizer(tokens=names), length=16)
    tokens = torch.randint(len(names), (ROWS, 17), generator=_draw())
    train = Split(inputs=tokens[:, :-1], targets=tokens[:, 1:])
    return Data(name="words", spec=encoder.spec, train=train, preprocessor=encoder)


def photos() -> Data:
    """Noise of 3 x 224 x 224, of 1,000 classes."""
    return _images((3, 224, 224), 1000, torch.arange(ROWS) * 100)


def masks() -> Data:
    """Noise of 256 x 256 with two classes of pixels."""
    targets = torch.randint(2, (ROWS, 256, 256), generator=_draw())
    return _images((1, 256, 256), 2, targets)


def _images(shape: tuple[int, ...], classes: int, targets: torch.Tensor) -> Data:
    names = tuple(map(str, range(classes)))
    return Data(
        name="noise",
        spec=DataSpec(
            inputs="image",
            input_shape=shape,
            target="class" if targets.ndim == 1 else "mask",
            num_outputs=classes,
            class_names=names,
        ),
        train=Split(inputs=torch.randn(ROWS, *shape, generator=_draw()), targets=targets),
        preprocessor=ArrayEncoder(
            input_shape=shape, target="class", num_outputs=classes, class_names=names
        ),
    )


def _draw() -> torch.Generator:
    return torch.Generator().manual_seed(0)


CASES: dict[str, tuple[Callable[[], Data], dict[str, Any], int]] = {
    # Its context is as long as the rows.
    "gpt2": (words, {"context": None}, 124_439_808 - (1024 - 16) * 768),
    "resnet50": (photos, {}, 25_557_032),
    "unet": (masks, {"width": 64, "batch_norm": False}, 31_030_658),
}


class Die(Callback):
    """The power fails after a step."""

    def on_step_end(self, state: TrainState) -> None:
        if state.step == KILLED_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)


def learn(name: str, folder: str, *callbacks: Callback) -> None:
    """What each process does: begin in this folder, or go on."""
    build, settings, _ = CASES[name]
    training: dict[str, Any] = {"epochs": 1, "batch_size": BATCH, "save_steps": SAVED_AT, "keep": 1}
    fit(
        name,
        build(),
        out=folder,
        resume="auto",
        quiet=True,
        device="cpu",
        callbacks=callbacks,
        **training,
        **settings,
    )


def in_a_process(call: str) -> int:
    """The exit code of a new process that makes a call of this module."""
    command = f"from {__name__} import Die, learn; {call}"
    return subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=False).returncode


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_a_network_of_full_size_that_is_killed_goes_on_exactly(name: str, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert in_a_process(f"learn({name!r}, {str(whole)!r})") == 0
    assert in_a_process(f"learn({name!r}, {str(killed)!r}, Die())") == -signal.SIGKILL
    assert in_a_process(f"learn({name!r}, {str(killed)!r})") == 0
    one, other = open_run(whole), open_run(killed)
    assert one.results["parameters"] == CASES[name][2]
    assert one.results["metrics"] == other.results["metrics"]
    weights = other.model.state_dict()
    assert all(
        torch.equal(tensor, weights[name]) for name, tensor in one.model.state_dict().items()
    )
    assert one.layer_history.steps[0] == 1  # the others are watched where there is time
    assert None not in one.layer_history.rows[0].update
