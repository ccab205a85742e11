"""Errors of memory that ran out, in the words of torch, numpy and Python."""

import numpy as np
import pytest
import torch

from netwright.core.memory_shortage import is_shortage, shortage_sentence
from tests.repetition import for_each

ADVICE = "; use a smaller --batch-size, a smaller model, or less data"
ON_CPU = (
    "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you "
    "tried to allocate 144000000 bytes. Error code 12 (Cannot allocate memory)"
)
ON_CUDA = "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 8.00 GiB"


@for_each(
    ("error", "told"),
    [
        (RuntimeError(ON_CPU), ": 144.0 MB more did not fit"),
        (torch.OutOfMemoryError(ON_CUDA), " on CUDA: 20.00 GiB more did not fit"),
        (MemoryError(), ""),
        (MemoryError("std::bad_alloc"), ""),
        (MemoryError("Unable to allocate 7.45 GiB for an array"), ": 7.45 GiB more did not fit"),
    ],
)
def test_the_sentence_says_how_much_did_not_fit_and_what_makes_it_less(
    error: Exception, told: str
) -> None:
    assert is_shortage(error)
    assert shortage_sentence(error) == f"there is not enough memory{told}{ADVICE}"


def test_the_words_of_torch_and_numpy_are_still_these() -> None:
    """More than any address can reach: refused at once, whatever the machine has."""
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(1 << 58, device="cpu", dtype=torch.uint8)
    with pytest.raises(MemoryError) as of_numpy:
        np.empty(1 << 58, dtype=np.uint8)
    for raised in (of_torch, of_numpy):
        assert is_shortage(raised.value)
        assert "more did not fit" in shortage_sentence(raised.value)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("mat1 and mat2 shapes cannot be multiplied"), ValueError("out of memory")],
)
def test_other_errors_are_none(error: Exception) -> None:
    assert not is_shortage(error)
