"""What every model of token sequences promises beside the contract of models.

    @pytest.mark.parametrize("check", SEQUENCE_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_sequence_contract(check):
        check(lambda: MyModel.build(MyConfig(), spec))

A check that is not about this kind of data passes: causality is for who predicts the next token,
padding for who is given some.

Shapes: B batch, T steps, V tokens.
"""

from typing import Any

import torch
from torch import Tensor

from netwright.testing.model_contract import Build, build_with_seed, outputs_of, sample_inputs


def check_never_sees_later_tokens(build: Build) -> None:
    """What is said after a token does not change with those that follow, by not one bit."""
    model = build_with_seed(build)
    if model.spec.target != "tokens" or model.spec.inputs == "masked":
        return
    tokens = sample_inputs(model.spec, 5)
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % model.spec.num_outputs
    before, after = outputs_of(model, tokens)[:, :-1], outputs_of(model, changed)[:, :-1]
    assert torch.equal(before, after), "an earlier output depends on the last token"


def check_steps_as_it_reads(build: Build) -> None:
    """Token by token, with what it kept, it says what it says of the whole at once."""
    model: Any = build_with_seed(build)
    if model.spec.target != "tokens" or model.spec.inputs != "tokens":
        return
    tokens = sample_inputs(model.spec, 3)
    whole = outputs_of(model, tokens)
    with torch.no_grad():
        logits, state = model.read(tokens[:, :2])
        said: list[Tensor] = [logits]
        for place in range(2, tokens.shape[1]):
            logits, state = model.step(tokens[:, place], state)
            said.append(logits)
    torch.testing.assert_close(torch.stack(said, dim=1), whole[:, 1:], rtol=1e-4, atol=1e-5)


def check_does_not_read_padding(build: Build) -> None:
    """The same with less padding; longer neighbours in a batch do not matter."""
    model = build_with_seed(build)
    if model.spec.padding is None or model.spec.inputs != "tokens":
        return
    tokens = sample_inputs(model.spec, 5)
    tokens[:, -1] = model.spec.padding
    tokens[:, 0] = (model.spec.padding + 1) % model.spec.vocab_size
    longer, shorter = outputs_of(model, tokens), outputs_of(model, tokens[:, :-1])
    if model.spec.target in {"tokens", "tags", "span", "none"}:  # something is said of each token
        longer = longer[:, :-1]
    torch.testing.assert_close(longer, shorter, msg=lambda text: f"with more padding: {text}")


SEQUENCE_CHECKS = (
    check_never_sees_later_tokens,
    check_steps_as_it_reads,
    check_does_not_read_padding,
)
