"""What units answer, of a run: to an example, or to an input of one's own."""

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError


@pytest.fixture(scope="module")
def digits_run() -> nw.Run:
    images, kinds = np.random.default_rng(0).random((40, 1, 4, 4)), np.arange(40) % 2
    return nw.fit("mlp", (images, kinds), hidden=(5,), epochs=1, quiet=True, save=False)


def test_a_network_without_convolutions_shows_its_layers_of_a_drawing(digits_run: nw.Run) -> None:
    example = nw.inspect(digits_run, "units").to_json()
    assert [len(layer["answers"]) for layer in example["layers"]] == [5, 2]
    assert example["names"] == ["0", "1"] and len(example["seen"]) == 4
    drawn = np.zeros((1, 4, 4), "float32")
    drawn[0, 1] = 1
    own = nw.inspect(digits_run, "units", of=drawn).to_json()
    assert own["layers"] != example["layers"] and own["seen"][1] == [255] * 4
    outputs = own["layers"][-1]["answers"]
    (probabilities,) = digits_run.predict_proba([drawn])
    assert np.allclose(np.exp(outputs) / np.exp(outputs).sum(), probabilities, atol=1e-6)
    assert nw.inspect(digits_run, "units", example=1).to_json()["layers"] != example["layers"]


def test_a_model_without_layers_of_units_is_refused() -> None:
    run = nw.fit("random-forest", "iris", trees=2, quiet=True, save=False)
    with pytest.raises(ConfigError, match="needs weight matrices"):
        nw.inspect(run, "units")
