"""nanoGPT and our recipe of its shape on the same letters, each by its own command, scored alike.

    nanoGPT     train.py with config/train_shakespeare_char.py, compiled
    netwright   `netwright train -c ready/shakespeare-gpt-large`
    small       nanoGPT's setting for a CPU, and ready/shakespeare-gpt

Both keep the weights that were best on the last tenth of the plays, by their own measure. The score
is the mean of -log p over all letters of that tenth but the first, each counted once, in windows as
long as the context that begin with nothing known; the last window is moved back to end with the
text. Minutes are those of the whole command, from the start of Python to the files it leaves.

Shapes: L letters, B batch, T letters of a window, V kinds of letter.
Source: Karpathy, https://github.com/karpathy/nanoGPT (2023).
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from reporting import show
from torch import Tensor

import netwright as nw
from netwright.data.loading.windows import scored_once
from netwright.data.spec import IGNORED
from netwright.data.text.corpus import cut_texts
from netwright.data.text.published import PLAYS, read_published

LARGE = ("shakespeare-gpt-large", ())
SMALL = (
    "shakespeare-gpt",
    "--device=cpu --compile=False --eval_iters=20 --block_size=64 --batch_size=12 --n_layer=4"
    " --n_head=4 --n_embd=128 --max_iters=2000 --lr_decay_iters=2000 --dropout=0.0".split(),
)
SCORED_TOGETHER = 64  # windows
COLUMNS = {
    "by": ("name", ""),
    "minutes": ("minutes", ".2f"),
    "nats a letter": ("nats", ".4f"),
    "windows of": ("window", "d"),
    "weights": ("weights", ",d"),
}


def compare_with_nanogpt(checkout: Path, *, small: bool, as_json: bool) -> None:
    """Train both, score both, print both."""
    if not small and not torch.cuda.is_available():
        print("nanoGPT is left out: its setting takes a graphics card; --small takes that for CPUs")
        return
    recipe, options = SMALL if small else LARGE
    device = "cpu" if small else "cuda"
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            train_nanogpt(checkout, Path(folder, "theirs"), options, device),
            train_netwright(recipe, Path(folder, "ours"), device),
        ]
    show(rows, COLUMNS, title=f"the same letters on {device}", as_json=as_json)


def train_nanogpt(
    checkout: Path, folder: Path, options: Sequence[str], device: str
) -> dict[str, Any]:
    """Its own scripts in a copy of the checkout, which stays as it is."""
    shutil.copytree(checkout, folder, ignore=shutil.ignore_patterns(".git", "out-*"))
    letters = folder / "data" / "shakespeare_char"
    (letters / "input.txt").write_text(read_published("tinyshakespeare", PLAYS))
    # What prepare.py would download with is imported even where there is nothing to download.
    (letters / "requests.py").touch()
    command([str(letters / "prepare.py")], folder)
    minutes = command(["train.py", "config/train_shakespeare_char.py", *options], folder)
    saved = torch.load(
        folder / "out-shakespeare-char" / "ckpt.pt", map_location=device, weights_only=True
    )
    source = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
    theirs = importlib.util.module_from_spec(source)
    source.loader.exec_module(theirs)
    network = theirs.GPT(theirs.GPTConfig(**saved["model_args"])).to(device).eval()
    compiled = "_orig_mod."  # before every name of a network that torch.compile wraps
    weights = {name.removeprefix(compiled): value for name, value in saved["model"].items()}
    network.load_state_dict(weights)
    numbers = bytearray((letters / "val.bin").read_bytes())
    tokens = torch.frombuffer(numbers, dtype=torch.uint16).long()

    def logits_of(tokens: Tensor) -> Tensor:
        return network(tokens, tokens)[0]  # without targets it gives the last letter's alone

    window = saved["model_args"]["block_size"]
    return {"name": "nanoGPT", "minutes": minutes, **scored(network, logits_of, tokens, window)}


def train_netwright(recipe: str, folder: Path, device: str) -> dict[str, Any]:
    """Our command, and the run that it leaves."""
    arguments = ["train", "-c", f"ready/{recipe}", "--device", device, "--out", str(folder)]
    minutes = command(["-m", "netwright", *arguments], Path.cwd())
    run = nw.open_run(folder)
    network = run.model.to(device).eval()
    (text,) = cut_texts([read_published("tinyshakespeare", PLAYS)], val_size=0.1, test_size=0)[
        "val"
    ]
    tokens = torch.tensor(run.preprocessor.tokenizer.encode(text))
    row = {"name": "netwright", "minutes": minutes, "recipe": recipe}
    return {**row, **scored(network, network, tokens, network.context)}


def command(arguments: Sequence[str], folder: Path) -> float:
    """Minutes that Python took for this; what it prints goes to stderr."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, stdout=sys.stderr, check=True)
    return (time.perf_counter() - start) / 60


def scored(
    network: torch.nn.Module, logits_of: Callable[[Tensor], Tensor], tokens: Tensor, window: int
) -> dict[str, Any]:
    device = next(network.parameters()).device
    return {
        "nats": nats_a_letter(logits_of, tokens.to(device), window),
        "window": window,
        "weights": sum(weight.numel() for weight in network.parameters()),
    }


@torch.no_grad()
def nats_a_letter(logits_of: Callable[[Tensor], Tensor], letters: Tensor, window: int) -> float:
    """The mean of -log p over all letters (L,) but the first.

    Args:
        logits_of: letters (B, T) -> logits of the next one at each place (B, T, V).
        letters: a text.
        window: T.
    """
    windows = scored_once(letters, window)
    parts = (part.split(SCORED_TOGETHER) for part in (windows.inputs, windows.targets))
    total = 0.0
    for inputs, targets in zip(*parts, strict=True):
        logits = logits_of(inputs).flatten(0, 1).double()
        total += F.cross_entropy(
            logits, targets.flatten(), reduction="sum", ignore_index=IGNORED
        ).item()
    return total / (len(letters) - 1)
