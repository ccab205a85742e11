"""GPT-2's weights and ours: turned maps, prefixes, masks, and the head that is the embedding.

`gpt2_tiny.safetensors` was written by benchmarks/transformers_parity.py: a GPT2LMHeadModel of
`transformers`, a few texts, and the logits that it gives. It stands in for `transformers`, which
the tests do not import.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.exchange.gpt2_weights import from_gpt2, is_gpt2, to_gpt2
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.recipes.saved.start_from import take_weights

FOLDER = Path(__file__).parents[1] / "transformers"
SHAPE = json.loads((FOLDER / "gpt2_tiny.json").read_text())
STORED = load_file(FOLDER / "gpt2_tiny.safetensors")
EXAMPLES = {name: STORED.pop(name) for name in ("tokens", "counted", "logits")}
HEAD = "lm_head.weight"


def build(target: str = "tokens", outputs: int = SHAPE["vocab_size"], **settings: Any) -> GPT:
    spec = DataSpec.from_json(
        {
            "inputs": "tokens",
            "input_shape": [SHAPE["n_positions"]],
            "target": target,
            "num_outputs": outputs,
            "vocab_size": SHAPE["vocab_size"],
        }
    )
    config = GPTConfig(
        layers=SHAPE["n_layer"], heads=SHAPE["n_head"], width=SHAPE["n_embd"], **settings
    )
    with seeded(3):
        return GPT.build(config, spec).eval()


def saved(folder: Path, weights: dict[str, Tensor]) -> Path:
    path = folder / "model.safetensors"
    save_file({name: value.contiguous().clone() for name, value in weights.items()}, path)
    return path


def renamed(prefix: str) -> dict[str, Tensor]:
    """The stored weights as different releases keep them."""
    bare = {name.removeprefix("transformer."): value for name, value in STORED.items()}
    masks = {"h.0.attn.bias": torch.ones(1, 1, 12, 12), "h.0.attn.masked_bias": torch.ones(())}
    return {prefix + name: value for name, value in {**bare, **masks}.items()}


def differs_by(model: GPT) -> float:
    """The largest difference of a logit of a token that counts."""
    counted = EXAMPLES["counted"].bool()
    with torch.no_grad():
        logits = model(EXAMPLES["tokens"])
    return float((logits - EXAMPLES["logits"])[counted].abs().max())


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("prefix", ["transformer.", ""])
def test_stored_weights_give_the_logits_that_transformers_gave(
    tmp_path: Path, prefix: str, head: bool, tied: bool
) -> None:
    own = renamed(prefix)
    again = {HEAD: own[f"{prefix}wte.weight"]} if head else {}
    model = build(tied=tied)
    assert differs_by(model) > 0.1
    model.load_state_dict(read_foreign_weights(saved(tmp_path, {**own, **again}), model))
    assert differs_by(model) < 1e-5


def test_our_weights_go_there_and_back_and_are_known_by_their_shape() -> None:
    for tied in (True, False):
        state = build(tied=tied).state_dict()
        theirs = to_gpt2(state)
        assert theirs["transformer.h.1.mlp.c_fc.weight"].shape == (16, 64)
        assert is_gpt2(theirs)
        assert not is_gpt2(state)
        back = from_gpt2(theirs, state)
        assert back.keys() == state.keys()
        assert all(torch.equal(back[name], state[name]) for name in state)
    assert to_gpt2(build().state_dict()).keys() == {*STORED, HEAD}


def test_a_file_of_ours_is_read_as_it_is(tmp_path: Path) -> None:
    state = build().state_dict()
    weights = read_foreign_weights(saved(tmp_path, state), build())
    assert all(torch.equal(weights[name], state[name]) for name in state)


def test_a_head_of_its_own_does_not_fit_a_tied_model(tmp_path: Path) -> None:
    path = saved(tmp_path, {**STORED, HEAD: torch.zeros(31, 16)})
    fault = "'lm_head.weight' is unknown"
    with pytest.raises(ConfigError) as refused:
        read_foreign_weights(path, build())
    assert str(refused.value) == f"the names in {path} do not fit this model: {fault}"


def test_a_classifier_begins_with_the_blocks_and_a_new_head(tmp_path: Path) -> None:
    model = build("class", outputs=3)
    drawn = model.state_dict()["head.weight"].clone()
    told = take_weights(model, saved(tmp_path, STORED))
    assert told == ("new head: head has 3 outputs instead of 31",)
    assert torch.equal(model.state_dict()["head.weight"], drawn)
    assert torch.equal(model.state_dict()["wte.weight"], STORED["transformer.wte.weight"])
