"""The New York Stock Exchange, day by day: forecast the volume of trading from five days.

The first 17 years train, the last 7 test, as they were published; the end of the training part is
held out to choose by.

Shapes: N days, T days of a window, inputs (N, T, 3), with the day of the week (N, T, 8).
Source: LeBaron and Weigend, "A bootstrap evaluation of the effect of data splitting on financial
time series" (1998); James et al., "An Introduction to Statistical Learning" (2021), section 10.5.
"""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.dataset import Data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.series.table import SeriesConfig, from_frame
from netwright.data.source import Source

PLACE = "https://raw.githubusercontent.com/jonathan-taylor/ISLP"
FILE = RemoteFile(
    name="NYSE.csv",
    addresses=(f"{PLACE}/b5ce5f2e42744fc80ea60511d3bb2e0b7317364b/ISLP/data/NYSE.csv",),
    size=371_105,
    sha256="4bb3e2e9872b2f7e6e8701afb8873cd9f4b7e66ee0b1ba62c116ff2b3a2eec60",
)


@dataclass(frozen=True, kw_only=True)
class NyseConfig(Config):
    """What the published division into train and test leaves to choose."""

    window: Annotated[Size, Doc("number of past days to read")] = 5
    day_of_week: Annotated[bool, Doc("include the weekday of the forecast")] = False
    val_size: Annotated[
        Fraction, Doc("fraction of the training days, the last ones, used for validation")
    ] = 0.1


def load_nyse(config: NyseConfig) -> Data:
    """The log of the trading volume from the volumes, returns and volatilities before."""
    settings = SeriesConfig(
        target=("log_volume",),
        window=config.window,
        features=("log_volume", "DJ_return", "log_volatility"),
        known=("day_of_week",) if config.day_of_week else (),
        time="date",
        split_column="train",
        val_size=config.val_size,
    )
    return from_frame(fetch("islr", FILE), settings, name="nyse")


SOURCE = Source(
    config=NyseConfig,
    load=load_nyse,
    sentence="6,051 days of the New York Stock Exchange, 1962 to 1986: tomorrow's log volume",
    origin="LeBaron and Weigend, IEEE Transactions on Neural Networks 9 (1998)",
    licence="3-clause BSD, as the package ISLP that holds it",
    published=True,
)
