"""The sample is spread by lines, follows from the seed, and is cut into parts that miss nothing."""

import pytest

from tests.mutants.function_map import ROOMS
from tests.mutants.mutant import mutants_of
from tests.mutants.planting import package_folder
from tests.mutants.sample import again, chunks, draw, shard, shares


def test_rooms_get_their_share_of_lines() -> None:
    assert shares({"a": 100, "b": 300, "c": 0}, 40) == {"a": 10, "b": 30, "c": 0}
    assert sum(shares({"a": 7, "b": 11, "c": 13}, 100).values()) == 100


def test_a_sample_follows_from_its_seed() -> None:
    package = package_folder()
    first = draw(package, 30, 1, ["losses"])
    assert len(first) == 30
    assert first == draw(package, 30, 1, ["losses"])
    assert first != draw(package, 30, 2, ["losses"])
    assert len({one.place for one in first}) == 30


@pytest.mark.slow
def test_a_room_with_fewer_gives_all() -> None:
    found = draw(package_folder(), 10_000, 1, ["losses"])
    assert 200 < len(found) < 10_000
    assert "losses" in ROOMS


def test_groups_are_of_one_file_and_shards_together_are_all() -> None:
    mutants = [
        one
        for file, count in (("core/a.py", 7), ("core/b.py", 2))
        for one in mutants_of(file, "\n".join(["x = 1"] * count))
    ]
    groups = chunks(mutants, most=3)
    assert [[one.file for one in group] for group in groups] == [
        ["core/a.py"] * 3,
        ["core/a.py"] * 3,
        ["core/a.py"],
        ["core/b.py"] * 2,
    ]
    parts = [[one for group in shard(groups, f"{place}/3") for one in group] for place in (1, 2, 3)]
    assert sorted(one.place for part in parts for one in part) == sorted(
        one.place for one in mutants
    )


def test_a_shard_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a shard is i/n with 1 <= i <= n, got 4/3$"):
        shard([], "4/3")


def test_the_open_ones_of_an_earlier_run_are_found_again() -> None:
    drawn = draw(package_folder(), 12, 1, ["losses"])
    rows = [
        {"place": one.place, "file": one.file, "change": one.change, "verdict": verdict}
        for one, verdict in zip(drawn, ("killed", "survived", "unreached") * 4, strict=True)
    ]
    rows[1] = {**rows[1], "change": "as it once was"}
    found = again(package_folder(), rows, {"survived", "unreached"})
    assert found == [one for number, one in enumerate(drawn) if number % 3 and number != 1]
