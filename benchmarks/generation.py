"""How long the next token takes when ever more stand before it.

Measured: one text, greedy choice, float32, fresh weights, letters of Tiny Shakespeare's number.

    gpt             `generate` with the keys and values of all tokens kept
    gpt, no cache   `generate` that reads all tokens again for each new one
    transformers    GPT2LMHeadModel.generate with the same weights, where it is installed
    lstm, mingru    `generate` with a state of one size: their time must not grow

A contestant reads a beginning of so many tokens and writes some more, each of which is told as
soon as it is known:

    ms a token = median over rounds of (time of the last - time of the first) / tokens between

In each round all take their turn at all lengths, in an order drawn anew; the first round is thrown
away. The clock counts CPU-seconds of the process, on CUDA wall seconds. The gate: behind the
longest beginning all three of gpt must write the same text.

On CUDA the networks are larger. Where there is `.venv-bench`, it runs there.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from environment import enter_bench_environment
from reporting import add_json_option, measure_box, quartiles, show
from torch import Tensor

from netwright.data.spec import DataSpec
from netwright.decoding.generate import Read, Step, generate, without_cache
from netwright.decoding.sampling import DecodingConfig
from netwright.models.catalog import MODELS
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.model import Model

LENGTHS = (64, 256, 1024)
SAME = {"gpt", "gpt, no cache", "transformers"}  # one network, three ways
KINDS = 69  # of token
CONTEXT = 2048
Tell = Callable[[Tensor], Any]  # takes a new token (1,)
Write = Callable[[Tensor, int, Tell], None]  # beginning (1, T), how many more, who is told


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Of the networks."""

    layers: int
    heads: int
    width: int
    hidden: int


ON_CPU = Sizes(layers=4, heads=4, width=128, hidden=256)
ON_CUDA = Sizes(layers=6, heads=6, width=384, hidden=512)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--tokens", type=int, default=32, help="new ones (32)")
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--threads", type=int, default=1, help="threads on the CPU (1)")
    options.add_argument("--device", help="cuda where there is one, unless told")
    add_json_option(options)
    return options


def build(name: str, device: str, **settings: int) -> Model:
    spec = DataSpec(
        inputs="tokens",
        input_shape=(CONTEXT,),
        target="tokens",
        num_outputs=KINDS,
        vocab_size=KINDS,
    )
    kind = MODELS.load(name)
    return kind.build(kind.settings(**settings), spec).to(device).eval()


def writer(read: Read, step: Step) -> Write:
    """Greedy text by `generate`."""

    def write(beginning: Tensor, count: int, tell: Tell) -> None:
        config = DecodingConfig(temperature=0.0, max_tokens=count)
        for token in generate(read, step, beginning, config):
            tell(token)

    return write


@dataclass(frozen=True)
class Streamer:
    """What transformers tells of each token."""

    tell: Tell

    def put(self, tokens: Tensor) -> None:
        if tokens.ndim == 1:  # the beginning (1, T) comes first
            self.tell(tokens)

    def end(self) -> None:
        """Nothing is held back."""


def transformers_writer(weights: Mapping[str, Tensor], sizes: Sizes, device: str) -> Write:
    """The same network there."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=KINDS,
        n_positions=CONTEXT,
        n_embd=sizes.width,
        n_layer=sizes.layers,
        n_head=sizes.heads,
        bos_token_id=0,
        eos_token_id=None,  # nothing ends a text
    )
    network = GPT2LMHeadModel(config).to(device).eval()
    network.load_state_dict(to_gpt2(weights))

    def write(beginning: Tensor, count: int, tell: Tell) -> None:
        network.generate(
            beginning,
            attention_mask=torch.ones_like(beginning),
            max_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
            streamer=Streamer(tell),
        )

    return write


def contestants(sizes: Sizes, device: str) -> dict[str, Write]:
    torch.manual_seed(0)
    gpt = build("gpt", device, layers=sizes.layers, heads=sizes.heads, width=sizes.width)
    lstm, mingru = (build(name, device, hidden=sizes.hidden) for name in ("lstm", "mingru"))
    writers = {"gpt": writer(gpt.read, gpt.step), "gpt, no cache": writer(*without_cache(gpt))}
    try:
        writers["transformers"] = transformers_writer(gpt.state_dict(), sizes, device)
    except ImportError as error:
        print(f"transformers is left out: {error}")
    return {
        **writers,
        "lstm": writer(lstm.read, lstm.step),
        "mingru": writer(mingru.read, mingru.step),
    }


def seconds_a_token(write: Write, beginning: Tensor, tokens: int) -> float:
    """From the first new one on; each is on the CPU when it is told, so no work is pending."""
    clock = time.perf_counter if beginning.is_cuda else time.process_time
    times: list[float] = []
    write(beginning, tokens, lambda _: times.append(clock()))
    return (times[-1] - times[0]) / (tokens - 1)


def text_of(write: Write, beginning: Tensor, tokens: int) -> Tensor:
    written: list[Tensor] = []
    write(beginning, tokens, written.append)
    return torch.cat(written)


def measure(
    writers: Mapping[str, Write], text: Tensor, tokens: int, rounds: int
) -> list[dict[str, Any]]:
    """Milliseconds a token of every contestant behind every beginning."""
    turns = [(name, length) for name in writers for length in LENGTHS]
    order, taken = random.Random(0), defaultdict(list)
    for number in range(rounds + 1):
        for name, length in order.sample(turns, len(turns)):
            own = seconds_a_token(writers[name], text[:, :length], tokens)
            if number > 0:
                taken[name, length].append(1000 * own)
    return [row(name, {length: taken[name, length] for length in LENGTHS}) for name in writers]


def row(name: str, taken: Mapping[int, list[float]]) -> dict[str, Any]:
    ms = {length: quartiles(times)[1] for length, times in taken.items()}
    shortest, *_, longest = ms.values()
    return {
        "name": name,
        **{f"ms_at_{length}": value for length, value in ms.items()},
        "growth": longest / shortest,
        "tokens_per_s": 1000 / longest,
        "rounds": len(taken[LENGTHS[0]]),
    }


COLUMNS = {
    "contestant": ("name", ""),
    **{f"ms at {length}": (f"ms_at_{length}", ".2f") for length in LENGTHS},
    "growth": ("growth", ".2f"),
    f"tokens/s at {LENGTHS[-1]}": ("tokens_per_s", ",.0f"),
    "remarks": ("remarks", ""),
}


def main() -> None:
    options = parser().parse_args()
    enter_bench_environment()
    box = measure_box(options.threads)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    on_gpu = device.startswith("cuda")
    place = torch.cuda.get_device_name(device) if on_gpu else f"{options.threads} thread(s)"
    writers = contestants(ON_CUDA if on_gpu else ON_CPU, device)
    text = torch.randint(KINDS, (1, LENGTHS[-1]), device=device)
    texts = {name: text_of(writers[name], text, options.tokens) for name in SAME & writers.keys()}
    remarks = {
        name: "same text" if torch.equal(its, texts["gpt"]) else "ANOTHER TEXT"
        for name, its in texts.items()
    }
    rows = [
        {**row, "remarks": remarks.get(row["name"]), "device": place, "box": box}
        for row in measure(writers, text, options.tokens, options.rounds)
    ]
    show(rows, COLUMNS, title=f"the next token, {place}", as_json=options.json)


if __name__ == "__main__":
    main()
