"""One of two hosts is cut off within an epoch and comes back: the run ends as one never cut.

The hosts are network namespaces; where these are refused, two loopback addresses: see `two_hosts`.
"""

from pathlib import Path

import pytest

from tests.faults.host_run import CUT, HERE, SETTINGS
from tests.faults.rank_runs import ForkedRun, finish
from tests.faults.test_rank_killed import contents
from tests.faults.two_hosts import Hosts, two_hosts

RESTARTS = 10  # one is needed; a loaded machine may be slow enough for another
BOTH_FORMS = pytest.mark.parametrize("form", ["namespaces", "loopback"])
# What does not depend on how a host is cut off is seen by one of the two.
ONE_FORM = pytest.mark.parametrize(
    "form", ["loopback", pytest.param("namespaces", marks=pytest.mark.long)]
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hosts") / "whole"
    assert finish(ForkedRun(out, settings=SETTINGS))
    return out


def cut_within_an_epoch(hosts: Hosts, out: Path, restarts: int, bug: str = "none") -> set[str]:
    """Start both hosts and cut one off; the addresses on which something listened before."""
    work = ["-m", "tests.faults.host_run", str(out), str(hosts.folder), bug]
    for host in ("a", "b"):
        hosts.start(host, work, restarts=restarts)
    hosts.wait_until(["a", "b"], (hosts.folder / HERE).exists)
    heard = hosts.listening()
    hosts.cut_off()
    (hosts.folder / CUT).touch()
    hosts.hear("a", hosts.lost)
    hosts.come_back()
    hosts.start("b", work, restarts=restarts)
    return heard


@pytest.mark.slow
@BOTH_FORMS
def test_a_host_that_was_cut_off_comes_back_and_costs_nothing(
    form: str, whole: Path, tmp_path: Path
) -> None:
    with two_hosts(form, tmp_path) as hosts:
        heard = cut_within_an_epoch(hosts, tmp_path / "run", RESTARTS)
        for host in ("a", "b"):
            assert hosts.wait(host) == 0, hosts.said(host).read_text()
    assert heard
    assert heard <= hosts.named
    assert contents(tmp_path / "run") == contents(whole)


@pytest.mark.slow
@ONE_FORM
def test_planted_bug_generators_not_restored_is_found(
    form: str, whole: Path, tmp_path: Path
) -> None:
    with two_hosts(form, tmp_path) as hosts:
        cut_within_an_epoch(hosts, tmp_path / "run", RESTARTS, "generators-stay")
        for host in ("a", "b"):
            assert hosts.wait(host) == 0, hosts.said(host).read_text()
    assert contents(tmp_path / "run") != contents(whole)


@pytest.mark.slow
@ONE_FORM
def test_without_a_restart_left_the_run_ends(form: str, tmp_path: Path) -> None:
    with two_hosts(form, tmp_path) as hosts:
        cut_within_an_epoch(hosts, tmp_path / "run", 0)
        assert hosts.wait("a") == 1
    assert not (tmp_path / "run" / "results.json").exists()
