"""What was found: which states are faults, the verdict in words, plain values."""

import json
from pathlib import Path

from netwright.core.files.tensor_file import StoredTensor
from netwright.recipes.saved.verification import FINE, CheckedFile, Verification


def verification(*files: CheckedFile, misfits: tuple[str, ...] = ()) -> Verification:
    weights = (StoredTensor("w", "F32", (2, 3), 24),)
    return Verification(
        folder=Path("x"),
        kind="run",
        about={"model": "mlp"},
        files=files,
        tensors={"model/model.safetensors": weights},
        misfits=misfits,
    )


def test_all_is_well() -> None:
    found = verification(*(CheckedFile(name=state, state=state) for state in sorted(FINE)))
    assert found.holds
    assert str(found) == (
        "x: a run, everything is intact: 4 files, 1 of them verified against a manifest\nmodel: mlp"
    )


def test_every_fault_is_a_sentence() -> None:
    damaged = CheckedFile(name="a", state="damaged", size=3, remark="its sum is another")
    found = verification(damaged, CheckedFile(name="b", state="missing"), misfits=("a is not b",))
    assert not found.holds
    assert found.faults == ("a: damaged, its sum is another", "b: missing", "a is not b")
    assert found.verdict == "3 things wrong"
    assert verification(damaged).verdict == "1 thing wrong"


def test_plain_values_have_every_tensor() -> None:
    told = json.loads(json.dumps(verification(CheckedFile(name="a", state="a link")).to_json()))
    assert told["holds"] is False
    assert told["files"] == [{"name": "a", "state": "a link", "size": 0, "remark": ""}]
    (weights,) = told["tensors"]["model/model.safetensors"]
    assert weights == {"name": "w", "dtype": "F32", "shape": [2, 3], "size": 24}
