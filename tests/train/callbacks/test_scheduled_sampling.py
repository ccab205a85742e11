"""Scheduled sampling: a monotone way from the first share of truth to the last, and back to 1."""

from itertools import pairwise

import pytest
from torch import nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.models.sequence.encoder_decoder import EncoderDecoder, EncoderDecoderConfig
from netwright.train.callback import Callback
from netwright.train.callbacks.scheduled_sampling import ScheduledSampling, remaining
from netwright.train.setting_groups import ForcingDecay
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from tests.train.toy_runs import assert_same

DECAYS: tuple[ForcingDecay, ...] = ("linear", "inverse-sigmoid")


def data_and_model() -> tuple[Data, EncoderDecoder]:
    data = load("reverse", n=40, length=3, test_size=0)
    with seeded(0):
        return data, EncoderDecoder.build(EncoderDecoderConfig(hidden=4, embedding=2), data.spec)


class Watch(Callback):
    """Writes down how much of the truth each batch was told."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    def on_batch_end(self, state: TrainState) -> None:
        """After each batch."""
        assert isinstance(state.model, EncoderDecoder)
        self.shares.append(state.model.teacher_forcing)


def train(data: Data, model: EncoderDecoder, *callbacks: Callback) -> EncoderDecoder:
    """Nine batches."""
    config = TrainConfig(epochs=3, batch_size=12, device="cpu")
    trainer = Trainer(config, task_for(data), callbacks=callbacks)
    trainer.fit(trainer.start(model, data), data)
    return model


@pytest.mark.parametrize("decay", DECAYS)
def test_what_remains_falls_from_one_to_nothing_and_never_rises(decay: ForcingDecay) -> None:
    shares = [remaining(step / 50, decay) for step in range(51)]
    assert (shares[0], shares[-1]) == (1.0, 0.0)
    assert all(now > later for now, later in pairwise(shares))
    assert shares[25] == pytest.approx(0.5)


def test_the_inverse_sigmoid_is_slow_at_the_ends_and_quick_between() -> None:
    at_once, between = (
        remaining(begin, "inverse-sigmoid") - remaining(begin + 0.1, "inverse-sigmoid")
        for begin in (0.0, 0.45)
    )
    assert at_once < 0.01
    assert between > 0.2


def test_training_goes_from_the_first_share_to_the_last_and_gives_the_model_back_told() -> None:
    data, model = data_and_model()
    watch = Watch()
    train(data, model, ScheduledSampling(model, 0.9, 0.2), watch)
    assert watch.shares == pytest.approx([0.9 - 0.7 * batch / 8 for batch in range(9)])
    assert model.teacher_forcing == 1.0


def test_told_everything_training_is_bitwise_what_it_is_without_it() -> None:
    data, model = data_and_model()
    with_it = train(data, model, ScheduledSampling(model, 1.0, 1.0))
    assert_same(with_it.state_dict(), train(*data_and_model()).state_dict())


def test_told_less_training_is_another() -> None:
    data, model = data_and_model()
    half = train(data, model, ScheduledSampling(model, 0.5, 0.5)).state_dict()
    whole = train(*data_and_model()).state_dict()
    assert any(not half[name].equal(whole[name]) for name in whole)


def test_an_error_gives_the_model_back_too() -> None:
    data, model = data_and_model()

    class Fails(Callback):
        """After the first batch."""

        def on_batch_end(self, state: TrainState) -> None:
            """It was told half."""
            assert model.teacher_forcing == 0.5
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        train(data, model, ScheduledSampling(model, 0.5, 0.0), Fails())
    assert model.teacher_forcing == 1.0


def test_settings_say_both_ends() -> None:
    assert TrainConfig().forcing == (1, 1)
    assert TrainConfig(teacher_forcing=0.5).forcing == (0.5, 0.5)
    assert TrainConfig(teacher_forcing_end=0).forcing == (1, 0)
    with pytest.raises(ConfigError, match=r"^teacher_forcing must be at most 1"):
        TrainConfig(teacher_forcing=1.5)
    with pytest.raises(
        ConfigError,
        match=r"^teacher_forcing must be 1 with compile: each change would need a "
        r"recompilation$",
    ):
        TrainConfig(teacher_forcing_end=0, compile=True)


def test_a_model_that_says_nothing_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^teacher_forcing is for sequence-to-sequence models, got Linear$",
    ):
        ScheduledSampling(nn.Linear(1, 1), 1.0, 0.0)
