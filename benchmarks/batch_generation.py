"""How fast a batch of texts goes on, beside `generate` of `transformers` with the same weights.

Measured: GPT-2 of 124 million weights, fresh ones, 32 beginnings of 33 to 64 tokens that are padded
in front, greedy choice, 128 new tokens each; float32 and bfloat16.

    netwright               `generate` with the keys and values of all tokens kept
    transformers            GPT2LMHeadModel.generate with SDPA and its usual cache
    transformers, static    the same with its cache of one size, which it compiles; left out unless
                            `--static` is given: compiling takes a minute

In each round all take their turn, in an order drawn anew, and each turn is told. The first round,
in which is compiled what is, does not count. The clock runs over wall seconds of the whole call,
beginnings included, and waits for the device.

    ratio = median over rounds of (seconds of transformers / seconds of the contestant)

The gate: in float32 all write the same tokens, else it ends with an error.

`--small` is a try of a few seconds on a CPU.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from environment import enter_bench_environment
from reporting import add_json_option, quartiles, show, spread
from torch import Tensor

from netwright.data.spec import DataSpec
from netwright.decoding.generate import generate
from netwright.decoding.sampling import DecodingConfig
from netwright.models.catalog import MODELS
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.model import Model

YARDSTICK = "transformers"
Write = Callable[[Tensor, Tensor], Tensor]  # beginnings and their mask (B, T) -> new ones (B, N)
COLUMNS = {
    "contestant": ("name", ""),
    "numbers": ("numbers", ""),
    "seconds": ("seconds", ".3f"),
    "tokens/s": ("tokens_per_s", ",.0f"),
    "ratio": ("ratio", ".2f"),
    "quartiles": ("spread", ""),
    "remarks": ("remarks", ""),
}


class Size(NamedTuple):
    """Of the network."""

    layers: int
    heads: int
    width: int
    vocabulary: int


GPT2, SMALL = Size(12, 12, 768, 50257), Size(2, 2, 32, 101)
CONTEXT = 1024


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--batch", type=int, default=32, help="texts (32)")
    options.add_argument("--beginning", type=int, default=64, help="tokens of the longest (64)")
    options.add_argument("--tokens", type=int, default=128, help="new ones (128)")
    options.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    options.add_argument("--static", action="store_true", help="with the static cache, too")
    options.add_argument("--small", action="store_true", help="a small network on the CPU")
    add_json_option(options)
    return options


def build(size: Size, device: str) -> Model:
    spec = DataSpec(
        inputs="tokens",
        input_shape=(CONTEXT,),
        target="tokens",
        num_outputs=size.vocabulary,
        vocab_size=size.vocabulary,
    )
    kind = MODELS.load("gpt")
    config = kind.settings(layers=size.layers, heads=size.heads, width=size.width)
    model = kind.build(config, spec)
    with torch.no_grad():  # so that tokens differ, and do not hang on the last digit
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.1)
    return model.to(device).eval()


def netwright_writer(model: Model, tokens: int) -> Write:
    config = DecodingConfig(temperature=0.0, max_tokens=tokens)

    def write(beginnings: Tensor, mask: Tensor) -> Tensor:
        chosen = generate(
            model.read, model.step, beginnings, config, context=CONTEXT, attention_mask=mask
        )
        return torch.stack(list(chosen), dim=1)

    return write


def transformers_writer(model: Model, size: Size, tokens: int, **settings: Any) -> Write:
    """The same network there."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=size.vocabulary,
        n_positions=CONTEXT,
        n_embd=size.width,
        n_layer=size.layers,
        n_head=size.heads,
        bos_token_id=0,
        eos_token_id=None,  # nothing ends a text
        attn_implementation="sdpa",
    )
    weights = model.state_dict()
    network = GPT2LMHeadModel(config)
    network.load_state_dict(to_gpt2(weights))
    network.to(weights["wte.weight"]).eval()  # device and numbers

    def write(beginnings: Tensor, mask: Tensor) -> Tensor:
        whole = network.generate(
            beginnings,
            attention_mask=mask.long(),
            max_new_tokens=tokens,
            do_sample=False,
            pad_token_id=0,
            **settings,
        )
        return whole[:, beginnings.shape[1] :]

    return write


def beginnings_of(options: argparse.Namespace, size: Size, device: str) -> tuple[Tensor, Tensor]:
    """Random tokens, the first of a row with as many as may be, the others with fewer."""
    longest = options.beginning
    tokens = torch.randint(size.vocabulary, (options.batch, longest))
    missing = torch.arange(options.batch) % (longest // 2)
    counted = torch.arange(longest) >= missing[:, None]
    return tokens.masked_fill(~counted, 0).to(device), counted.to(device)


def measure(
    writers: Mapping[str, Write], given: tuple[Tensor, Tensor], rounds: int, numbers: str
) -> tuple[dict[str, list[float]], dict[str, Tensor]]:
    """Seconds of each round, and what each wrote at first."""
    order, taken, texts = random.Random(0), defaultdict(list), {}
    for number in range(rounds + 1):
        for name in order.sample(list(writers), len(writers)):
            started = time.perf_counter()
            text = writers[name](*given).cpu()  # waits for the device
            seconds = time.perf_counter() - started
            texts.setdefault(name, text)
            print(f"{numbers}, round {number}, {name}: {seconds:.3f} s", flush=True)
            if number > 0:
                taken[name].append(seconds)
    return taken, texts


def main() -> None:
    options = parser().parse_args()
    enter_bench_environment()
    if not options.small and not torch.cuda.is_available():
        raise SystemExit("GPT-2 is left out: it takes a graphics card; --small is for a CPU")
    device, size = ("cpu", SMALL) if options.small else ("cuda", GPT2)
    place = "CPU" if options.small else torch.cuda.get_device_name()
    rows, differing = [], []
    for numbers in (torch.float32,) if options.small else (torch.float32, torch.bfloat16):
        torch.manual_seed(0)
        model = build(size, device).to(numbers)
        writers = {
            "netwright": netwright_writer(model, options.tokens),
            YARDSTICK: transformers_writer(model, size, options.tokens),
        }
        if options.static:
            writers["transformers, static"] = transformers_writer(
                model, size, options.tokens, cache_implementation="static"
            )
        given, kind = beginnings_of(options, size, device), str(numbers).removeprefix("torch.")
        taken, texts = measure(writers, given, options.rounds, kind)
        for name, seconds in taken.items():
            pairs = zip(taken[YARDSTICK], seconds, strict=True)
            low, ratio, high = quartiles([theirs / own for theirs, own in pairs])
            same = (texts[name] == texts[YARDSTICK]).double().mean().item()
            if same < 1 and numbers == torch.float32:
                differing.append(name)
            median = quartiles(seconds)[1]
            rows.append(
                {
                    "name": name,
                    "numbers": kind,
                    "seconds": median,
                    "tokens_per_s": options.batch * options.tokens / median,
                    "ratio": ratio,
                    "spread": spread(low, high, ".2f"),
                    "remarks": "same tokens" if same == 1 else f"{same:.1%} of the tokens the same",
                    "device": place,
                }
            )
    title = f"{options.batch} texts, {options.tokens} new tokens each, {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)
    if differing:
        raise SystemExit(f"in float32 other tokens than {YARDSTICK}: {', '.join(differing)}")


if __name__ == "__main__":
    main()
