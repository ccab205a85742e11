"""Of every claim's contract, the experiments that only repeat another run in `make test-slow`."""

import pytest

from netwright.testing.claim_contract import check_a_seed_gives_one_verdict


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """That a seed gives one verdict takes two experiments, for each of a hundred claims."""
    for item in items:
        call = getattr(item, "callspec", None)  # of the claims alone: a toy has it in `make test`
        if not item.nodeid.startswith("tests/theory/") or call is None:
            continue
        if call.params.get("check") is check_a_seed_gives_one_verdict:
            item.add_marker(pytest.mark.slow)
