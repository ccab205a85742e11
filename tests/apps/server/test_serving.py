"""From arguments to a server: who needs a token, and which one."""

from pathlib import Path

import pytest

from netwright.core.errors import NetwrightError

pytest.importorskip("httptools")


def test_beyond_this_machine_a_token_is_made() -> None:
    from netwright.apps.server.serving import make_door

    local = make_door("127.0.0.1", None, [])
    assert (local.token, local.any_address) == ("", False)
    wide, other = (make_door("0.0.0.0", None, ["Models.example.org"]) for _ in range(2))
    assert len(wide.token) >= 32
    assert wide.token != other.token
    assert wide.any_address
    assert "models.example.org" in wide.hosts
    assert not make_door("192.0.2.1", None, []).any_address
    assert make_door("192.0.2.1", None, []).token


def test_behind_a_proxy_of_this_machine_a_token_is_made() -> None:
    """What a proxy passes on comes from this machine, whoever asks it."""
    from netwright.apps.server.serving import make_door

    door = make_door("127.0.0.1", None, ["Models.example.org"])
    assert len(door.token) >= 32 and "models.example.org" in door.hosts
    assert not make_door("127.0.0.1", None, ["LOCALHOST", "::1"]).token


@pytest.mark.parametrize("name", ["", "a.example:8000", "http://a.example", "a/b", "[::1]", "é.de"])
def test_a_name_that_no_request_has_is_refused(name: str) -> None:
    from netwright.apps.server.serving import make_door

    with pytest.raises(NetwrightError, match=r"--allow-host must be a name .* without a port"):
        make_door("127.0.0.1", None, [name])


def test_a_token_of_a_file_holds_here_too(tmp_path: Path) -> None:
    from netwright.apps.server.serving import make_door

    (tmp_path / "token").write_text("a-token-of-some-length\n")
    assert make_door("127.0.0.1", tmp_path / "token", []).token == "a-token-of-some-length"


@pytest.mark.parametrize("content", ["short", "two words of some length", "line\nbreaks-in-it-xx"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: str) -> None:
    from netwright.apps.server.serving import make_door

    (tmp_path / "token").write_text(content)
    with pytest.raises(NetwrightError, match="must hold a token of 16 to 200 letters"):
        make_door("0.0.0.0", tmp_path / "token", [])
    with pytest.raises(NetwrightError):
        make_door("0.0.0.0", tmp_path / "nothing", [])
