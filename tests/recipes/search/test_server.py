"""Searches on a real PostgreSQL: processes without a folder in common make one and the same."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError, RunError
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.search import server
from netwright.recipes.search.search import (
    SearchRequest,
    plan_search,
    resume_search,
    search,
    work,
)
from netwright.recipes.search.server import (
    KEEPALIVES,
    ServerWorkers,
    connect,
    study_name,
    telling_of_server,
)
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
    with pytest.raises(ConfigError, match=r"keeps its trials with .*: give --storage '?postgresql"):
        resume_search(folder, quiet=True)
    with pytest.raises(ConfigError, match=r"give --storage '?postgresql"):
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
def test_a_session_of_optuna_that_is_lost_between_trials_is_made_anew(
    tmp_path: Path, address: str
) -> None:
    queue = TrialQueue(tmp_path, plan(trials=2, seed=3, storage=address))
    assert isinstance(queue.workers, ServerWorkers)
    kept = queue.workers.session.info.backend_pid

    def cut_off(trial: Any, settings: Mapping[str, Value]) -> Tried:
        with connect(address) as session:
            ended = session.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE pid NOT IN "
                "(pg_backend_pid(), %s) AND application_name = 'netwright'",
                (kept,),
            )
            assert (True,) in ended.fetchall()
        return learn(trial, settings)

    work(queue, cut_off)
    assert [trial.state.name for trial in queue.study.trials] == ["COMPLETE"] * 2


@pytest.mark.slow
def test_both_sides_find_a_lost_machine_within_a_minute(address: str) -> None:
    with connect(address) as session:
        found = session.execute(
            "SELECT name, reset_val FROM pg_settings WHERE name LIKE 'tcp_keepalives_%'"
        ).fetchall()
        assert {name.removeprefix("tcp_"): int(value) for name, value in found} == KEEPALIVES
        mine = session.info.get_parameters()
    assert {name: int(mine[name]) for name in KEEPALIVES} == KEEPALIVES
    assert KEEPALIVES["keepalives_idle"] + 3 * KEEPALIVES["keepalives_interval"] <= 60


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [False, True])
def test_a_long_wait_for_another_process_is_told_once(
    address: str, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 1)
    one, other = ServerWorkers(address, "w"), ServerWorkers(address, "w", quiet=quiet)
    told: list[str] = []
    monkeypatch.setattr(server, "print_message", told.append)
    timeouts = iter(range(3))
    wait = server.SessionLock.wait

    def wait_and_end(lock: server.SessionLock) -> bool:
        if next(timeouts, None) is None:
            one.session.close()
        return wait(lock)

    monkeypatch.setattr(server.SessionLock, "wait", wait_and_end)
    one.guard.try_to_take()
    with other.guard:
        assert told == ([] if quiet else [server.WAITS])


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


def name_of_search(table: Path) -> str:
    recipe, data, _ = resolve("mlp", table, target="target", hidden=(4,), epochs=1)
    asked = SearchRequest(space=["train.lr=0.01|0.1"], storage="postgresql://u@localhost/n")
    return study_name(plan_search(recipe, data, asked))


def test_the_same_rows_in_another_folder_are_the_same_search(tmp_path: Path) -> None:
    rows = [f"{number % 7},{number % 5},{'yes' if number % 2 else 'no'}" for number in range(60)]
    tables = {"here": rows, "there": rows, "elsewhere": [*rows, "1,1,yes"]}
    for folder, lines in tables.items():
        (tmp_path / folder).mkdir()
        text = "\n".join(["a,b,target", *lines, ""])
        (tmp_path / folder / "table.csv").write_text(text)
    here, there, elsewhere = (name_of_search(tmp_path / name / "table.csv") for name in tables)
    assert here == there != elsewhere


def test_where_the_files_of_a_recipe_lie_is_no_part_of_the_name(tmp_path: Path) -> None:
    names = set()
    for place in ("here", "there"):
        folder = tmp_path / place
        pairs = {"path": f"{folder}/en", "target_path": f"{folder}/de", "vocabulary": f"{folder}/r"}
        recipe = {"model": "transformer", "data": {"name": "text-pairs", **pairs}}
        names.add(study_name(replace(plan(), recipe=parse_recipe(recipe))))
    assert len(names) == 1


def test_vectors_of_words_are_known_by_what_they_hold(tmp_path: Path) -> None:
    names = []
    for folder, line in {"here": "film 1 2", "there": "film 1 2", "elsewhere": "film 1 3"}.items():
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "vectors.txt"
        file.write_text(f"{line}\n")
        model = {"name": "bag-of-vectors", "embeddings": str(file)}
        recipe = parse_recipe({"model": model, "data": {"name": "sst2"}})
        names.append(study_name(replace(plan(), recipe=recipe)))
    assert names[0] == names[1] != names[2]


def test_other_errors_are_not_of_the_server() -> None:
    with pytest.raises(ZeroDivisionError), telling_of_server("postgresql://u@/n"):
        _ = 1 / 0
    assert server._is_of_server(None) is False
