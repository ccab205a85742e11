"""Our GPT beside GPT-2 of `transformers`: same weights, same logits, same text.

Not a race but a check; it ends with 1 where something differs. The weights are drawn larger than
GPT-2 starts with, and norms get weights that do something, since a network at its start says nearly
the same of every text. Texts have different lengths; where one has ended, no logits are compared.

    theirs -> ours   their weights, through a file and `read_foreign_weights`
    ours -> theirs   our weights, through `to_gpt2`
    text             20 tokens by greedy choice: theirs by `generate`, ours by `read` and `step`

Measured on 2026-11-15 with torch 2.13.0+cpu and transformers 5.22.2: the largest difference of a
logit is 7.5e-6 in float32 and 4.9e-15 in float64, both in GPT-2 of 124 million weights, where
logits go up to 4.1; the texts are the same.

    PYTHONPATH=src .venv-bench/bin/python benchmarks/transformers_parity.py [--write-fixture]

`--write-fixture` writes the smallest of them, texts and logits to tests/models/transformers, where
it stands in for `transformers` in `make test`.
"""

import argparse
import importlib.util
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from reporting import Row, add_json_option, show
from safetensors.torch import save_file
from torch import Tensor, nn

from netwright.data.spec import DataSpec
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.transformers.gpt import GPT, GPTConfig

