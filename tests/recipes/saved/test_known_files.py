"""Layouts: which names are ours, level by level."""

from netwright.recipes.saved.known_files import CHECKPOINT, KINDS, MODEL, RUN


def test_every_kind_is_told_by_a_file_of_its_own() -> None:
    marks = [mark for _, mark, _ in KINDS]
    assert len(set(marks)) == len(marks)
    for _, mark, layout in KINDS:
        assert mark in layout.files


def test_folders_are_found_by_whole_names() -> None:
    assert RUN.folder("model") is MODEL
    checkpoints = RUN.folder("checkpoints")
    assert checkpoints is not None
    assert checkpoints.folder("step-000100") is checkpoints.folder("step-000100-2") is CHECKPOINT
    for name in ("step-1", "step-000100x", "xstep-000100", "..", ""):
        assert checkpoints.folder(name) is None
