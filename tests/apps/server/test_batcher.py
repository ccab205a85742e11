"""Requests that wait together are one batch; what is refused is refused alone; none is lost."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

import netwright as nw
from netwright.apps.server.batcher import Batcher, count_threads
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.question import AnswerOptions, Question, Reply
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows
from netwright.recipes.run.run import Run


class Watched:
    """A run whose model can be held up, and is seen at work.

    Args:
        run: the run.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.sizes = run, list[int]()
        self.may_work, self.is_working = threading.Event(), threading.Event()
        self._predictions_of = run.predictions_of
        run.predictions_of = self._held_up  # type: ignore[method-assign]

    def _held_up(self, inputs: Tree) -> Tensor:
        self.is_working.set()
        assert self.may_work.wait(60)
        self.sizes.append(count_rows(inputs))
        return self._predictions_of(inputs)


@pytest.fixture
def watched(folders: dict[str, Path]) -> Watched:
    return Watched(nw.open_run(folders["things"]))


@pytest.fixture
def measured() -> Measurements:
    return Measurements()


@pytest.fixture
def batcher(measured: Measurements) -> Iterator[Batcher]:
    made = Batcher("things", max_batch=8, max_waiting=6, measurements=measured)
    yield made
    made.close()


def question(run: Run, sizes: list[Any], colour: str = "red") -> Question:
    rows = [{"size": size, "colour": colour} for size in sizes]
    body = json.dumps({"rows": rows}).encode()
    options = AnswerOptions()
    return Question(run, "application/json", body, options=options, config=ServerConfig())


def alone(run: Run, sizes: list[Any]) -> Any:
    return run.predict([{"size": size, "colour": "red"} for size in sizes]).tolist()


def kinds(reply: Reply | BaseException) -> list[str]:
    assert isinstance(reply, Reply), reply
    return [row["kind"] for row in json.loads(reply.content)["answers"]]


async def ask_behind_one(
    watched: Watched, batcher: Batcher, questions: list[Question]
) -> list[Reply | BaseException]:
    """Let these wait while the model is busy with a first request."""
    first = asyncio.create_task(batcher.ask(question(watched.run, [1])))
    await asyncio.to_thread(watched.is_working.wait)
    others = [asyncio.create_task(batcher.ask(one)) for one in questions]
    await asyncio.sleep(0)
    watched.may_work.set()
    replies = await asyncio.gather(*others, return_exceptions=True)
    await first
    return replies


def test_what_waits_together_is_answered_together_and_in_its_order(
    watched: Watched, batcher: Batcher, measured: Measurements
) -> None:
    sizes = [[1, 9], [5], [0, 2, 8]]
    asked = [question(watched.run, one) for one in sizes]
    replies = asyncio.run(ask_behind_one(watched, batcher, asked))
    assert watched.sizes == [1, 6]
    assert [kinds(reply) for reply in replies] == [alone(watched.run, one) for one in sizes]
    assert 'netwright_batch_rows_sum{run="things"} 7' in measured.text()


def test_what_arrives_together_is_a_batch_though_the_thread_idles(
    watched: Watched, batcher: Batcher
) -> None:
    async def ask_late(asked: Question) -> Reply:
        watched.is_working.wait(0.1)  # holds the loop up; the thread must not have begun
        return await batcher.ask(asked)

    async def ask() -> list[Reply]:
        first, second = (question(watched.run, [size]) for size in (1, 9))
        return list(await asyncio.gather(batcher.ask(first), ask_late(second)))

    watched.may_work.set()
    asyncio.run(ask())
    assert watched.sizes == [2]


def test_a_batch_has_no_more_rows_than_allowed_unless_one_request_has(
    watched: Watched, batcher: Batcher
) -> None:
    asked = [question(watched.run, [1] * count) for count in (5, 3, 1, 20, 2)]
    replies = asyncio.run(ask_behind_one(watched, batcher, asked))
    assert watched.sizes == [1, 8, 1, 20, 2]
    assert [len(kinds(reply)) for reply in replies] == [5, 3, 1, 20, 2]


