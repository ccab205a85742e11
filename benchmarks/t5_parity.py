"""The same weights, the same outputs as `transformers`: T5, told a target and saying one itself.

Both feed-forward networks, several sizes and lengths, padding behind and in front of the source,
float32 and float64; then 12 tokens by greedy choice. Prints the largest difference of a logit;
fails above 1e-4 and 1e-10, or where a said token differs. Where there is `.venv-bench`, it runs
there.

    PYTHONPATH=src .venv-bench/bin/python benchmarks/t5_parity.py [--write-fixture]

`--write-fixture` writes one of them, its texts and logits to tests/models/transformers, where it
stands in for `transformers` in `make test`.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from environment import enter_bench_environment
from safetensors.torch import save_file
from torch import Tensor, nn

from netwright.data.spec import DataSpec
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.source_decoder import say_greedily
from netwright.models.exchange.t5_config import from_t5_config, to_t5_config
from netwright.models.exchange.t5_weights import from_t5, to_t5
from netwright.models.transformers.t5 import T5, T5Config

FIXTURE = Path(__file__).parents[1] / "tests/models/transformers/t5_tiny"
VOCABULARY, ROWS, SAID = 61, 4, 12
TINY = {"num_layers": 2, "num_heads": 2, "d_model": 8, "d_kv": 4, "d_ff": 12}
SIZES = (
    TINY,
    {"num_layers": 3, "num_heads": 4, "d_model": 32, "d_kv": 8, "d_ff": 128},
    {"num_layers": 1, "num_heads": 12, "d_model": 96, "d_kv": 8, "d_ff": 64},
)
NETWORKS = ("relu", "gated-gelu")
LENGTHS = ((1, 1), (7, 5), (150, 140))  # the last goes beyond the farthest distance
ALLOWED = {torch.float32: 1e-4, torch.float64: 1e-10}


def theirs(size: dict[str, int], network: str, vocabulary: int = VOCABULARY) -> Any:
    """Their network, with weights that tell texts apart."""
    import transformers

    config = transformers.T5Config(
        **size,
        vocab_size=vocabulary,
        feed_forward_proj=network,
        decoder_start_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=PAD,
    )
    network_of_theirs = transformers.T5ForConditionalGeneration(config).eval()
    for name, weight in network_of_theirs.named_parameters():
        if "layer_norm" in name:
            nn.init.uniform_(weight, 0.5, 1.5)
        elif "bias" in name:
            nn.init.normal_(weight)
    return network_of_theirs


def ours(config: Any, source: int, target: int) -> T5:
    """Our network of the settings in their config.json."""
    settings, reason = from_t5_config(config.to_dict())
    if reason:
        raise SystemExit(reason)
    spec = DataSpec(
        inputs="pairs",
        input_shape=(source + target,),
        target="tokens",
        num_outputs=config.vocab_size,
        vocab_size=config.vocab_size,
        padding=PAD,
        source_length=source,
        shared_vocabulary=True,
    )
    return T5.build(T5Config(**settings), spec).eval()


def sources(length: int, vocabulary: int = VOCABULARY) -> dict[str, Tensor]:
    """Tokens (rows, length), by where their padding is."""
    tokens = torch.randint(EOS + 1, vocabulary, (ROWS, length))
    places, rows = torch.arange(length), torch.arange(ROWS)[:, None]
    return {
        "none": tokens,
        "behind": tokens.masked_fill(places >= (length - rows).clamp_min(1), PAD),
        "in front": tokens.masked_fill(places < rows.clamp_max(length - 1), PAD),
    }


def norm_exactly() -> None:
    """Their norms in the type of their inputs: they are float32 in float64, too."""
    from transformers.models.t5 import modeling_t5

    def forward(norm: Any, x: Tensor) -> Tensor:
        return (
            norm.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + norm.variance_epsilon)
        )

    modeling_t5.T5LayerNorm.forward = forward


@torch.no_grad()
def difference(mine: T5, other: Any, source: Tensor, told: Tensor) -> float:
    """The largest one of a logit."""
    wanted = other(
        input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=told
    ).logits
    return float((mine(torch.cat((source, told), dim=1)) - wanted).abs().max())


@torch.no_grad()
def says_the_same(mine: T5, other: Any, source: Tensor) -> bool:
    """Whether both say the same tokens by greedy choice."""
    said = say_greedily(mine, source, SAID, begin=BOS, end=EOS)
    wanted = other.generate(
        source,
        attention_mask=(source != PAD).long(),
        max_new_tokens=SAID,
        min_new_tokens=SAID,
        do_sample=False,
        num_beams=1,
    )[:, 1:]
    # `generate` forbids the end that early; so only what comes before ours is compared.
    counts = (said == EOS).int().cumsum(dim=1) == 0
    return torch.equal(said[counts], wanted[counts])


def write_fixture() -> None:
    """One small network with its logits."""
    torch.manual_seed(0)
    other = theirs(TINY, "gated-gelu", 11)
    source = sources(6, 11)["behind"]
    told = torch.cat((torch.full((ROWS, 1), BOS), torch.randint(EOS + 1, 11, (ROWS, 4))), dim=1)
    mine = ours(other.config, 6, 5)
    mine.load_state_dict(from_t5(other.state_dict(), mine.state_dict()))
    with torch.no_grad():
        logits = other(
            input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=told
        ).logits
    weights = {name: value.clone().contiguous() for name, value in other.state_dict().items()}
    content = {**weights, "source": source, "told": told, "logits": logits}
    save_file(content, FIXTURE.with_suffix(".safetensors"))
    text = json.dumps(to_t5_config(mine), indent=1)
    FIXTURE.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def compare(size: dict[str, int], network: str, worst: dict[torch.dtype, float]) -> int:
    """Compare one network at all lengths, and keep the worst; gives how many texts it said."""
    other, texts = theirs(size, network), 0
    for read, heard in LENGTHS:
        mine = ours(other.config, read, max(heard, SAID))
        mine.load_state_dict(from_t5(other.state_dict(), mine.state_dict()))
        other.load_state_dict(to_t5(mine.state_dict()))  # nothing missing or unknown
        told = torch.randint(VOCABULARY, (ROWS, heard))
        for source in sources(read).values():
            for kind in ALLOWED:
                gap = difference(mine.to(kind), other.to(kind), source, told)
                worst[kind] = max(worst[kind], gap if math.isfinite(gap) else math.inf)
            if not says_the_same(mine, other, source):  # in float64: no choice is close
                raise SystemExit(f"another text is said of {size}, {network}")
            texts += ROWS
            mine.float()
            other.float()
    return texts


def main() -> None:
    """Compare all, and say the worst."""
    enter_bench_environment()
    if "--write-fixture" in sys.argv[1:]:
        write_fixture()
        return
    norm_exactly()
    torch.manual_seed(0)
    worst = dict.fromkeys(ALLOWED, 0.0)
    texts = sum(compare(size, network, worst) for size in SIZES for network in NETWORKS)
    for kind, allowed in ALLOWED.items():
        print(f"{kind}: largest difference {worst[kind]:.2e}, allowed {allowed:.0e}")
    print(f"{texts} texts of {SAID} tokens are the same")
    if any(worst[kind] > allowed for kind, allowed in ALLOWED.items()):
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
