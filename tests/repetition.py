"""Cases of one kind: all in one test, or some in `make test` and all in `make test-slow`."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import pytest

FRESH = {"tmp_path", "monkeypatch", "capsys", "capfd", "recwarn", "request"}
Test = Callable[..., None]


def slow_but(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters of a test, slow but for these."""
    given = list(cases)
    assert set(quick) <= set(given), "a quick case must be one of the cases"
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in given]


def for_each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Iterable[object] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """One test over all cases, written as `pytest.mark.parametrize`, which makes a test of each.

    To start and to report a test takes milliseconds, longer than many a case. All cases are tried,
    whichever fail, and a note on the failure names those. A case that needs something fresh
    (`FRESH`), that may skip or has a mark is for parametrize.
    """
    is_one = isinstance(names, str) and "," not in names
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    given = [*cases]
    assert given, "there must be a case"
    assert not any(isinstance(case, type(pytest.param())) for case in given), "it may have marks"
    rows = [(case,) if is_one else tuple(case) for case in given]

    def over_all(test: Test) -> Test:
        asked = signature(test)
        left = [one for name, one in asked.parameters.items() if name not in arguments]
        assert not FRESH & {one.name for one in left}, f"{test.__name__} needs it for each case"

        @wraps(test)
        def each(**fixtures: Any) -> None:
            failed: dict[int, BaseException] = {}
            for place, row in enumerate(rows):
                try:
                    test(**fixtures, **dict(zip(arguments, row, strict=True)))
                except pytest.skip.Exception as skip:
                    failed[place] = AssertionError(f"a case among others may not skip: {skip}")
                except (Exception, pytest.fail.Exception) as error:
                    failed[place] = error
            if failed:
                labels = _labels(rows, ids)
                first = next(iter(failed.values()))
                first.add_note(
                    f"{len(failed)} of {len(rows)} cases failed, this is the first of: "
                    + "; ".join(labels[place] for place in failed)
                )
                raise first

        vars(each)["__signature__"] = asked.replace(parameters=left)
        return each

    return over_all


def _labels(
    rows: list[tuple[Any, ...]], ids: Iterable[object] | Callable[[Any], object] | None
) -> list[str]:
    """What the cases are called: by their ids, else by their values' names or as these are."""
    if ids is not None and not callable(ids):
        return [str(one) for one in ids]
    named = ids or (lambda value: getattr(value, "__name__", None))
    return [", ".join(str(named(value) or repr(value)) for value in row) for row in rows]