def test_a_request_that_is_refused_leaves_the_others_alone(
    watched: Watched, batcher: Batcher
) -> None:
    asked = [question(watched.run, one) for one in ([1], ["wide"], [9])]
    first, refused, last = asyncio.run(ask_behind_one(watched, batcher, asked))
    assert watched.sizes == [1, 2]
    assert (kinds(first), kinds(last)) == (alone(watched.run, [1]), alone(watched.run, [9]))
    assert isinstance(refused, DataError)
    assert "'wide' is not a number" in str(refused)


def test_if_the_model_fails_on_several_each_is_tried_alone(
    watched: Watched, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_up = watched.run.predictions_of

    def failing(inputs: Tree) -> Tensor:
        if count_rows(inputs) in {4, 6}:
            raise RuntimeError("the model fails")
        return held_up(inputs)

    monkeypatch.setattr(watched.run, "predictions_of", failing)
    asked = [question(watched.run, one) for one in ([1], [2] * 4, [9])]
    first, failed, last = asyncio.run(ask_behind_one(watched, batcher, asked))
    assert (kinds(first), kinds(last)) == (alone(watched.run, [1]), alone(watched.run, [9]))
    assert isinstance(failed, RuntimeError)


def test_a_run_that_was_loaded_again_is_never_asked_with_the_other_s_inputs(
    watched: Watched, batcher: Batcher, folders: dict[str, Path]
) -> None:
    other = nw.open_run(folders["things"])
    asked = [question(run, [place]) for place, run in enumerate([watched.run, other, watched.run])]
    seen: list[Run] = []
    predictions_of = other.predictions_of

    def noted(inputs: Tree) -> Tensor:
        seen.append(other)
        assert count_rows(inputs) == 1
        return predictions_of(inputs)

    other.predictions_of = noted  # type: ignore[method-assign]
    replies = asyncio.run(ask_behind_one(watched, batcher, asked))
    assert watched.sizes == [1, 1, 1]
    assert seen == [other]
    assert [len(kinds(reply)) for reply in replies] == [1, 1, 1]


def test_too_many_are_refused_and_counted_down_again(
    watched: Watched, batcher: Batcher, measured: Measurements
) -> None:
    asked = [question(watched.run, [1]) for _ in range(8)]
    replies = asyncio.run(ask_behind_one(watched, batcher, asked))
    refused = [reply for reply in replies if isinstance(reply, RefusalError)]
    assert [one.status for one in refused] == [429, 429]
    assert "6 requests are waiting for things already" in str(refused[0])
    assert refused[0].headers == {"Retry-After": "1"}
    assert sum(isinstance(reply, Reply) for reply in replies) == 6
    assert measured.total("netwright_waiting_requests", run="things") == 0


def test_what_nobody_waits_for_is_not_worked_on(watched: Watched, batcher: Batcher) -> None:
    async def give_up() -> None:
        first = asyncio.create_task(batcher.ask(question(watched.run, [1])))
        await asyncio.to_thread(watched.is_working.wait)
        second = asyncio.create_task(batcher.ask(question(watched.run, [2, 3])))
        third = asyncio.create_task(batcher.ask(question(watched.run, [4])))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        watched.may_work.set()
        await asyncio.gather(first, third)

    asyncio.run(give_up())
    assert watched.sizes == [1, 1]


def test_closing_answers_what_waits_and_takes_no_more(
    watched: Watched, measured: Measurements
) -> None:
    async def close() -> list[Reply | BaseException]:
        batcher = Batcher("things", max_batch=8, max_waiting=6, measurements=measured)
        asked = [asyncio.create_task(batcher.ask(question(watched.run, [n]))) for n in range(4)]
        await asyncio.to_thread(watched.is_working.wait)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0)
        watched.may_work.set()
        replies = await asyncio.gather(*asked, return_exceptions=True)
        await closing
        with pytest.raises(RefusalError, match="the server is shutting down"):
            await batcher.ask(question(watched.run, [1]))
        return replies

    replies = asyncio.run(close())
    assert [kinds(reply) for reply in replies] == [alone(watched.run, [n]) for n in range(4)]


def threaded(measured: Measurements) -> Batcher:
    return Batcher("things", max_batch=8, max_waiting=6, measurements=measured, threads=2)


