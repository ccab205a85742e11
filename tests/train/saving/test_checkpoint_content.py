"""What a checkpoint holds is taken from the run without a copy, as files that are read again."""

import json

from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.saving.checkpoint_content import FILES, by_name, take_content
from tests.train.toy_runs import toy_start


def test_tensors_are_the_runs_own_and_the_rest_is_plain() -> None:
    state = toy_start()
    content = take_content(state, [EarlyStopping()])
    assert content.own is None  # one process divides nothing
    assert content.weights.keys() == state.model.state_dict().keys()
    for name, weight in state.model.named_parameters():
        assert content.weights[name].data_ptr() == weight.data_ptr(), name
    values = json.loads(content.values)
    assert (values["format"], values["step"], values["history"]) == (1, 0, [])
    assert "callbacks/EarlyStopping/best" in values["pieces"]
    assert "parts" not in values
    assert list(content.files()) == list(FILES)


def test_two_callbacks_of_a_class_have_two_names() -> None:
    first, second = EarlyStopping(), EarlyStopping("val/accuracy")
    assert by_name([first, second]) == {"EarlyStopping": first, "EarlyStopping 2": second}
