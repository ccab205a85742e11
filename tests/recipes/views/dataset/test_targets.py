"""What there is to predict: shares of classes or labels, the spread of reals, nothing of others."""

import netwright as nw
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.recipes.views.dataset.targets import CLASS_BALANCE, TARGET_SPREAD
from netwright.recipes.views.subject import Subject


def test_the_balance_is_that_of_all_splits_of_the_data(moons_run: nw.Run) -> None:
    splits = {name: split.targets for name, split in moons_run.data.splits()}
    subject = Subject(moons_run, *moons_run.data_at_hand())
    whole = measure_class_balance(splits, moons_run.spec.class_names)
    assert CLASS_BALANCE.show(subject, {}) == whole


def test_classes_have_no_spread(moons_run: nw.Run) -> None:
    reason = TARGET_SPREAD.refusal(Subject(moons_run, None))
    assert reason.startswith("a spread is for real values, this run predicts classes; ")
