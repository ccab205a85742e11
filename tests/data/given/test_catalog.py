"""Each object finds its form."""

import numpy as np
import pandas as pd
import pytest

from netwright.core.errors import ConfigError
from netwright.data.given.arrays import ARRAYS
from netwright.data.given.catalog import FORMS, form_of
from netwright.data.given.datasets import DATASET
from netwright.data.given.frames import FRAME
from netwright.data.given.labelled_frames import LABELLED_FRAME
from netwright.data.given.loaders import LOADER
from netwright.data.given.pictures import LABELLED_PICTURES
from netwright.data.given.several_inputs import SEVERAL_INPUTS
from netwright.data.given.texts import LABELLED_TEXTS, TEXTS
from tests.data.batches.loaders import Noisy, noisy_loader


def test_each_form_is_found() -> None:
    assert form_of(pd.DataFrame()) is FRAME
    mixed = pd.DataFrame({"x": [1.0, 2.0], "colour": ["red", "blue"]})
    assert form_of((mixed, mixed["x"])) is LABELLED_FRAME
    assert form_of((mixed[["x"]], mixed["x"])) is ARRAYS
    assert form_of(["a text", "another"]) is TEXTS
    assert form_of((["a text", "another"], [0, 1])) is LABELLED_TEXTS
    two = {"numbers": np.zeros((4, 2)), "place": np.zeros(4, int)}
    assert form_of((two, [0, 1, 0, 1])) is SEVERAL_INPUTS
    assert form_of((tuple(two.values()), [0, 1, 0, 1])) is SEVERAL_INPUTS
    assert form_of((["a.png", "b.png"], [0, 1])) is LABELLED_PICTURES
    assert form_of((np.zeros((4, 2)), np.zeros(4))) is ARRAYS
    assert form_of(noisy_loader()) is LOADER
    assert form_of(Noisy()) is DATASET


def test_what_has_no_form_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"^data must be a name, a path, Data, .*; got int$") as e:
        form_of(3)
    assert all(form.name in str(e.value) for form in FORMS)
