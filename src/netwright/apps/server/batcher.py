"""Requests that wait together are answered together, by one pass of the model.

A thread works for a run. While it is busy, requests wait; when it is done, it takes all that are
there, up to a number of rows: nobody waits for a batch to fill, and the busier the server is, the
larger its batches are. A thread that idles is woken when no more requests arrive, or a hundredth of
a second after the first, which would else be answered alone while the others are still read; and
two threads would hand Python's lock to and fro. What requests hold is also read, encoded and put
into words together where it is of one form (`joined_inputs.py`).

A pass over images takes as long for each as it does alone. Where it is slow, as many threads work
as torch leaves cores to them, and what waits is divided among those that idle: torch lets go of
Python's lock, and a model at rest is only read. A pass over a text takes steps, as many for one as
for thirty, and is not divided.

A request that is refused is refused alone. If the model fails on several, each is tried by itself.

Shapes: N rows of all requests.
"""

import asyncio
import math
import os
import threading
import time
from collections import deque
from collections.abc import Hashable, Sequence
from http import HTTPStatus
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import torch

from netwright.apps.server.measurements import ROWS, Measurements
from netwright.apps.server.question import Question, Reply
from netwright.apps.server.refusal import try_later
from netwright.core.devices import device_of
from netwright.core.trees import join_rows
from netwright.recipes.run.run import Run

MOST_THREADS = 4  # all of them read requests and write answers under Python's one lock
GATHERING = 0.01  # seconds that requests wait at most for those behind them
ROUNDS = 2  # of the loop: one reads what has arrived, and the next one asks
LONG_ROUNDS = 8  # where threads share the cores with who asks: a small batch takes 2 ms by itself
SLOW = 0.004  # seconds of a batch in its thread, above which other threads help
Outcome = Reply | BaseException
Waiting = tuple[Question, "asyncio.Future[Reply]"]