def test_what_waits_for_a_slow_model_is_divided_among_the_threads_that_idle(
    watched: Watched, measured: Measurements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.batcher.SLOW", -1.0)
    batcher, both = threaded(measured), threading.Barrier(2, timeout=60)
    sizes = [[1, 9], [5], [0, 2, 8], [4]]
    watched.may_work.set()
    said = [alone(watched.run, one) for one in sizes]

    def meet(inputs: Tree) -> Tensor:
        both.wait()  # until the other thread is here, too
        return type(watched.run).predictions_of(watched.run, inputs)

    async def ask() -> list[Reply]:
        await batcher.ask(question(watched.run, [1]))
        while batcher._working:  # the thread notes how long it took after it has answered
            await asyncio.sleep(0)
        monkeypatch.setattr(watched.run, "predictions_of", meet)
        asked = [question(watched.run, one) for one in sizes]
        return list(await asyncio.gather(*map(batcher.ask, asked)))

    replies = asyncio.run(ask())
    batcher.close()
    assert [kinds(reply) for reply in replies] == said
    assert 'netwright_batch_rows_count{run="things"} 3' in measured.text()


def test_a_quick_model_is_asked_by_one_thread_at_a_time(
    watched: Watched, measured: Measurements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.batcher.SLOW", float("inf"))
    batcher = threaded(measured)
    asked = [question(watched.run, one) for one in ([1, 9], [5], [0, 2, 8])]
    asyncio.run(ask_behind_one(watched, batcher, asked))
    batcher.close()
    assert watched.sizes == [1, 6]


def test_closing_ends_every_thread_when_all_is_answered(
    watched: Watched, measured: Measurements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.batcher.SLOW", -1.0)

    async def close() -> list[Reply | BaseException]:
        batcher = threaded(measured)
        asked = [asyncio.create_task(batcher.ask(question(watched.run, [n]))) for n in range(6)]
        await asyncio.to_thread(watched.is_working.wait)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0)
        watched.may_work.set()
        replies = await asyncio.gather(*asked, return_exceptions=True)
        await closing
        assert not any(thread.is_alive() for thread in batcher._threads)
        return replies

    replies = asyncio.run(close())
    assert [kinds(reply) for reply in replies] == [alone(watched.run, [n]) for n in range(6)]


@pytest.mark.parametrize(("torch_threads", "wanted"), [(1, 2), (2, 1), (4, 1)])
def test_torch_and_the_threads_of_a_run_on_images_share_the_cores(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, torch_threads: int, wanted: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr("torch.get_num_threads", lambda: torch_threads)
    run = nw.open_run(folders["pets"])
    run.model.to("cpu")
    assert count_threads(run) == wanted
    assert count_threads(nw.open_run(folders["texts"])) == 1


def test_requests_that_arrive_one_after_the_other_are_gathered(
    watched: Watched, batcher: Batcher
) -> None:
    async def ask() -> None:
        asked = []
        for size in (1, 9, 5):
            asked.append(asyncio.create_task(batcher.ask(question(watched.run, [size]))))
            await asyncio.sleep(0)  # each in a round of the loop of its own
        await asyncio.gather(*asked)

    watched.may_work.set()
    asyncio.run(ask())
    assert watched.sizes == [3]


def test_requests_are_gathered_no_longer_than_allowed(
    watched: Watched, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.batcher.GATHERING", 0.0)

    async def ask() -> None:
        first = asyncio.create_task(batcher.ask(question(watched.run, [1])))
        while not watched.is_working.is_set():  # it has begun though another could come each round
            await asyncio.sleep(0)
        watched.may_work.set()
        await first

    asyncio.run(ask())
    assert watched.sizes == [1]


def test_several_threads_wait_for_stragglers_a_few_rounds_longer(
    watched: Watched, measured: Measurements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.apps.server.batcher.GATHERING", 60.0)
    several = threaded(measured)

    async def ask() -> None:
        first = asyncio.create_task(several.ask(question(watched.run, [1])))
        for _ in range(5):
            await asyncio.sleep(0)
        time.sleep(0.2)  # a thread that was woken would take the first by itself
        await asyncio.gather(first, several.ask(question(watched.run, [9])))

    watched.may_work.set()
    asyncio.run(ask())
    several.close()
    assert watched.sizes == [2]
