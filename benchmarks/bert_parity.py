"""The same weights, the same outputs as `transformers`: BERT with both heads of pre-training.

Several sizes and lengths, padding on either side and rows of padding alone, float32 and float64.
Prints the largest difference of logits at places that count; fails above 1e-4 and 1e-10.
Where there is `.venv-bench`, it runs there.

`--write-fixture` writes a small one, its texts and logits to tests/models/transformers, where it is
compared without `transformers`.
"""

import math
import sys
from pathlib import Path

import torch
from environment import enter_bench_environment
from safetensors.torch import save_file
from torch import Tensor, nn

from netwright.data.spec import DataSpec
from netwright.data.text.pretraining.framing import segments_of
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.models.exchange.bert_weights import from_bert, to_bert
from netwright.models.transformers.bert import BERT, BERTConfig

VOCABULARY, CONTEXT, ROWS = 97, 48, 4
SIZES = ((1, 2, 16), (3, 4, 32), (2, 12, 96))  # layers, heads, width
LENGTHS = (1, 7, 48)
ALLOWED = {torch.float32: 1e-4, torch.float64: 1e-10}
FIXTURE = Path(__file__).parents[1] / "tests/models/transformers/bert_tiny.safetensors"
TEXTS = [[BOS, 4, 9, 6, EOS, 7, 8, EOS], [BOS, 5, EOS, 10, EOS, PAD, PAD, PAD]]


def paddings(length: int) -> dict[str, Tensor]:
    """Where tokens count (rows, length), by the kind of padding."""
    places, rows = torch.arange(length), torch.arange(ROWS)[:, None]
    return {
        "none": torch.ones(ROWS, length, dtype=torch.bool),
        "behind": places < (length - rows).clamp_min(1),
        "in front": places >= rows.clamp_max(length - 1),
        "rows of padding": (places >= 0) & (rows != 1),
    }


def difference(ours: BERT, theirs: nn.Module, length: int, counted: Tensor) -> float:
    """The largest one of both heads, at places that count."""
    tokens = torch.randint(VOCABULARY, (ROWS, length))
    segments = torch.randint(2, (ROWS, length))
    with torch.no_grad():
        x = ours.encode(tokens, segments, counted)
        head, pooler = ours.pretraining, ours.pooler
        assert head is not None
        assert pooler is not None
        found = head(x, torch.tanh(pooler(x[:, 0])), ours.wte.weight).logits
        wanted = theirs(input_ids=tokens, token_type_ids=segments, attention_mask=counted.long())
    inside = counted[:, 1:]
    parts = [(found[:, 1:][inside], wanted.prediction_logits[:, 1:][inside])]
    starts = counted[:, 0]
    parts.append((found[starts, 0, :2], wanted.seq_relationship_logits[starts]))
    return max(float((one - other).abs().max()) for one, other in parts if one.numel())


def theirs_of(
    layers: int, heads: int, width: int, vocabulary: int = VOCABULARY, context: int = CONTEXT
) -> nn.Module:
    """A BERT of `transformers`, with weights that tell texts apart."""
    import transformers

    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=context,
    )
    theirs = transformers.BertForPreTraining(config).eval()
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.2)
    return theirs


def write_fixture() -> None:
    """One small network with its logits."""
    torch.manual_seed(0)
    theirs, tokens = theirs_of(2, 2, 8, vocabulary=11, context=8), torch.tensor(TEXTS)
    with torch.no_grad():
        said = theirs(
            input_ids=tokens,
            token_type_ids=segments_of(tokens),
            attention_mask=(tokens != PAD).long(),
        )
    weights = {name: value.clone().contiguous() for name, value in theirs.state_dict().items()}
    logits = {"masked": said.prediction_logits, "next": said.seq_relationship_logits}
    save_file({**weights, "tokens": tokens, **logits}, FIXTURE)


def main() -> None:
    """Compare all, and say the worst."""
    enter_bench_environment()
    if "--write-fixture" in sys.argv[1:]:
        write_fixture()
        return
    spec = DataSpec(
        inputs="masked",
        input_shape=(CONTEXT,),
        target="tokens",
        num_outputs=VOCABULARY,
        vocab_size=VOCABULARY,
    )
    worst = dict.fromkeys(ALLOWED, 0.0)
    torch.manual_seed(0)
    for layers, heads, width in SIZES:
        theirs = theirs_of(layers, heads, width)
        settings = BERTConfig(layers=layers, heads=heads, width=width, context=CONTEXT)
        ours = BERT.build(settings, spec).eval()
        ours.load_state_dict(from_bert(theirs.state_dict()))
        theirs.load_state_dict(to_bert(ours.state_dict()))  # nothing missing, nothing unknown
        for kind in ALLOWED:
            for length in LENGTHS:
                for counted in paddings(length).values():
                    gap = difference(ours.to(kind), theirs.to(kind), length, counted)
                    if not math.isfinite(gap):
                        raise SystemExit(f"{kind}: a difference is {gap}")
                    worst[kind] = max(worst[kind], gap)
    for kind, allowed in ALLOWED.items():
        print(f"{kind}: largest difference {worst[kind]:.2e}, allowed {allowed:.0e}")
    if any(worst[kind] > allowed for kind, allowed in ALLOWED.items()):
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
