"""Names that an estimator does not take are none that it takes."""

from netwright.core.config import field_names
from netwright.models.catalog import MODELS
from netwright.recipes.estimators.instead import INSTEAD
from netwright.train.settings import TrainConfig


def test_no_name_that_is_told_of_is_a_setting_of_a_model() -> None:
    known = {name for one in MODELS for name in field_names(MODELS.load(one).settings)}
    assert not known & INSTEAD.keys()
    assert not set(field_names(TrainConfig)) & INSTEAD.keys()
