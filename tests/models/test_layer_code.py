"""The code of a model: the functions of its layers that the formula of its card is about."""

from netwright.layers.recurrence.linear_recurrence import LinearRecurrence
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU
from netwright.layers.recurrence.recurrent_cells import lstm_step
from netwright.layers.recurrence.scan import scan_by_steps
from netwright.models.catalog import MODELS
from netwright.models.mlp import MLP
from tests.repetition import for_each

SEQUENCES = [name for name in MODELS if MODELS.load(name).inputs & {"tokens", "pairs"}]


@for_each("name", SEQUENCES)
def test_every_model_that_reads_tokens_shows_what_its_layers_compute(name: str) -> None:
    assert MODELS.load(name).code


def test_a_recurrent_network_is_its_step_and_a_linear_one_its_coefficients_and_their_scan() -> None:
    assert MODELS.load("lstm").code == (lstm_step,)
    linear = (MinimalGRU.coefficients, LinearRecurrence.forward, scan_by_steps)
    assert MODELS.load("mingru").code == linear


def test_a_larger_gpt_is_made_of_the_same_block() -> None:
    assert MODELS.load("gpt2-xl").code == MODELS.load("gpt").code


def test_other_models_say_all_in_their_own_forward() -> None:
    assert MLP.code == ()
