"""A ViT's config.json: its sizes, images that are no squares, and what has no place there."""

from netwright.data.spec import DataSpec
from netwright.models.exchange.vit_config import differs_from_vit, to_vit_config
from netwright.models.vision.vit import ViT, ViTConfig

SPEC = DataSpec(
    inputs="image", input_shape=(3, 8, 12), target="class", num_outputs=2, class_names=("a", "b")
)


def build(spec: DataSpec = SPEC, pool: str = "class", patch: int = 4) -> ViT:
    settings = {"layers": 1, "heads": 2, "width": 8, "patch": patch, "pool": pool}
    return ViT.build(ViTConfig(**settings), spec)  # type: ignore[arg-type]


def test_sizes_are_told() -> None:
    told = to_vit_config(build())
    assert (told["image_size"], told["num_channels"], told["patch_size"]) == ([8, 12], 3, 4)
    assert (told["hidden_size"], told["intermediate_size"]) == (8, 32)
    assert (told["num_hidden_layers"], told["num_attention_heads"]) == (1, 2)


def test_what_has_no_place_there_is_told() -> None:
    assert not differs_from_vit(build())
    assert differs_from_vit(build(pool="mean")).startswith("the mean of all patches is read out")
    wanted = "images of 8 x 12 pixels are no whole patches of 5 (model.patch)"
    assert differs_from_vit(build(patch=5)) == wanted
