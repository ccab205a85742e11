"""A vision transformer: transformers reads the same pictures."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import netwright as nw
from netwright.core.errors import RunError
from netwright.recipes.exchange.architectures import vit
from tests.recipes.exchange.architectures.test_gpt2 import SMALL


@pytest.mark.slow
def test_a_vit_reads_pictures_as_the_run_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    numbers = np.random.default_rng(0)
    for place in range(24):
        folder = tmp_path / "pictures" / "ab"[place % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = numbers.integers(0, 256, (8, 12, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{place}.png")
    data = nw.data.load("images", path=str(tmp_path / "pictures"))
    run = nw.fit("vit", data, save=False, **SMALL)
    done = run.export("hf", tmp_path / "hf")
    assert done.difference < 1e-4
    assert "preprocessor_config.json" in done.files
    model = transformers.AutoModelForImageClassification.from_pretrained(tmp_path / "hf")
    scaled = transformers.AutoImageProcessor.from_pretrained(tmp_path / "hf")
    with Image.open(tmp_path / "pictures" / "a" / "0.png") as picture, torch.no_grad():
        shares = model(**scaled(picture, return_tensors="pt")).logits.softmax(1)
        wanted = torch.from_numpy(run.predict_proba([picture]))
    torch.testing.assert_close(shares, wanted, rtol=0, atol=1e-5)
    monkeypatch.setattr(vit, "CLOSE", 0.0)
    with pytest.raises(RunError, match="images are scaled otherwise than in the run"):
        run.export("hf", tmp_path / "strict")
