"""What a run is made of."""

from netwright.recipes.saved.run_record import RunRecord
from netwright.train.watching.layer_history import LayerHistory


def test_layers_that_nobody_watched_have_an_empty_history(moons_run: RunRecord) -> None:
    parts = {name: value for name, value in vars(moons_run).items() if name in vars_of_a_record()}
    first = RunRecord(**{**parts, "layer_history": LayerHistory()})
    parts.pop("layer_history")
    second, third = RunRecord(**parts), RunRecord(**parts)
    assert second.layer_history.to_text() == first.layer_history.to_text() == ""
    assert second.layer_history is not third.layer_history
    assert second != third  # a run is itself, not what it holds


def vars_of_a_record() -> set[str]:
    return set(RunRecord.__dataclass_fields__)
