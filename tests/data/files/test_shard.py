"""A listed file: how refusals name it, and what its name says that it is."""

from netwright.data.files.shard import PARQUET, Shard, is_shard


def test_it_is_shown_in_one_line_and_known_by_its_ending() -> None:
    shard = Shard("s3://bucket/two\nlines.TAR", 7, "stamp")
    assert shard.name == r"s3://bucket/two\nlines.TAR" and shard.is_tar
    assert not Shard("a.tar.gz", 7, "stamp").is_tar
    assert is_shard("folder/a.PQ") and not is_shard("folder/.a.pq")
    assert not is_shard("folder/a.tar", PARQUET)
