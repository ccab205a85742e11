"""The names of classes, labels and tags in a config.json."""

from dataclasses import replace

from netwright.data.spec import DataSpec
from netwright.models.exchange.task_labels import task_labels

SPEC = DataSpec(
    inputs="tokens", input_shape=(3,), target="class", num_outputs=2, class_names=("no", "yes")
)


def test_names_are_told_both_ways_and_the_problem_where_there_is_one() -> None:
    told = task_labels(SPEC)
    assert told["id2label"] == {"0": "no", "1": "yes"}
    assert told["label2id"] == {"no": 0, "yes": 1}
    assert told["problem_type"] == "single_label_classification"
    labels = task_labels(replace(SPEC, target="labels"))
    assert labels["problem_type"] == "multi_label_classification"
    assert "problem_type" not in task_labels(replace(SPEC, target="tags"))
