"""Weights of other libraries as runs: they predict, go on, and are started from."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.exchange.gpt2_config import to_gpt2_config
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.model import Model
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.recipes.saved.verify import verify
from tests.models.exchange.test_foreign_weights import timm_state
from tests.models.exchange.test_gpt2_vocabulary import theirs

SMALL: dict[str, dict[str, Any]] = {"resnet18": {"width": 2}, "vgg11": {"width": 1, "hidden": 4}}


def image_model(name: str, outputs: int = 3, channels: int = 3) -> Model:
    kind = MODELS.load(name)
    spec = DataSpec(
        inputs="image", input_shape=(channels, 32, 32), target="class", num_outputs=outputs
    )
    with seeded(5):
        return kind.build(kind.settings(**SMALL[name]), spec).eval()


def saved(folder: Path, weights: dict[str, Tensor]) -> Path:
    path = folder / "weights.safetensors"
    save_file({name: held.contiguous() for name, held in weights.items()}, path)
    return path


@pytest.mark.parametrize("name", SMALL)
def test_a_network_for_images_predicts_with_the_scaling_of_imagenet(
    name: str, tmp_path: Path
) -> None:
    model = image_model(name)
    weights = timm_state(image_model(name)) if name == "vgg11" else model.state_dict()
    names = ["cat", "dog", "owl"]
    settings: dict[str, Any] = {"settings": SMALL[name], "classes": names, "size": 32}
    folder = nw.import_run(saved(tmp_path, weights), name, out=tmp_path / "run", **settings)
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    run = nw.open_run(folder)
    mean, scale = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])
    scaled = (torch.from_numpy(pixels) / 255 - mean) / scale
    with torch.no_grad():
        wanted = model(scaled.permute(2, 0, 1)[None]).softmax(1)
    got = run.predict_proba(tmp_path / "photo.png")
    np.testing.assert_allclose(got, wanted.numpy(), rtol=0, atol=1e-5)
    assert run.predict(tmp_path / "photo.png").tolist() == [names[int(wanted.argmax())]]
    assert run.results["status"] == "imported"
    assert verify(folder).holds


def test_channels_and_outputs_are_read_from_the_weights(tmp_path: Path) -> None:
    weights = image_model("resnet18", outputs=7, channels=1).state_dict()
    folder = nw.import_run(
        saved(tmp_path, weights), "resnet18", out=tmp_path / "run", size=32, settings={"width": 2}
    )
    run = nw.open_run(folder)
    assert run.spec.input_shape == (1, 32, 32)
    assert run.predict(np.zeros((2, 32, 32), np.uint8)).dtype.kind == "i"  # classes 0 to 6
    assert run.spec.class_names == tuple("0123456")


def test_a_run_is_started_from_it_and_what_needs_data_says_so(tmp_path: Path) -> None:
    weights = image_model("resnet18").state_dict()
    folder = nw.import_run(
        saved(tmp_path, weights), "resnet18", out=tmp_path / "run", size=32, settings={"width": 2}
    )
    images = np.random.default_rng(0).integers(0, 256, (30, 3, 8, 8), dtype=np.uint8)
    begun = nw.fit(
        "resnet18",
        (images, np.arange(30) % 2),
        width=2,
        start_from=folder,
        lr=1e-12,
        epochs=1,
        save=False,
        quiet=True,
    )
    kept = begun.model.state_dict()["layer1.0.conv1.weight"].cpu()
    torch.testing.assert_close(kept, weights["layer1.0.conv1.weight"], rtol=0, atol=1e-6)
    run = nw.open_run(folder)
    with pytest.raises(DataError, match=r"imported from weights\.safetensors, without data"):
        run.evaluate()
    with pytest.raises(ConfigError, match="was imported, not trained: there is nothing to report"):
        run.report()
    labelled = (images[:, :, :1, :1].repeat(32, 2).repeat(32, 3), np.arange(30) % 3)
    assert 0 <= run.evaluate(labelled)["accuracy"] <= 1


def gpt_folder(folder: Path, **told: Any) -> tuple[Path, GPT]:
    """A tiny GPT-2 as transformers saves it."""
    tokenizer = theirs()
    size = len(tokenizer["model"]["vocab"])
    spec = DataSpec(
        inputs="tokens", input_shape=(8,), target="tokens", num_outputs=size, vocab_size=size
    )
    with seeded(4):
        model = GPT.build(GPTConfig(layers=1, heads=2, width=8), spec).eval()
    with torch.no_grad():
        model.wte.weight.mul_(20)  # so that the likeliest token is clear
    folder.mkdir()
    weights = {name: held.clone() for name, held in to_gpt2(model.state_dict()).items()}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**to_gpt2_config(model), **told}))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder, model


def test_a_gpt2_goes_on_with_its_own_tokens(tmp_path: Path) -> None:
    source, model = gpt_folder(tmp_path / "hf")
    run = nw.open_run(nw.import_run(source, out=tmp_path / "run"))
    ours = run.preprocessor.prompt("the quick fox")  # type: ignore[attr-defined]
    rows = run.model.get_parameter("wte.weight")[4:]
    assert torch.equal(rows.cpu(), model.wte.weight[:-1])
    with torch.no_grad():
        got, wanted = run.model.cpu()(ours), model(ours - 4)
    torch.testing.assert_close(got[..., 4:], wanted[..., :-1])
    tokens = (ours - 4)[0].tolist()
    with torch.no_grad():
        for _ in range(3):
            tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
    said = run.preprocessor.tokenizer.decode([token + 4 for token in tokens])  # type: ignore[attr-defined]
    assert "the quick fox" + run.generate("the quick fox", beams=1, max_tokens=3) == said


@pytest.mark.slow  # transformers takes seconds to be imported
def test_what_transformers_saves_gives_the_logits_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    source, _ = gpt_folder(tmp_path / "hf")
    size = len(theirs()["model"]["vocab"])
    config = transformers.GPT2Config(
        vocab_size=size,
        n_positions=8,
        n_embd=8,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(source)
    run = nw.open_run(nw.import_run(source, out=tmp_path / "run"))
    tokens = torch.randint(0, size - 1, (3, 8))
    with torch.no_grad():
        wanted, got = model(tokens).logits, run.model.cpu()(tokens + 4)
    torch.testing.assert_close(got[..., 4:], wanted[..., :-1], rtol=0, atol=1e-5)
    torch.testing.assert_close(got[..., 3], wanted[..., -1], rtol=0, atol=1e-5)


def test_refusals_leave_nothing_behind(tmp_path: Path) -> None:
    weights = image_model("resnet18").state_dict()
    file, out = saved(tmp_path, weights), tmp_path / "run"
    small: dict[str, Any] = {"settings": {"width": 2}, "size": 32, "out": out}
    odd, _ = gpt_folder(tmp_path / "odd", activation_function="relu")
    cases: list[tuple[str, dict[str, Any], Path]] = [
        ("there is no .*absent to import", {"model": "resnet18"}, tmp_path / "absent"),
        ("say whose weights .* holds: --model resnet18", {"model": ""}, file),
        ("gru is not a network for images", {"model": "gru", "settings": {}}, file),
        ("unknown model 'resent18'", {"model": "resent18"}, file),
        ("has 3 classes, got 2 names", {"model": "resnet18", "classes": ["a", "b"]}, file),
        (
            r"'.*' is \(.*\) there and \(.*\) here",
            {"model": "resnet18", "settings": {"width": 4}},
            file,
        ),
        ("leave out the model", {"model": "resnet18"}, odd),
        ("does not hold a GPT-2: activation_function is 'relu', [^;]*$", {"settings": None}, odd),
        (
            r"is 'bert', wanted 'gpt2'; netwright train bert DATA "
            r"--from '.*a bert.model\.safetensors' starts from its weights$",
            {"settings": None},
            gpt_folder(tmp_path / "a bert", model_type="bert")[0],
        ),
    ]
    for sentence, given, source in cases:
        with pytest.raises((ConfigError, DataError), match=sentence):
            nw.import_run(source, **{**small, **given})
        assert not out.exists()
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        lacking, _ = gpt_folder(tmp_path / f"without-{name}")
        (lacking / name).unlink()
        with pytest.raises(ConfigError, match=f"without-{name} has no {name}$"):
            nw.import_run(lacking, out=out)
    weights["fc.bias"][0] = torch.nan
    with pytest.raises(DataError, match=r"fc\.bias"):
        nw.import_run(saved(tmp_path, weights), "resnet18", **small)
    assert not out.exists()


def theirs_by(library: str, name: str) -> Any:
    """A network of theirs with drawn weights, and statistics that are not the first ones."""
    if library == "torchvision":
        make = getattr(pytest.importorskip("torchvision.models"), name)
        model = make(num_classes=7)
    else:
        model = pytest.importorskip("timm").create_model(name, num_classes=7)
    for key, held in model.state_dict().items():
        if key.endswith("running_mean"):
            held.normal_(0, 0.1)
        if key.endswith("running_var"):
            held.uniform_(0.5, 2.0)
    return model.eval()


@pytest.mark.slow  # weights of some hundred megabytes
@pytest.mark.parametrize(
    ("library", "name"),
    [
        *(("torchvision", name) for name in ("alexnet", "vgg11", "resnet18", "resnet50")),
        *(("timm", name) for name in ("vgg11", "resnet18", "resnet50")),
    ],
)
def test_what_they_save_gives_their_logits(library: str, name: str, tmp_path: Path) -> None:
    with seeded(6):
        model = theirs_by(library, name)
        images = torch.randn(2, 3, 224, 224)
    path = saved(tmp_path, model.state_dict())
    run = nw.open_run(nw.import_run(path, name, out=tmp_path / "run"))
    with torch.no_grad():
        wanted, got = model(images), run.model.cpu()(images)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4 * float(wanted.abs().max()))
    assert run.spec.num_outputs == 7
