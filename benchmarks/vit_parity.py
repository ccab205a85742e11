"""The same weights, the same outputs as `transformers`: the vision transformer.

Several sizes of images and patches, float32 and float64. Our weights go through a folder that
`from_pretrained` opens, by the names of published files. Prints the largest difference of a logit;
fails above 1e-4 and 1e-10. Where there is `.venv-bench`, it runs there.

`--write-fixture` writes a small one, its images and logits to tests/models/vision, where it is
compared without `transformers`.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

import torch
from environment import enter_bench_environment
from safetensors.torch import load_file, save_file
from torch import nn

from netwright.data.spec import DataSpec
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.exchange.vit_weights import to_vit
from netwright.models.vision.vit import ViT, ViTConfig

CLASSES, ROWS = 7, 3
SHAPES = ((1, 2, 16, 8, 4, 3), (3, 4, 32, 28, 7, 1), (2, 12, 96, 32, 16, 3))
SPREAD = 0.1  # of logits, at least: a network that says nothing agrees with any
ALLOWED = {torch.float32: 1e-4, torch.float64: 1e-10}
FIXTURE = Path(__file__).parents[1] / "tests/models/vision/vit_tiny.safetensors"
TINY = (2, 2, 8, 6, 3, 2)  # layers, heads, width, side, patch, channels


def build(layers: int, heads: int, width: int, side: int, patch: int, channels: int) -> ViT:
    """Ours, with weights that tell images apart."""
    spec = DataSpec(
        inputs="image", input_shape=(channels, side, side), target="class", num_outputs=CLASSES
    )
    config = ViTConfig(layers=layers, heads=heads, width=width, patch=patch, norm_eps=1e-12)
    model = ViT.build(config, spec).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.2)
    return model


def config_of(layers: int, heads: int, width: int, side: int, patch: int, channels: int) -> str:
    """The config.json of the same network."""
    return json.dumps(
        {
            "model_type": "vit",
            "architectures": ["ViTForImageClassification"],
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": 4 * width,
            "hidden_act": "gelu",
            "image_size": side,
            "patch_size": patch,
            "num_channels": channels,
            "layer_norm_eps": 1e-12,
            "id2label": {str(place): str(place) for place in range(CLASSES)},
        }
    )


def write_fixture() -> None:
    """One small network with its logits."""
    import transformers

    torch.manual_seed(0)
    config = transformers.ViTConfig(**json.loads(config_of(*TINY)))
    theirs = transformers.ViTForImageClassification(config).eval()
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.2)
    images = torch.randn(ROWS, TINY[5], TINY[3], TINY[3])
    with torch.no_grad():
        logits = theirs(images).logits
    with tempfile.TemporaryDirectory() as place:  # files have other names than what is in memory
        theirs.save_pretrained(place)
        weights = load_file(Path(place) / "model.safetensors")
    save_file({**weights, "images": images, "logits": logits}, FIXTURE)


def main() -> None:
    """Compare all, and say the worst."""
    enter_bench_environment()
    import transformers

    if "--write-fixture" in sys.argv[1:]:
        write_fixture()
        return

    worst = dict.fromkeys(ALLOWED, 0.0)
    torch.manual_seed(0)
    for shape in SHAPES:
        ours, again = build(*shape), build(*shape)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "config.json").write_text(config_of(*shape), encoding="utf-8")
            save_file(to_vit(ours.state_dict()), folder / "model.safetensors", {"format": "pt"})
            theirs, told = transformers.ViTForImageClassification.from_pretrained(
                folder, output_loading_info=True
            )
            if told["missing_keys"] or told["unexpected_keys"]:
                raise SystemExit(f"the names differ: {told}")
            theirs.save_pretrained(folder / "theirs")
            again.load_state_dict(
                read_foreign_weights(folder / "theirs" / "model.safetensors", again)
            )
        images = torch.randn(ROWS, shape[5], shape[3], shape[3])
        for kind in ALLOWED:
            given = images.to(kind)
            with torch.no_grad():
                wanted = theirs.eval().to(kind)(given).logits
                gaps = [(model.to(kind)(given) - wanted).abs().max() for model in (ours, again)]
            apart = float(torch.stack(gaps).max())
            if not math.isfinite(apart) or float(wanted.std()) < SPREAD:
                raise SystemExit(f"{kind}: a difference is {apart}, logits spread {wanted.std()}")
            worst[kind] = max(worst[kind], apart)
            for model in (ours, again, theirs):
                model.float()
    for kind, allowed in ALLOWED.items():
        print(f"{kind}: largest difference {worst[kind]:.2e}, allowed {allowed:.0e}")
    if any(worst[kind] > allowed for kind, allowed in ALLOWED.items()):
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
