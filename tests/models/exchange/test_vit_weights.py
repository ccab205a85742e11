"""ViT's weights by the names of `transformers`: there and back, by the names of published files."""

import torch

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.exchange.vit_weights import from_vit, is_vit, to_vit
from netwright.models.vision.vit import ViT, ViTConfig

SPEC = DataSpec(inputs="image", input_shape=(3, 8, 8), target="class", num_outputs=5)


def weights_of() -> dict[str, torch.Tensor]:
    with seeded(0):
        return ViT.build(ViTConfig(layers=2, heads=2, width=4), SPEC).state_dict()


def test_there_and_back_they_are_the_same() -> None:
    ours = weights_of()
    theirs = to_vit(ours)
    assert is_vit(theirs)
    again = from_vit(theirs)
    assert again.keys() == ours.keys()
    for name, value in ours.items():
        assert torch.equal(again[name], value), name


def test_names_are_those_of_published_files() -> None:
    theirs = to_vit(weights_of())
    block = "vit.encoder.layer.1"
    for name, shape in {
        "vit.embeddings.cls_token": (1, 1, 4),
        "vit.embeddings.position_embeddings": (1, 5, 4),
        "vit.embeddings.patch_embeddings.projection.weight": (4, 3, 4, 4),
        f"{block}.attention.attention.key.bias": (4,),
        f"{block}.attention.output.dense.weight": (4, 4),
        f"{block}.layernorm_before.weight": (4,),
        f"{block}.intermediate.dense.weight": (16, 4),
        "vit.layernorm.bias": (4,),
        "classifier.weight": (5, 4),
    }.items():
        assert tuple(theirs[name].shape) == shape, name
    assert from_vit({"vit.pooler.dense.bias": torch.zeros(4)}).keys() == {"pooler.dense.bias"}
