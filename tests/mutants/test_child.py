"""Work in a process of its own comes back as an answer, or as the reason why there is none."""

import os
import time
from functools import partial
from pathlib import Path

import pytest

from tests.mutants.child import Answer, Child, run_all


def endless(_folder: Path) -> None:
    while True:
        pass


def test_work_is_done_in_a_folder_that_is_gone_afterwards() -> None:
    def work(folder: Path) -> list[str]:
        print("said to nobody")  # noqa: T201
        return [str(folder), os.getcwd(), os.environ["TMPDIR"]]

    answer = Child(work).wait()
    assert len(set(answer.value)) == 1
    assert not Path(answer.value[0]).exists()


def test_a_process_that_dies_gives_no_answer() -> None:
    assert Child(lambda _: os._exit(1), cpu=5).wait() == Answer(None)
    assert Child(lambda _: 1 / 0).wait() == Answer(None)


@pytest.mark.slow
def test_a_process_that_never_ends_is_stopped() -> None:
    assert Child(endless, cpu=0, wall=60).wait() == Answer(None, timed_out=True)
    assert Child(lambda _: time.sleep(60), wall=0.1).wait() == Answer(None, timed_out=True)


def test_a_process_that_takes_all_memory_is_stopped() -> None:
    assert Child(lambda _: len(bytearray(20 * 1024**3)), cpu=5, wall=60).wait() == Answer(None)


def test_all_are_done_so_many_at_a_time() -> None:
    def squared(number: int, _folder: Path) -> int:
        return number**2

    answers = run_all([partial(squared, number) for number in range(5)], jobs=2)
    assert sorted(answer.value for answer in answers) == [0, 1, 4, 9, 16]
