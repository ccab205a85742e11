"""One test over all cases tries each of them, and a failure names those that failed."""

from inspect import signature

import pytest

from tests.repetition import for_each, slow_but


def test_every_case_is_tried_with_its_values() -> None:
    seen = []

    @for_each("one, other", [(1, "a"), (2, "b")])
    @for_each("last", [True, False])
    def test(one: int, other: str, last: bool) -> None:
        seen.append((one, other, last))

    test()
    assert seen == [(1, "a", True), (1, "a", False), (2, "b", True), (2, "b", False)]


def test_cases_after_a_failure_are_tried_too_and_all_that_failed_are_named() -> None:
    seen = []

    @for_each(("number", "kind"), [(1, int), (2, str), (3, str)])
    def test(number: int, kind: type) -> None:
        seen.append(number)
        assert kind is int, f"{number} is wrong"

    with pytest.raises(AssertionError, match="2 is wrong") as caught:
        test()
    assert seen == [1, 2, 3]
    assert caught.value.__notes__ == [
        "2 of 3 cases failed, this is the first of: 2, str; 3, str",
    ]


@pytest.mark.parametrize("ids", [["one", "two"], lambda number: ("one", "two")[number - 1]])
def test_a_case_is_called_by_its_id(ids: list[str]) -> None:
    @for_each("number", [1, 2], ids=ids)
    def test(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            divmod(1, number - 1)

    with pytest.raises(pytest.fail.Exception) as caught:
        test()
    assert caught.value.__notes__ == ["1 of 2 cases failed, this is the first of: two"]


def test_a_case_that_skips_fails_since_nobody_would_see_it() -> None:
    @for_each("number", [1, 2])
    def test(number: int) -> None:
        pytest.skip("not today")

    with pytest.raises(AssertionError, match="may not skip: not today"):
        test()


def test_fixtures_are_asked_for_and_passed_on() -> None:
    @for_each("number", [1, 2])
    def test(number: int, some_run: str) -> None:
        assert some_run == "a run"

    assert list(signature(test).parameters) == ["some_run"]
    test(some_run="a run")


def test_what_is_for_parametrize_is_refused() -> None:
    with pytest.raises(AssertionError, match="must be a case"):
        for_each("number", [])
    with pytest.raises(AssertionError, match="marks"):
        for_each("number", slow_but([1], [1, 2]))

    def test(number: int, tmp_path: object) -> None:
        """Is never called."""

    with pytest.raises(AssertionError, match="test needs it for each case"):
        for_each("number", [1])(test)
