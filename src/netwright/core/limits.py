"""How much a file that comes from elsewhere may ask for: one table, each limit with its setting.

A few bytes can ask for gigabytes: an archive, the head of an image, the width of a layer. Each such
number is compared with its limit before anything is made for it. The limits lie above what is met
in practice; whoever trusts a larger file raises the limit by its environment variable.
"""

import math
import os
from dataclasses import dataclass

from netwright.core.errors import ConfigError, DataError


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One limit.

    Args:
        variable: the environment variable that sets it.
        default: where that is not set.
        unit: of both.
        bounds: what must not be more.
    """

    variable: str
    default: float
    unit: str
    bounds: str

    @property
    def value(self) -> float:
        """The limit that holds now."""
        text = os.environ.get(self.variable, "")
        try:
            value = float(text or self.default)
        except ValueError:
            value = math.nan
        if not value > 0:  # written this way round so that NaN is refused too
            raise ConfigError(f"{self.variable} must be a positive number, got {text!r}")
        return value

    @property
    def way_out(self) -> str:
        """What the limit is and how it is raised: the end of a refusal."""
        return (
            f"at most {_shown(self.value)} {self.unit} are allowed; if you trust it, raise "
            f"{self.variable}"
        )

    def check(self, what: object, amount: float, claim: str = "holds") -> None:
        """Refuse more than the limit.

        Args:
            what: the file, or the part of it.
            amount: what it asks for, in the limit's unit.
            claim: the verb of the refusal.
        """
        if amount > self.value:
            raise DataError(f"{what} {claim} {_shown(amount)} {self.unit}, {self.way_out}")


def _shown(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 1000 else f"{amount:.4g}"


CONTENT = Limit(
    variable="NETWRIGHT_MAX_CONTENT_GB",
    default=4,
    unit="GB",
    bounds="one table, or all texts, read into memory together, uncompressed",
)
UNPACKED = Limit(
    variable="NETWRIGHT_MAX_UNPACK_RATIO",
    default=100,
    unit="times the packed bytes",
    bounds="the uncompressed size of an archive, beyond its first 32 MB",
)
COLUMNS = Limit(
    variable="NETWRIGHT_MAX_COLUMNS",
    default=100_000,
    unit="columns",
    bounds="the columns of a table",
)
PIXELS = Limit(
    variable="NETWRIGHT_MAX_MEGAPIXELS",
    default=2**27 / 1e6,  # 11,585 x 11,585 pixels
    unit="million pixels",
    bounds="one image, by its header",
)
DECODING = Limit(
    variable="NETWRIGHT_MAX_DECODING_GB",
    default=1,
    unit="GB",
    bounds="the images that are decoded at once",
)
INPUT = Limit(
    variable="NETWRIGHT_MAX_INPUT_NUMBERS",
    default=2**26,  # 4,700 x 4,700 pixels in colour
    unit="numbers",
    bounds="one example, as passed to the model",
)
WEIGHTS = Limit(
    variable="NETWRIGHT_MAX_MODEL_GB",
    default=8,  # GPT-2 XL takes 6.2
    unit="GB",
    bounds="the weights and buffers of a model",
)
TENSORS = Limit(
    variable="NETWRIGHT_MAX_TENSORS",
    default=10_000,
    unit="weights and buffers",
    bounds="the tensors of a model",
)
FILES = Limit(
    variable="NETWRIGHT_MAX_FILES",
    default=10_000,
    unit="entries",
    bounds="the entries of a folder that is verified",
)
RECORD = Limit(
    variable="NETWRIGHT_MAX_RECORD_MB",
    default=256,
    unit="MB",
    bounds="one file without tensors in a run or search folder",
)
WORKERS = Limit(
    variable="NETWRIGHT_MAX_WORKERS",
    default=128,
    unit="workers",
    bounds="the worker processes that load data for one run",
)
LIMITS = (
    *(CONTENT, UNPACKED, COLUMNS, PIXELS, DECODING, INPUT, WEIGHTS, TENSORS, FILES, RECORD),
    WORKERS,
)
