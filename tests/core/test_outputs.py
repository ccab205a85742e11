"""Outputs: the main tensor is found whichever way a model returns it."""

import torch

from netwright.core.outputs import Output, logits_of


def test_logits_of_a_tensor_are_the_tensor_itself() -> None:
    logits = torch.zeros(2, 3)
    assert logits_of(logits) is logits


def test_logits_of_an_output_are_its_main_part() -> None:
    logits, side = torch.zeros(2, 3), torch.ones(2, 3)
    output = Output(logits=logits, aux=(side,))
    assert logits_of(output) is logits
    assert output.aux[0] is side
    assert Output(logits=logits).aux == ()
