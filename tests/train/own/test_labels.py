"""What scikit-learn is given to compare."""

import torch

from netwright.train.own.labels import as_array


def test_classes_labels_and_reals_are_as_scikit_learn_has_them() -> None:
    two, three = torch.tensor([[0.2, 0.8]]), torch.tensor([[0.2, 0.7, 0.1]])
    assert as_array("class", two, scores=False).tolist() == [1]
    assert as_array("class", two, scores=True).tolist() == two[:, 1].tolist()
    assert as_array("class", three, scores=True).tolist() == three.tolist()
    assert as_array("labels", three, scores=False).tolist() == [[0, 1, 0]]
    assert as_array("labels", three, scores=True).tolist() == three.tolist()
    assert as_array("real", three, scores=True).tolist() == three.tolist()
