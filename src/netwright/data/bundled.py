"""Real data that comes with scikit-learn: no network, no files.

Features are standardised on the training rows; the digits are images scaled to [0, 1].

Source: scikit-learn, `sklearn.datasets`; the origin of each set stands beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from netwright.core.config import Doc
from netwright.data.arrays import Names, arrays_config, from_arrays
from netwright.data.dataset import Data
from netwright.data.source import DataConfig, Source

UCI_LICENCE = "CC BY 4.0"
UNSTATED = "not stated"


@dataclass(frozen=True, kw_only=True)
class FeaturesConfig(DataConfig):
    """How the rows are divided, and whether the features are brought to one scale."""

    standardize: Annotated[
        bool,
        Doc("standardise each feature to mean 0 and standard deviation 1 on the training rows"),
    ] = True


def load_classes(name: str, config: FeaturesConfig) -> Data:
    """Features and named classes, as scikit-learn orders them."""
    table = _table(name)
    classes = _texts(table.target_names)
    return from_arrays(
        table.data,
        np.array(classes)[table.target],
        config=arrays_config(config, kind="class", standardize=config.standardize),
        name=name,
        names=Names(features=_texts(table.feature_names), classes=classes),
    )


def load_diabetes(config: FeaturesConfig) -> Data:
    """Ten measurements in their own units, and the disease's progression a year later."""
    table = _table("diabetes", scaled=False)
    return from_arrays(
        table.data,
        table.target,
        config=arrays_config(config, kind="real", standardize=config.standardize),
        name="diabetes",
        names=Names(features=_texts(table.feature_names), targets=("progression",)),
    )


def load_linnerud(config: FeaturesConfig) -> Data:
    """Three exercises, and three measurements of the body."""
    table = _table("linnerud")
    return from_arrays(
        table.data,
        table.target,
        config=arrays_config(config, kind="real", standardize=config.standardize),
        name="linnerud",
        names=Names(features=_texts(table.feature_names), targets=_texts(table.target_names)),
    )


def load_digits(config: DataConfig) -> Data:
    """Images (1, 8, 8) with pixels from 0 to 16, scaled to [0, 1]."""
    table = _table("digits")
    return from_arrays(
        table.images[:, None],
        table.target,
        config=arrays_config(config, kind="class", factor=1 / 16),
        name="digits",
    )


def _texts(names: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(name) for name in names)  # scikit-learn gives some of them as NumPy text


def _table(name: str, **settings: Any) -> Any:
    """What scikit-learn's own loader gives."""
    from sklearn import datasets  # noqa: PLC0415 - it costs a second

    return getattr(datasets, f"load_{name.replace('-', '_')}")(**settings)


IRIS = Source(
    config=FeaturesConfig,
    load=partial(load_classes, "iris"),
    sentence="150 iris flowers, 4 measurements in cm, 3 species",
    origin="Fisher, The use of multiple measurements in taxonomic problems (1936)",
    licence=UCI_LICENCE,
)
WINE = Source(
    config=FeaturesConfig,
    load=partial(load_classes, "wine"),
    sentence="178 wines, 13 chemical measurements on very different scales, 3 growers",
    origin="Forina et al., UCI Wine (1991)",
    licence=UCI_LICENCE,
)
BREAST_CANCER = Source(
    config=FeaturesConfig,
    load=partial(load_classes, "breast-cancer"),
    sentence="569 tumours, 30 measurements of cell nuclei, malignant or benign",
    origin="Wolberg et al., UCI Breast Cancer Wisconsin (Diagnostic) (1995)",
    licence=UCI_LICENCE,
)
DIGITS = Source(
    config=DataConfig,
    load=load_digits,
    sentence="1,797 handwritten digits as 8 x 8 images, 10 classes",
    origin="Alpaydin and Kaynak, UCI Optical Recognition of Handwritten Digits (1998)",
    licence=UCI_LICENCE,
)
DIABETES = Source(
    config=FeaturesConfig,
    load=load_diabetes,
    sentence="442 patients, 10 measurements, 1 real target: disease progression after a year",
    origin="Efron et al., Least angle regression (2004)",
    licence=UNSTATED,
)
LINNERUD = Source(
    config=FeaturesConfig,
    load=load_linnerud,
    sentence="20 men, 3 exercises, 3 real targets: weight, waist and pulse",
    origin="Tenenhaus, La regression PLS (1998), data of A. C. Linnerud",
    licence=UNSTATED,
)
