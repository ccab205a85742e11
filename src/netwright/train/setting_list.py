"""The settings of training as a list shows them, group by group in the order of the groups."""

import re
from typing import NamedTuple

from netwright.core.config import describe
from netwright.train.settings import TrainConfig


class ListedSetting(NamedTuple):
    """What a list says of a setting: its group, and what it does."""

    sentence: str


def _in_words(group: type) -> str:
    """The name of a group: FineTuning is fine tuning."""
    return re.sub("(?<!^)([A-Z])", r" \1", group.__name__).lower()


SETTINGS = {
    f"train.{field.name}": ListedSetting(f"{_in_words(group)}: {field.doc}")
    for group in reversed(TrainConfig.__bases__)
    for field in describe(group)
}
