"""Tables of names: fused maps come apart and together again, and what has no place stays."""

import torch

from netwright.models.exchange.layer_names import BlockNames, LayerNames

NAMES = LayerNames(
    stacks=(
        BlockNames(
            theirs="layer.", ours="h.", parts={"o": "out"}, fused={"both": ("left", "right")}
        ),
    ),
    others={"first.weight": "wte.weight"},
)


def test_a_fused_map_is_the_rows_of_its_pieces_in_order() -> None:
    ours = {
        "wte.weight": torch.ones(1),
        "h.10.out.bias": torch.zeros(2),
        "h.10.both.weight": torch.arange(4.0)[:, None],
    }
    theirs = NAMES.to_theirs(ours)
    assert theirs.keys() == {
        "first.weight",
        "layer.10.o.bias",
        "layer.10.left.weight",
        "layer.10.right.weight",
    }
    assert theirs["layer.10.right.weight"].flatten().tolist() == [2, 3]
    again = NAMES.to_ours(theirs)
    assert again.keys() == ours.keys()
    assert all(torch.equal(again[name], ours[name]) for name in ours)


def test_what_has_no_place_keeps_its_name() -> None:
    odd = {"layer.0.new.weight": torch.ones(1), "other": torch.ones(1)}
    assert NAMES.to_ours(odd).keys() == odd.keys()
    assert NAMES.to_theirs({"other": torch.ones(1)}).keys() == {"other"}


def test_pieces_that_are_none_of_one_map_keep_their_names() -> None:
    for left, right in [((2, 3), (2, 4)), ((), ()), ((2,), ())]:
        pieces = {
            "layer.0.left.weight": torch.ones(left),
            "layer.0.right.weight": torch.ones(right),
        }
        assert "layer.0.left.weight" in NAMES.to_ours(pieces)
