"""`netwright import`: published weights as a run."""

from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.vision.lenet import LeNet5, LeNet5Config
from tests.apps.cli.conftest import Type


def test_a_file_of_weights_predicts_with_the_names_of_its_classes(
    type_in: Type, tmp_path: Path
) -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 28, 28), target="class", num_outputs=2)
    with seeded(0):
        model = LeNet5.build(LeNet5Config(), spec)
    with torch.no_grad():
        model.get_parameter(list(model.state_dict())[-1]).copy_(torch.tensor([0.0, 9.0]))
    save_file(model.state_dict(), tmp_path / "lenet.safetensors")
    Path("names.txt").write_text("cat\ndog\n", encoding="utf-8")
    words = ("--model", "lenet5", "--size", 28, "--classes", "names.txt", "--out", "run")
    answer = type_in("import", "lenet.safetensors", *words)
    assert answer.out == "run holds the weights of lenet.safetensors\n"
    Image.new("L", (30, 30), 90).save("photo.png")
    assert type_in("predict", "run", "photo.png").out == "file,prediction\nphoto.png,dog\n"
    resumed = type_in("train", "--resume", "run")
    assert resumed.code == 2
    assert "run was imported, not trained" in resumed.err


def test_a_file_that_is_not_there(type_in: Type) -> None:
    answer = type_in("import", "absent.safetensors", "--model", "resnet18")
    assert answer.code == 2
    assert "there is no absent.safetensors to import" in answer.err
