"""What is carried from batch to batch: apart from what a model has learned."""

from netwright.train.carried_state import CarriesState, lasting_tensors
from tests.train.token_data import small_lstm, spec_of
from tests.train.toy_runs import toy_net


def test_all_of_a_state_lasts_but_what_is_carried() -> None:
    model, net = small_lstm(spec_of(4)), toy_net(batch_norm=True)
    assert isinstance(model, CarriesState)
    assert not isinstance(net, CarriesState)
    assert set(model.state_dict()) - set(lasting_tensors(model)) == {"carried"}
    assert list(lasting_tensors(net)) == list(net.state_dict())