class Batcher:
    """The threads of one run.

    Args:
        name: of the run.
        threads: how many there are at most at work.
        max_batch: most rows that are passed to the model together.
        max_waiting: most requests that may wait, those whose body is still read included.
        measurements: where batches are counted.
    """

    def __init__(
        self,
        name: str,
        *,
        max_batch: int,
        max_waiting: int,
        measurements: Measurements,
        threads: int = 1,
    ) -> None:
        self.name, self._max_batch, self._max_waiting = name, max_batch, max_waiting
        self.answered = measurements.counter("netwright_rows_total", run=name)
        self._waits = measurements.counter("netwright_waiting_requests", run=name)
        self._batches = measurements.histogram("netwright_batch_rows", ROWS, run=name)
        self._waiting: deque[Waiting] = deque()
        self._places = 0
        self._changed, self._taking = threading.Condition(), threading.Lock()
        self._is_closed = self._is_called = self._is_slow = self._is_gathered = False
        self._asked = self._working = 0
        self._rounds = ROUNDS if threads == 1 else LONG_ROUNDS
        self._threads = [
            threading.Thread(target=self._work, name=f"run-{name}", daemon=True)
            for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def enter(self) -> None:
        """Take room for one request, from before its body is read until it is answered.

        What waits for a thread that encodes it is not in the queue yet, but has its body in memory.
        """
        self._check_room(self._places)
        self._places += 1

    def leave(self) -> None:
        """Give it back."""
        self._places -= 1

    async def ask(self, question: Question) -> Reply:
        """The reply; a run that has too many waiting refuses."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        with self._changed:
            if self._is_closed:
                raise try_later(HTTPStatus.SERVICE_UNAVAILABLE, "the server is shutting down")
            self._check_room(len(self._waiting))
            self._waiting.append((question, future))
        self._asked += 1
        if not self._is_called:
            self._is_called = True
            loop.call_soon(self._call, loop.time() + GATHERING, self._asked, self._rounds)
        self._waits.add(1)
        return await future

    def _call(self, until: float, asked: int, rounds: int) -> None:
        """Wake a thread when rounds of the loop have brought no more requests, or it is late."""
        loop = asyncio.get_running_loop()
        rounds = self._rounds if asked != self._asked else rounds - 1
        if rounds and loop.time() < until:
            loop.call_soon(self._call, until, self._asked, rounds)
            return
        self._is_called = False
        with self._changed:
            self._is_gathered = True
            self._changed.notify()

    def _check_room(self, count: int) -> None:
        if count >= self._max_waiting:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{count} requests are waiting for {self.name} already; try again later",
            )

    def close(self) -> None:
        """Answer what waits, and end the threads."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while taken := self._take():
            began = time.thread_time()
            asked = _prepared(taken)
            if asked:
                rows = sum(one.question.size for one in asked)
                self._batches.add(rows)
                _deliver(_answered(asked))
            with self._changed:
                self._working -= 1
                self._is_slow = time.thread_time() - began > SLOW
                self._changed.notify()

    def _take(self) -> list[tuple[Hashable, Waiting]]:
        """What a thread answers next, one thread at a time; nothing: it is to end."""
        with self._taking:
            while True:
                with self._changed:
                    self._changed.wait_for(self._may_take)
                    if not self._waiting:
                        return []
                    idle = len(self._threads) - self._working if self._is_slow else 1
                    most = math.ceil(len(self._waiting) / idle)
                    self._working += 1
                    self._is_gathered = False
                taken = self._next_batch(most)
                with self._changed:
                    self._is_gathered |= bool(self._waiting)
                    self._working -= not taken
                if taken:
                    return taken

    def _may_take(self) -> bool:
        if not self._waiting:
            return self._is_closed
        is_free = self._is_slow or not self._working
        return is_free and (self._is_gathered or self._is_closed)

    def _next_batch(self, most: int) -> list[tuple[Hashable, Waiting]]:
        """The requests that are answered together next, each with the form of what it holds.

        What is refused is told so at once.
        """
        taken: list[tuple[Hashable, Waiting]] = []
        rows = left = 0
        while rows < self._max_batch and self._waiting and len(taken) < most:
            waiting = self._waiting.popleft()  # only this thread takes
            question, future = waiting
            if not future.done():  # else nobody waits for it any more
                try:
                    form = question.open()
                    if form is None:
                        question.prepare()
                except Exception as error:
                    _deliver([(future, error)])
                else:
                    is_other = bool(taken) and question.run is not taken[0][1][0].run
                    if is_other or (taken and rows + question.size > self._max_batch):
                        self._waiting.appendleft(waiting)
                        break
                    taken.append((form or object(), waiting))
                    rows += question.size
            left += 1
        self._waits.add(-left)
        return taken


def count_threads(run: Run) -> int:
    """How many passes over images may run at a time: one for each core that torch leaves alone."""
    if run.spec.inputs != "image" or device_of(run.model).type != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(MOST_THREADS, (cores or 1) // torch.get_num_threads()))


class Asked(NamedTuple):
    """Requests that are prepared as one.

    Args:
        question: all of them.
        waiting: each.
    """

    question: Question
    waiting: list[Waiting]


def _prepared(taken: Sequence[tuple[Hashable, Waiting]]) -> list[Asked]:
    """Neighbours of one form as one; where that fails each by itself, and the guilty is told."""
    asked: list[Asked] = []
    for _, alike in groupby(taken, key=itemgetter(0)):
        waiting = [one for _, one in alike]
        question = Question.joined([one for one, _ in waiting])
        try:
            question.prepare()
        except Exception as error:
            if len(waiting) == 1:
                _deliver([(waiting[0][1], error)])
            else:
                asked += _prepared([(object(), one) for one in waiting])
        else:
            asked.append(Asked(question, waiting))
    return asked


def _answered(asked: list[Asked]) -> list[tuple["asyncio.Future[Reply]", Outcome]]:
    waiting = [one for part in asked for one in part.waiting]
    outcomes: list[Outcome]
    try:
        outcomes = list(_replies([one.question for one in asked]))
    except Exception as error:
        if len(waiting) == 1:
            outcomes = [error]
        else:  # one of them may be to blame: the others are answered all the same
            outcomes = [_alone(question) for question, _ in waiting]
    return [(future, said) for (_, future), said in zip(waiting, outcomes, strict=True)]


def _replies(questions: Sequence[Question]) -> list[Reply]:
    """What is said to all requests of these questions, which are of one run."""
    inputs = [question.prepare() for question in questions]
    sizes = [question.size for question in questions]
    joined = inputs[0] if len(inputs) == 1 else join_rows(inputs)
    values = questions[0].run.predictions_of(joined)  # (N, ...)
    parts = torch.split(values, sizes)
    return [
        reply
        for question, part in zip(questions, parts, strict=True)
        for reply in question.replies(part)
    ]


def _alone(question: Question) -> Outcome:
    try:
        return _replies([question])[0]
    except Exception as error:
        return error


def _deliver(outcomes: Sequence[tuple["asyncio.Future[Reply]", Outcome]]) -> None:
    """Hand outcomes over to the loop that waits for them, all at once."""

    def hand_over() -> None:
        for future, outcome in outcomes:
            if future.done():
                continue
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    if outcomes:
        outcomes[0][0].get_loop().call_soon_threadsafe(hand_over)
