"""Vectors on a plane: the plane is that of PCA, and neighbours are counted in all dimensions."""

import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from torch import nn

from netwright.core.errors import DataError, UnknownNameError
from netwright.data.spec import DataSpec
from netwright.inspection.inside.embedding_map import (
    NEIGHBOURS,
    measure_embedding_map,
    neighbour_accuracy,
    neighbour_variance,
    vectors_after,
    vectors_before_last,
)
from netwright.models.transformers.gpt import GPT, GPTConfig
from tests.inspection.untouched import untouched

GENERATOR = torch.Generator().manual_seed(0)
VECTORS = torch.randn(40, 6, generator=GENERATOR, dtype=torch.float64) * torch.arange(1.0, 7)
CLASSES = (VECTORS[:, 5] > 0).long() + (VECTORS[:, 4] > 3).long()


def test_the_plane_is_that_of_scikit_learns_pca() -> None:
    view = measure_embedding_map(VECTORS, "a row", classes=CLASSES, class_names=("a", "b", "c"))
    theirs = PCA(2).fit(VECTORS.numpy())
    points = torch.tensor(theirs.transform(VECTORS.numpy()))
    torch.testing.assert_close(torch.tensor(view.points).abs().double(), points.abs())
    assert view.variance_share == pytest.approx(theirs.explained_variance_ratio_.sum())
    assert view.image("png").startswith(b"\x89PNG")


def test_neighbours_tell_what_scikit_learns_do() -> None:
    x, y = VECTORS.numpy(), (VECTORS[:, 5] > 0).long()
    said = cross_val_predict(KNeighborsClassifier(NEIGHBOURS), x, y.numpy(), cv=LeaveOneOut())
    assert neighbour_accuracy(VECTORS, y) == pytest.approx((said == y.numpy()).mean())
    value = VECTORS[:, 5] + VECTORS[:, 0]
    guess = cross_val_predict(KNeighborsRegressor(NEIGHBOURS), x, value.numpy(), cv=LeaveOneOut())
    errors = (torch.tensor(guess) - value).square().mean()
    assert neighbour_variance(VECTORS, value) == pytest.approx(
        float(1 - errors / value.var(correction=0))
    )


def test_captions_tell_the_score_beside_the_guess() -> None:
    view = measure_embedding_map(VECTORS, "a row", classes=CLASSES * 0, class_names=("a",))
    assert view.caption.endswith(
        "nearest neighbours of a point tell its class for 100.0 %; the commonest class would be "
        "right for 100.0 %."
    )
    real = measure_embedding_map(VECTORS, "a row", values=VECTORS[:, 5], value_name="height")
    assert "of the variance of height." in real.caption
    alternating = torch.tensor([0.0, 1.0]).repeat(5)  # on a line: neighbours say the opposite
    line = torch.arange(10.0)[:, None].expand(-1, 2)
    opposite = measure_embedding_map(line, "a row", values=alternating, value_name="height")
    assert opposite.caption.endswith("nearest neighbours tell nothing of height.")
    named = measure_embedding_map(VECTORS, "a token", labels=("a", "b"), method="tsne")
    assert "t-SNE" in named.caption
    assert real.plot().axes
    assert named.plot().axes


def test_a_name_that_would_cover_another_is_left_out() -> None:
    places = torch.tensor([[0.0, 0.0], [0.01, 0.0], [5.0, 1.0], [-5.0, -1.0]])
    named = measure_embedding_map(places, "a word", labels=("this", "that", "there", "here"))
    (axes,) = named.plot().axes
    assert [text.get_text() for text in axes.texts] == ["this", "there", "here"]


def test_vectors_are_what_the_last_map_reads() -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(), nn.Linear(12, 2)
    )
    x = torch.randn(5, 1, 4, 4)
    with untouched(model):
        found = vectors_before_last(model, x)
        maps = vectors_after(model, "0", x)
    torch.testing.assert_close(found, model[:3](x))
    torch.testing.assert_close(maps, model[0](x).movedim(1, -1))  # features last
    head = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Conv2d(3, 2, 1))
    torch.testing.assert_close(vectors_before_last(head, x), head[0](x).movedim(1, -1))


def test_tied_weights_are_a_last_map_too() -> None:
    spec = DataSpec(inputs="tokens", input_shape=(4,), target="tokens", num_outputs=7, vocab_size=7)
    model = GPT.build(GPTConfig(layers=1, heads=1, width=4, tied=True), spec).eval()
    tokens = torch.tensor([[1, 2, 3, 4]])
    vectors = vectors_before_last(model, tokens)
    torch.testing.assert_close(vectors @ model.wte.weight.T, model(tokens))


def test_what_has_no_vectors_is_refused() -> None:
    with pytest.raises(DataError, match=r"^ReLU has no linear layer whose inputs could be shown$"):
        vectors_before_last(nn.ReLU(), torch.ones(1, 2))
    with pytest.raises(UnknownNameError, match=r"^unknown layer 'hed'; did you mean 'head'\?$"):
        vectors_after(nn.ModuleDict({"head": nn.Linear(2, 2)}), "hed", torch.ones(1, 2))
    with pytest.raises(DataError, match=r"^a map needs at least 3 vectors, got 2$"):
        measure_embedding_map(VECTORS[:2], "a row")
