"""What `transformers` calls a task of classes, and their names, in a config.json."""

from typing import Any

from netwright.data.spec import DataSpec

PROBLEMS = {"class": "single_label_classification", "labels": "multi_label_classification"}


def task_labels(spec: DataSpec) -> dict[str, Any]:
    """The names of classes, labels or tags, and of classes and labels which of both they are."""
    names = spec.class_names
    told: dict[str, Any] = {
        "id2label": {str(place): name for place, name in enumerate(names)},
        "label2id": {name: place for place, name in enumerate(names)},
    }
    return {**told, **({"problem_type": PROBLEMS[spec.target]} if spec.target in PROBLEMS else {})}
