"""The engine of replicas changes nothing of what one process does."""

import torch

from netwright.train.engines.engine import Engine
from tests.train.toy_runs import toy_net


def test_a_replica_holds_all_of_its_tensors() -> None:
    model, engine = toy_net(), Engine()
    assert engine.place(model, torch.device("cpu")) is model
    weights = list(model.parameters())
    for own, weight in zip(engine.own(weights), weights, strict=True):
        assert own is weight
    norms = torch.tensor([3.0, 4.0])
    assert engine.whole_norms(norms) is norms
    assert float(engine.norm([norms])) == 5
    assert not engine.shards
    assert engine.streams == ()
    assert torch.equal(engine.put_together((2,), lambda start, stop: norms[start:stop]), norms)
