"""Commands of their own: started in the folder, and told of when they fail."""

from pathlib import Path

import pytest

pytest.importorskip("starlette")

from netwright.apps.server.refusal import RefusalError
from netwright.apps.studio.jobs import LOGS, MOST_RUNNING, Jobs


@pytest.mark.slow
def test_a_command_that_fails_is_told_by_its_sentence(tmp_path: Path) -> None:
    for module in ("json", "netwright"):  # Python files in the folder are not imported
        (tmp_path / f"{module}.py").write_text("raise SystemExit('imported from the folder')")
    jobs = Jobs(tmp_path)
    job = jobs.start(["train", "nosuchmodel", "moons"], "netwright train nosuchmodel moons")
    job.process.wait(120)
    (told,) = jobs.to_json()
    assert told["code"] == 2 and "nosuchmodel" in str(told["said"])
    assert len(list((tmp_path / LOGS).iterdir())) == 1


def test_no_more_than_some_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless:
        pid = 1

        def __init__(self, words: list[str], **settings: object) -> None:
            assert settings["cwd"] == tmp_path and settings["start_new_session"] is True

        def poll(self) -> None:
            return None

    monkeypatch.setattr("subprocess.Popen", Endless)
    jobs = Jobs(tmp_path)
    for _ in range(MOST_RUNNING):
        jobs.start(["env"], "netwright env")
    with pytest.raises(RefusalError, match="wait for one to end") as refusal:
        jobs.start(["env"], "netwright env")
    assert refusal.value.status == 429
