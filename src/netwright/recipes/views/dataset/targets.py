"""The views of what there is to predict, split by split: `class-balance` and `target-spread`.

They are of the whole data, whose targets are in memory, also where only a sample is looked at.
"""

from torch import Tensor

from netwright.core.config import NoSettings
from netwright.inspection.dataset.class_balance import ClassBalance, measure_class_balance
from netwright.inspection.dataset.target_spread import TargetSpread, measure_target_spread
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject


def _targets(subject: Subject) -> dict[str, Tensor]:
    return {name: split.targets.cpu() for name, split in subject.data.whole.splits()}


def _measure_balance(subject: Subject, _: NoSettings) -> ClassBalance:
    return measure_class_balance(_targets(subject), subject.run.spec.class_names)


def _measure_spread(subject: Subject, _: NoSettings) -> TargetSpread:
    return measure_target_spread(_targets(subject), subject.run.spec.target_names)


CLASS_BALANCE = ViewEntry(
    card=report_card("How much of each split is of each class."),
    measure=_measure_balance,
    refusal=only_of("shares are", "class", "labels"),
    section="data",
    code=(measure_class_balance,),
)
TARGET_SPREAD = ViewEntry(
    card=report_card("What values there are to predict, split by split."),
    measure=_measure_spread,
    refusal=only_of("a spread is", "real"),
    section="data",
    code=(measure_target_spread,),
)
