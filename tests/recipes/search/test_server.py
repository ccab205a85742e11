"""Searches on a real PostgreSQL: processes without a folder in common make one and the same."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError, RunError
from netwright.recipes.search import server
from netwright.recipes.search.search import resume_search, search, work
from netwright.recipes.search.server import ServerWorkers, connect, study_name, telling_of_server
from netwright.recipes.search.space import Value
from netwright.recipes.search.trial_queue import PROCESS, TrialQueue, Tried
from tests.forked_ranks import FORKS
from tests.recipes.search.postgres_server import PASSWORD, PostgresServer, running_server
from tests.recipes.search.search_plans import plan

SETTINGS: dict[str, Any] = {"hidden": (4,), "n": 60, "epochs": 1}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def address(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return postgres.address


def learn(trial: Any, settings: Mapping[str, Value]) -> Tried:
    return Tried(value=float(settings["train.lr"]), notes={})


def search_beside(folder: Path, address: str, both: Any, told: Any) -> None:
    """The work of one of two processes: neither goes on before the other has a trial."""
    waits = iter([True])

    def objective(trial: Any, settings: Mapping[str, Value]) -> Tried:
        if next(waits, False):
            both.wait()
        return learn(trial, settings)

    folder.mkdir()
    queue = TrialQueue(folder, plan(trials=12, storage=address))
    work(queue, objective)
    told.put(queue.process)


@pytest.mark.slow
def test_two_processes_with_folders_of_their_own_search_one_study(
    tmp_path: Path, address: str
) -> None:
    both, told = FORKS.Barrier(2), FORKS.Queue()
    workers = [
        FORKS.Process(target=_with_password, args=(tmp_path / name, address, both, told))
        for name in ("one", "other")
    ]
    for worker in workers:
        worker.start()
    names = {told.get(timeout=600) for _ in workers}
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    queue = TrialQueue(tmp_path, plan(trials=12, storage=address))
    trials = queue.study.trials
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * 12
    assert {trial.user_attrs[PROCESS] for trial in trials} == names
    made = sorted(tuple(trial.params.values()) for trial in trials)
    (tmp_path / "alone").mkdir()
    alone = TrialQueue(tmp_path / "alone", plan(trials=12))
    work(alone, learn)
    assert made == sorted(tuple(trial.params.values()) for trial in alone.study.trials)


def _with_password(*given: Any) -> None:
    os.environ["PGPASSWORD"] = PASSWORD
    search_beside(*given)


def killed_for_good(folder: Path, address: str, objective: Callable[..., Tried]) -> None:
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            work(TrialQueue(folder, plan(trials=4, seed=1, storage=address)), objective)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
def test_the_trial_of_a_killed_process_is_made_by_another(tmp_path: Path, address: str) -> None:
    def deadly(trial: Any, settings: Mapping[str, Value]) -> Tried:
        if trial.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return learn(trial, settings)

    killed_for_good(tmp_path, address, deadly)
    queue = TrialQueue(tmp_path, plan(trials=4, seed=1, storage=address))
    work(queue, learn)
    states = [trial.state.name for trial in queue.study.trials]
    assert states == ["COMPLETE", "COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]
    assert queue.study.trials[2].params == queue.study.trials[3].params


@pytest.mark.slow
def test_a_process_lives_as_long_as_its_session(address: str) -> None:
    one, other = ServerWorkers(address, "s"), ServerWorkers(address, "s")
    apart = ServerWorkers(address, "another")
    one.enter()
    assert other.lives(one.process)
    assert not other.lives(other.process.replace("-", "0-"))
    assert not apart.lives(one.process)
    one.leave()
    assert not other.lives(one.process)
    one.enter()
    one.session.close()  # as where its machine is lost
    with other.guard:
        assert not other.lives(one.process)


@pytest.mark.slow
def test_the_folder_tells_no_password_and_connects_to_nothing_by_itself(
    tmp_path: Path, address: str
) -> None:
    folder = tmp_path / "search"
    space = {"train.lr": [0.01, 0.1, 0.2]}
    study = search(
        "mlp", "moons", space=space, trials=2, storage=address, out=folder, quiet=True, **SETTINGS
    )
    assert len(study.trials) == 2
    with pytest.raises(ConfigError, match=r"keeps its trials with .*: give --storage postgresql"):
        resume_search(folder, quiet=True)
    with pytest.raises(ConfigError, match="give --storage postgresql"):
        resume_search(folder, storage="postgresql://x@elsewhere/y", quiet=True)
    assert len(resume_search(folder, trials=3, storage=address, quiet=True).trials) == 3
    written = [file for file in folder.rglob("*") if file.is_file()]
    assert {"search.yaml", "trials.json", "report.html"} <= {file.name for file in written}
    assert not [file for file in written if PASSWORD.encode() in file.read_bytes()]
    assert not list(folder.glob("study.*"))


@pytest.mark.slow
def test_a_server_that_is_lost_on_the_way_is_one_sentence(tmp_path: Path, address: str) -> None:
    def cut_off(trial: Any, settings: Mapping[str, Value]) -> Tried:
        with connect(address) as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND application_name = 'netwright'"
            )
        return learn(trial, settings)

    planned = plan(trials=2, seed=2, storage=address)
    with pytest.raises(RunError) as lost, telling_of_server(address):
        work(TrialQueue(tmp_path, planned), cut_off)
    assert str(lost.value).startswith(f"{address} no longer answers: ")
    assert "\n" not in str(lost.value)


@pytest.mark.slow
def test_a_wrong_password_is_refused_without_telling_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "guessed")
    with pytest.raises(ConfigError, match="password authentication failed") as refused:
        connect(address)
    assert "guessed" not in str(refused.value)


def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    address = f"postgresql://x@/y?host={tmp_path}"
    with pytest.raises(ConfigError) as refused:
        search("mlp", "moons", trials=1, storage=address, out=tmp_path / "s", quiet=True)
    assert str(refused.value).startswith(f"{address} cannot be connected to: ")
    assert "\n" not in str(refused.value)


def test_offline_no_server_on_the_network_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    for address in ("postgresql://u@db.example/n", "postgresql:///n?host=db.example"):
        with pytest.raises(ConfigError, match="is on the network, and NETWRIGHT_OFFLINE is set"):
            connect(address)


def test_without_psycopg_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"needs psycopg: pip install 'netwright\[postgres\]'"):
        connect("postgresql://u@/n")


def test_the_same_search_has_the_same_name_wherever_it_is_called_from() -> None:
    here, there = "postgresql://u@localhost/n", "postgresql://v@db/n"
    name = study_name(plan(storage=here))
    assert name == study_name(plan(storage=there, trials=50))
    assert name != study_name(plan(storage=here, seed=1))


def test_other_errors_are_not_of_the_server() -> None:
    with pytest.raises(ZeroDivisionError), telling_of_server("postgresql://u@/n"):
        _ = 1 / 0
    assert server._is_of_server(None) is False