FIXTURE = Path(__file__).parents[1] / "tests/models/transformers/gpt2_tiny"
TINY = {"vocab_size": 31, "n_positions": 12, "n_embd": 16, "n_layer": 2, "n_head": 2}
SMALL = {"vocab_size": 257, "n_positions": 80, "n_embd": 96, "n_layer": 4, "n_head": 6}
GPT2 = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
SPREAD = (
    0.8  # of the weights, times the root of the width: maps then keep the size of what comes in
)
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10}
NEW_TOKENS = 20
COLUMNS = {
    "network": ("name", ""),
    "compared": ("compared", ""),
    "texts": ("texts", "d"),
    "tokens": ("tokens", "d"),
    "type": ("dtype", ""),
    "weights": ("weights", ",d"),
    "largest logit": ("largest", ".1f"),
    "difference": ("difference", ".1e"),
    "equal": ("equal", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--write-fixture", action="store_true", help="write the tests' fixture")
    add_json_option(options)
    return options


def theirs(shape: dict[str, int]) -> Any:
    """Their network, with weights large enough to tell texts apart."""
    from transformers import GPT2Config, GPT2LMHeadModel

    spread = SPREAD / math.sqrt(shape["n_embd"])
    config = GPT2Config(**shape, initializer_range=spread, bos_token_id=0, eos_token_id=0)
    network = GPT2LMHeadModel(config).eval()
    stir(network)
    return network


def ours(shape: dict[str, int]) -> GPT:
    """Our network of the same shape."""
    config = GPTConfig(
        layers=shape["n_layer"],
        heads=shape["n_head"],
        width=shape["n_embd"],
        context=shape["n_positions"],
    )
    vocabulary = shape["vocab_size"]
    spec = DataSpec(
        inputs="tokens",
        input_shape=(config.context or 0,),
        target="tokens",
        num_outputs=vocabulary,
        vocab_size=vocabulary,
    )
    return GPT.build(config, spec).eval()


def stir(network: nn.Module) -> None:
    """Norms that do something, and biases that are not 0."""
    for name, weight in network.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(weight, std=0.1)
        elif "ln_" in name:
            nn.init.uniform_(weight, 0.5, 1.5)


def texts(vocabulary: int, rows: int, longest: int) -> tuple[Tensor, Tensor]:
    """Tokens (B, T), and 1 where they count: each text is shorter than the one before it."""
    numbers = torch.Generator().manual_seed(rows + longest)
    tokens = torch.randint(vocabulary, (rows, longest), generator=numbers)
    lengths = torch.linspace(longest, max(1, longest // 3), rows).long()
    return tokens, (torch.arange(longest) < lengths[:, None]).long()


@torch.no_grad()
def compare_logits(mine: GPT, other: Any, rows: int, longest: int) -> Iterator[Row]:
    """The largest difference of a logit that counts, in either precision."""
    tokens, counted = texts(mine.spec.vocab_size, rows, longest)
    for dtype, tolerance in TOLERANCE.items():
        wanted = other.to(dtype)(tokens, attention_mask=counted).logits[counted.bool()]
        apart = (mine.to(dtype)(tokens)[counted.bool()] - wanted).abs().max().item()
        yield {
            "texts": rows,
            "tokens": longest,
            "dtype": str(dtype).removeprefix("torch."),
            "largest": wanted.abs().max().item(),
            "difference": apart,
            "equal": apart < tolerance,
        }
    for network in (mine, other):
        network.float()


@torch.no_grad()
def compare_text(mine: GPT, other: Any, rows: int, longest: int) -> Row:
    """What both write behind the same beginnings."""
    prompt, _ = texts(mine.spec.vocab_size, rows, longest)
    wanted = other.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=NEW_TOKENS,
        min_new_tokens=NEW_TOKENS,
        do_sample=False,
        pad_token_id=0,
    )
    logits, state = mine.read(prompt)
    written = [logits.argmax(dim=1)]
    while len(written) < NEW_TOKENS:
        logits, state = mine.step(written[-1], state)
        written.append(logits.argmax(dim=1))
    same = torch.equal(torch.cat((prompt, torch.stack(written, dim=1)), dim=1), wanted)
    return {"compared": "text", "texts": rows, "tokens": longest, "equal": same}


def both_ways(shape: dict[str, int], sizes: list[tuple[int, int]], folder: Path) -> Iterator[Row]:
    torch.manual_seed(0)
    other, mine = theirs(shape), ours(shape)
    other.save_pretrained(folder)
    mine.load_state_dict(read_foreign_weights(folder / "model.safetensors", mine))
    weights = sum(weight.numel() for weight in mine.parameters())
    for rows, longest in sizes:
        for row in compare_logits(mine, other, rows, longest):
            yield {"compared": "theirs -> ours", "weights": weights, **row}
    rows, longest = sizes[0]
    if longest + NEW_TOKENS <= shape["n_positions"]:
        yield compare_text(mine, other, rows, longest)
    torch.manual_seed(1)
    mine = ours(shape)
    stir(mine)
    other.load_state_dict(to_gpt2(mine.state_dict()))
    for row in compare_logits(mine, other, rows, longest):
        yield {"compared": "ours -> theirs", **row}


def compare_all() -> Iterator[Row]:
    cases = {
        "tiny": (TINY, [(1, 1), (3, 12)]),
        "small": (SMALL, [(5, 33), (1, 80), (16, 64)]),
        "gpt2": (GPT2, [(2, 40), (4, 17)]),
    }
    for name, (shape, sizes) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            for row in both_ways(shape, sizes, Path(folder)):
                yield {"name": name, **row}


@torch.no_grad()
def write_fixture() -> None:
    """Weights, texts, which tokens count, and logits of the tiny network; its shape beside them."""
    torch.manual_seed(0)
    other = theirs(TINY)
    tokens, counted = texts(TINY["vocab_size"], 4, 11)
    logits = other(tokens, attention_mask=counted).logits
    state = {name: value for name, value in other.state_dict().items() if name != "lm_head.weight"}
    given = {"tokens": tokens, "counted": counted, "logits": logits}
    save_file({**state, **given}, FIXTURE.with_suffix(".safetensors"))
    FIXTURE.with_suffix(".json").write_text(f"{json.dumps(TINY, indent=2)}\n")


def main() -> int:
    options = parser().parse_args()
    if importlib.util.find_spec("transformers") is None:
        print("nothing is compared: transformers is not installed")
        return 0
    if options.write_fixture:
        write_fixture()
    rows = list(compare_all())
    show(rows, COLUMNS, title="our GPT beside transformers' GPT-2", as_json=options.json)
    return 0 if all(row["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
