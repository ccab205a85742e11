"""`read_attention` beside what the models themselves say: GPT-2, BERT, Llama, ViT, timm's ViT.

Not a race but a check; it ends with 1 where something differs. Each network is drawn with weights
large enough that its attention is far from even, and run by fused attention, which holds no
weights; its twin with the same weights runs by attention that is written out, and gives its own.
`fused` counts the calls of fused attention that were made: with none there, nothing was checked.

Measured on 2026-11-15 with torch 2.13.0+cpu and transformers 5.22.2: the largest difference is
7e-7, of weights up to 1.0; timm was not at hand.

    PYTHONPATH=src .venv-bench/bin/python benchmarks/attention_parity.py
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from reporting import Row, add_json_option, show
from torch import Tensor, nn
from torch.nn import functional

from netwright.inspection.inside.attention_reading import read_attention
from netwright.inspection.inside.torch_calls import WatchedCalls

TOLERANCE = 1e-5
SPREAD = 0.4  # of the weights
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
COLUMNS = {
    "network": ("name", ""),
    "layers": ("layers", "d"),
    "fused": ("fused", "d"),
    "largest weight": ("largest", ".3f"),
    "difference": ("difference", ".1e"),
    "equal": ("equal", ""),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_json_option(parser)
    options = parser.parse_args()
    rows: list[Row] = []
    if importlib.util.find_spec("transformers"):
        rows += transformers_rows()
    if importlib.util.find_spec("timm"):
        rows.append(timm_row())
    show(rows, COLUMNS, title="Attention weights", as_json=options.json)
    return 0 if rows and all(row["equal"] for row in rows) else 1


def transformers_rows() -> Iterator[Row]:
    import transformers

    inner = {**SMALL, "intermediate_size": 32}
    makers: dict[str, Callable[[], Any]] = {
        "GPT2": lambda: transformers.GPT2Config(
            n_embd=16, n_layer=2, n_head=4, vocab_size=31, n_positions=12
        ),
        "Bert": lambda: transformers.BertConfig(**inner, vocab_size=31),
        "Llama": lambda: transformers.LlamaConfig(**inner, vocab_size=31, num_key_value_heads=2),
        "ViT": lambda: transformers.ViTConfig(**inner, image_size=8, patch_size=4),
    }
    for name, make in makers.items():
        kind = getattr(transformers, f"{name}Model")
        # A config of its own for each: the way of attending is kept in it.
        fused = kind._from_config(make(), attn_implementation="sdpa").eval()
        plain = kind._from_config(make(), attn_implementation="eager").eval()
        draw(fused)
        plain.load_state_dict(fused.state_dict())
        if name == "ViT":
            given: dict[str, Tensor] = {"pixel_values": torch.randn(2, 3, 8, 8)}
        else:
            mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
            given = {"input_ids": torch.randint(0, 31, (2, 7)), "attention_mask": mask}
        with torch.no_grad():
            theirs = plain(**given, output_attentions=True).attentions
        yield compared(f"transformers {name}", fused, given, theirs)


def timm_row() -> Row:
    import timm

    fused, plain = (
        timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64).eval()
        for _ in range(2)
    )
    draw(fused)
    plain.load_state_dict(fused.state_dict())
    theirs: list[Tensor] = []
    for part in plain.modules():
        if hasattr(part, "fused_attn"):
            part.fused_attn = False
            # What the values are multiplied with: the weights, after a dropout that rests.
            part.attn_drop.register_forward_hook(lambda _, __, output: theirs.append(output))
    image = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        plain(image)
    return compared("timm ViT", fused, {"x": image}, theirs)


def compared(name: str, model: nn.Module, given: dict[str, Tensor], theirs: Any) -> Row:
    fused = count_fused(model, given)
    ours = list(read_attention(model, **given).values())
    difference = max(
        float((one - other).abs().max()) for one, other in zip(ours, theirs, strict=True)
    )
    return {
        "name": name,
        "layers": len(ours),
        "fused": fused,
        "largest": max(float(weights.max()) for weights in ours),
        "difference": difference,
        "equal": fused == len(ours) > 0 and difference < TOLERANCE,
    }


def count_fused(model: nn.Module, given: dict[str, Tensor]) -> int:
    calls = 0

    def note(func: Any, _: Any, __: Any, result: Any) -> Any:
        nonlocal calls
        calls += func is functional.scaled_dot_product_attention
        return result

    with torch.no_grad(), WatchedCalls(note):
        model(**given)
    return calls


def draw(model: nn.Module) -> None:
    torch.manual_seed(1)
    for weight in model.parameters():
        if weight.ndim > 1:
            nn.init.normal_(weight, std=SPREAD if weight.shape[-1] < 100 else 0.1)


if __name__ == "__main__":
    sys.exit(main())
