"""Memory that ran out, as one sentence: how much was asked for, and what makes it less.

Python, numpy and torch each raise an error of their own, in words of their own.
"""

import re

SHORT = re.compile(
    r"can't allocate memory|not enough memory|out of memory|bad_alloc", re.IGNORECASE
)
AMOUNT = re.compile(r"allocate ([\d.]+ (?:bytes|[KMGTP]iB))", re.IGNORECASE)
ON_DEVICE = re.compile(r"(CUDA|MPS|HIP|XPU)\b.*out of memory", re.IGNORECASE | re.DOTALL)


def is_shortage(error: BaseException) -> bool:
    """Whether an error says that there was no memory left."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and SHORT.search(str(error)) is not None
    )


def shortage_sentence(error: BaseException) -> str:
    """What did not fit, where, and the settings that ask for less."""
    said = str(error)
    device, amount = ON_DEVICE.search(said), AMOUNT.search(said)
    where = f" on {device[1].upper()}" if device else ""
    more = f": {_readable(amount[1])} more did not fit" if amount else ""
    return (
        f"there is not enough memory{where}{more}; use a smaller --batch-size, a smaller model, "
        f"or less data"
    )


def _readable(amount: str) -> str:
    """144000000 bytes -> 144.0 MB; what has a unit already stays."""
    number, unit = amount.split()
    return f"{int(number) / 1e6:,.1f} MB" if unit == "bytes" else amount
