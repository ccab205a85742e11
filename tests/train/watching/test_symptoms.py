"""Symptoms told from numbers: each on its own side of its threshold, and causes before effects."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.train.watching.history import History, Row
from netwright.train.watching.layer_history import LayerHistory, LayerRow
from netwright.train.watching.symptoms import (
    FEWEST_ROWS,
    LEAKY,
    OPTIONS,
    RELU,
    SMALLER,
    SYMPTOMS,
    Patient,
    Score,
    find_symptoms,
    not_finite,
)
from tests.repetition import for_each

HEALTHY = LayerRow(
    step=1, epoch=0, loss=1.0, gradient=(0.6, 0.8), weight=(10.0, 10.0), update=(0.01, 0.02)
)


def losses(**splits: list[float]) -> History:
    return History(
        [
            Row(step=e, epoch=e, samples=e, time=0.0, split=split, name="loss", value=value)
            for split, values in splits.items()
            for e, value in enumerate(values, start=1)
        ]
    )


def patient(first: float = 1.0, last: float = 0.5, **numbers: Any) -> Patient:
    """A run of 20 monitored steps, all alike but for the loss, which falls half way."""
    rows = [
        replace(HEALTHY, step=step, loss=first if step <= 10 else last, **numbers)
        for step in range(1, 21)
    ]
    return Patient(history=History(), layers=LayerHistory(("inner", "outer"), rows), lr=0.1)


def illnesses(case: Patient) -> list[str]:
    return [finding.illness for finding in find_symptoms(case)]


def test_a_healthy_run_has_no_symptom_and_neither_has_an_empty_one() -> None:
    assert illnesses(patient()) == []
    assert illnesses(Patient(history=History(), layers=LayerHistory(), lr=0.1)) == []


def test_a_run_of_few_steps_is_not_judged() -> None:
    ill = patient(last=9.0, update=(5.0, 5.0))
    assert illnesses(ill) == ["rate-too-high"]
    enough = ill.layers.rows[: FEWEST_ROWS // 2] + ill.layers.rows[-FEWEST_ROWS // 2 :]
    for rows, found in ((enough, ["rate-too-high"]), (enough[1:], [])):
        few = LayerHistory(ill.layers.layers, rows)
        assert illnesses(replace(ill, layers=few)) == found


@for_each(
    ("numbers", "illness"),
    [
        ({"last": 1.3, "update": (2.0, 2.0)}, "rate-too-high"),
        ({"last": 1.3, "update": (0.5, 0.5)}, "rate-too-high"),  # a twentieth, which is the limit
        ({"last": 1.0, "update": (1e-5, 1e-5)}, "rate-too-low"),
        ({"gradient": (900.0, 500.0)}, "exploding-gradients"),
        ({"gradient": (1e-6, 0.5)}, "vanishing-gradients"),
        ({"gradient": (0.0, 0.5)}, "frozen-part"),
        ({"dead": (0.8, None)}, "dead-units"),
        ({"saturated": (None, 0.8)}, "saturated-units"),
    ],
)
def test_each_illness_of_layers_has_its_sign(numbers: dict[str, Any], illness: str) -> None:
    assert illnesses(patient(**numbers)) == [illness]


@for_each(
    "numbers",
    [
        {"last": 1.1, "update": (2.0, 2.0)},  # long steps, and a loss that may as well be chance
        {"last": 1.3},  # a loss that rises by steps of a usual length
        {"last": 0.8, "update": (1e-5, 1e-5)},  # short steps that are enough
        {"last": 0.94, "update": (1e-5, 1e-5)},  # just so, by the mean of either half
        {"last": 1.0},  # a loss that stands, by steps of a usual length
        {"gradient": (600.0, 500.0)},
        {"gradient": (1e-4, 0.5)},
        {"gradient": (0.5, 1e-6)},  # the longest gradient is in front
        {"gradient": (None, 0.5)},  # frozen on purpose
        {"dead": (0.7, None), "saturated": (0.7, None)},
    ],
)
def test_what_is_half_of_an_illness_is_none(numbers: dict[str, Any]) -> None:
    assert illnesses(patient(**numbers)) == []


def with_rows(rows: list[LayerRow]) -> Patient:
    return replace(patient(), layers=LayerHistory(("inner", "outer"), rows))


def test_the_first_steps_count_as_well_as_the_late_ones() -> None:
    """Weights that have grown make steps of the same length look short."""
    rows = patient(last=1.5, **LONG).layers.rows
    short = [replace(row, update=HEALTHY.update) for row in rows]
    assert illnesses(with_rows(rows[:FEWEST_ROWS] + short[FEWEST_ROWS:])) == ["rate-too-high"]
    assert illnesses(with_rows(short[:10] + rows[10:])) == ["rate-too-high"]
    assert illnesses(with_rows(short)) == []


def test_a_loss_has_risen_where_it_is_above_the_first_one_in_the_second_half() -> None:
    def run(losses: list[float]) -> Patient:
        rows = patient(**LONG).layers.rows
        pairs = zip(rows, losses, strict=True)
        return with_rows([replace(row, loss=loss) for row, loss in pairs])

    (finding,) = find_symptoms(run([1.0, *[9.0] * 19]))
    assert finding.sentence.startswith("the loss rose from 1 to 9, ")
    assert illnesses(run([1.0, *[9.0] * 13, *[0.5] * 6])) == []  # and has fallen again


@pytest.mark.parametrize(("steps", "is_ill"), [(10, True), (11, False)])
def test_one_long_gradient_of_ten_is_many(steps: int, is_ill: bool) -> None:
    rows = patient().layers.rows[:steps]
    rows[3] = replace(rows[3], gradient=(1e5, 1.0))
    assert illnesses(with_rows(rows)) == ["exploding-gradients"] * is_ill


@pytest.mark.parametrize(("limit", "is_ill"), [(1.0, False), (1e3, False), (1e9, True)])
def test_gradients_that_are_cut_in_time_may_be_long(limit: float, is_ill: bool) -> None:
    case = patient(gradient=(1e5, 1.0))
    assert illnesses(case) == ["exploding-gradients"]
    assert illnesses(replace(case, limit=limit)) == ["exploding-gradients"] * is_ill


def test_a_gradient_that_is_long_before_the_first_step_is_not_the_rates_doing() -> None:
    rows = patient(last=9.0, update=(5.0, 5.0), gradient=(1e5, 1.0)).layers.rows
    case = patient()
    assert illnesses(replace(case, layers=LayerHistory(("inner", "outer"), rows))) == [
        "exploding-gradients"
    ]
    rows[0] = HEALTHY
    assert illnesses(replace(case, layers=LayerHistory(("inner", "outer"), rows))) == [
        "rate-too-high"
    ]


def test_what_an_illness_brings_about_is_not_told_beside_it() -> None:
    assert illnesses(patient(dead=(1.0, None), gradient=(0.0, 0.5))) == ["dead-units"]
    assert illnesses(patient(saturated=(1.0, None), gradient=(1e-9, 0.5))) == ["saturated-units"]
    for case, cause in (
        (patient(last=1.3, update=(2.0, 2.0)), "rate-too-high"),
        (patient(gradient=(900.0, 500.0)), "exploding-gradients"),
    ):
        overfit = replace(case, history=losses(train=DOWN, val=UP))
        assert illnesses(overfit) == [cause]


SIGNS: dict[str, dict[str, Any]] = {
    "exploding-gradients": {"gradient": (1e5, 500.0)},
    "vanishing-gradients": {"gradient": (1e-9, 0.5)},
    "frozen-part": {"gradient": (0.0, 0.5)},
    "dead-units": {"dead": (1.0, None)},
    "saturated-units": {"saturated": (1.0, None)},
}


@pytest.mark.parametrize("effect", SIGNS)
def test_a_rate_that_is_too_high_explains_whatever_the_layers_show(effect: str) -> None:
    first, *rest = patient(**SIGNS[effect]).layers.rows
    if effect == "exploding-gradients":  # before the first step that is not the rate's doing
        first = HEALTHY
    healthy = with_rows([first, *rest])
    assert illnesses(healthy) == [effect]
    long = [replace(row, loss=9.0, update=(2.0, 2.0)) for row in rest]
    assert illnesses(with_rows([first, *long])) == ["rate-too-high"]


@pytest.mark.parametrize(
    ("cause", "effects"),
    [
        ("exploding-gradients", ["dead-units", "saturated-units"]),
        ("dead-units", ["frozen-part", "vanishing-gradients"]),
        ("saturated-units", ["vanishing-gradients"]),
    ],
)
def test_each_cause_hides_its_effects(cause: str, effects: list[str]) -> None:
    for effect in effects:
        assert illnesses(patient(**SIGNS[cause], **SIGNS[effect])) == [cause]
    for other, signs in SIGNS.items():
        if other not in {cause, *effects} and not signs.keys() & SIGNS[cause].keys():
            assert other in illnesses(patient(**SIGNS[cause], **signs))


LONG: dict[str, Any] = {"update": (2.0, 2.0)}  # a fifth of the weights
NOTHING = Score("log_loss", 1.0, guess=1.0)


@for_each(
    ("case", "harm"),
    [
        (patient(last=1.5, **LONG), "the loss rose from 1 to 1.5"),
        (patient(dead=(0.2, 0.9), **LONG), "90% of the ReLU units after layer 'outer' died"),
        (
            patient(saturated=(0.8, None), **LONG),
            "80% of the outputs of layer 'inner' are saturated",
        ),
        (
            replace(patient(last=1.0, **LONG), score=NOTHING),
            "log_loss 1 is no better than guessing without the inputs, 1",
        ),
    ],
    ids=["a loss that rises", "dead units", "flat units", "a run that learned nothing"],
)
def test_long_steps_that_do_harm_are_told_with_a_lower_rate_and_nothing_beside(
    case: Patient, harm: str
) -> None:
    (finding,) = find_symptoms(case)
    assert finding.illness == "rate-too-high"
    assert finding.sentence == (
        f"{harm}, and a step changed the weights by 20% of their length, where 0.1% is usual"
    )
    assert finding.fix == (
        "Lower the learning rate, which was 0.1: try --lr 0.01, or let --find-lr suggest one"
    )


@pytest.mark.parametrize(
    ("measure", "harm"), [("dead", " died, "), ("saturated", " are saturated, ")]
)
def test_long_steps_are_judged_by_the_last_look_at_the_units(measure: str, harm: str) -> None:
    case = patient(**LONG)
    for step, share in ((4, 0.2), (19, 0.9)):
        look: dict[str, Any] = {measure: (share, None)}
        case.layers.rows[step] = replace(case.layers.rows[step], **look)
    (finding,) = find_symptoms(case)
    assert finding.illness == "rate-too-high"
    assert harm in finding.sentence


@for_each("numbers", [{}, LONG], ids=["usual steps", "long steps"])
@for_each("measure", ["dead", "saturated"])
def test_units_that_sleep_at_the_end_of_a_good_run_are_no_illness(
    measure: str, numbers: dict[str, Any]
) -> None:
    case = patient(**{measure: (0.97, None), **numbers})
    assert len(illnesses(replace(case, score=Score("log_loss", 0.3, guess=1.0)))) == 1
    assert illnesses(replace(case, score=Score("log_loss", 0.1, guess=1.0))) == []


@pytest.mark.parametrize(
    ("numbers", "option", "told", "untold"),
    [
        (
            {"gradient": (1e-6, 0.5)},
            RELU,
            "Use relu in place of sigmoid or tanh (--set model.activation=relu), or fewer layers",
            "Use relu in place of sigmoid or tanh, or fewer layers",
        ),
        (
            {"dead": (0.8, None)},
            LEAKY,
            "Use leaky ReLUs: --set model.activation=leaky-relu",
            "Use leaky ReLUs, as nn.LeakyReLU, or smaller weights and a lower learning rate",
        ),
        (
            {"saturated": (0.8, None)},
            SMALLER,
            "Start from smaller weights: --set model.initializer=xavier-normal",
            "Start from smaller weights, as torch.nn.init.xavier_normal_ gives",
        ),
    ],
    ids=["vanishing", "dead", "saturated"],
)
def test_a_fix_names_an_option_only_where_the_model_has_it(
    numbers: dict[str, Any], option: str, told: str, untold: str
) -> None:
    case = patient(**numbers)
    (without,), (with_it,) = (
        find_symptoms(replace(case, options=options))
        for options in (frozenset(OPTIONS) - {option}, frozenset({option}))
    )
    assert (with_it.fix, without.fix) == (told, untold)


def test_long_steps_that_learn_the_training_data_are_not_too_long() -> None:
    assert illnesses(replace(patient(last=0.5, **LONG), score=NOTHING)) == []


def test_first_steps_from_weights_of_0_are_not_called_long() -> None:
    from_zero = patient(last=1.0, dead=(0.9, None), weight=(2.0, 2.0), **LONG)
    assert illnesses(replace(from_zero, score=NOTHING)) == ["dead-units"]
    first, *rest = from_zero.layers.rows
    from_zero.layers.rows[:] = [first, *(replace(row, weight=(9.0, 9.0)) for row in rest)]
    assert illnesses(replace(from_zero, score=NOTHING)) == ["dead-units"]


UP = [1.0, 0.5, 0.6, 0.7, 0.8]
DOWN = [1.0, 0.5, 0.4, 0.3, 0.2]


@for_each(
    ("train", "val", "is_ill"),
    [
        (DOWN, UP, True),
        (DOWN, DOWN, False),
        (UP, UP, False),  # both got worse: that is something else
        (DOWN, [1.0, 0.5, 0.55, 0.6, 0.55], False),  # a little worse
        (DOWN, [1.0, 0.01, 0.02, 0.03, 0.02], False),  # worse, of what is next to nothing
        (DOWN, [20.0, 1.0, 2.0, 2.0, 2.0], True),  # by a twentieth of the first, which is the limit
        (DOWN[:3], UP[:3], False),  # too short to tell
        (DOWN, [], False),
    ],
)
def test_overfitting_is_validation_that_gets_worse_while_training_gets_better(
    train: list[float], val: list[float], is_ill: bool
) -> None:
    case = replace(patient(), history=losses(train=train, val=val))
    assert illnesses(case) == ["overfitting"] * is_ill


def test_measurements_within_an_epoch_are_not_judged() -> None:
    case = replace(patient(), history=losses(train=DOWN, val=[1.0, 0.5, 0.6, 0.9, 0.6]))
    between = Row(step=99, epoch=2, samples=9, time=0.0, split="val", name="loss", value=0.1)
    by_step = replace(between, split="step")
    more = replace(case, history=History([*case.history, between, by_step]))
    assert find_symptoms(more) == find_symptoms(case)


def test_overfitting_is_told_by_the_numbers_that_were_judged() -> None:
    val = [1.0, 0.5, 0.6, 0.9, 0.6]
    (finding,) = find_symptoms(replace(patient(), history=losses(train=DOWN, val=val)))
    assert finding.sentence == (
        "the validation loss was best in epoch 2, 0.5, and is 0.7 in the mean of the last 3, while "
        "the training loss fell from 0.5 to 0.2"
    )


@for_each(
    ("train", "reached", "is_ill"),
    [
        ([1.0] * 8, 1.0, True),
        ([1.0] * 7, 1.0, False),  # too short to tell
        ([1.0] * 8, 0.97, True),  # 3 % below the guess, which is the limit
        ([1.0] * 8, 0.9, False),  # it stands, and has learned
        ([2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3], 1.0, False),  # it still learns
        ([0.9, 0.5, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1], 1.5, True),  # it learned what does not help
    ],
)
def test_a_plateau_is_a_loss_that_stands_where_guessing_does_as_well(
    train: list[float], reached: float, is_ill: bool
) -> None:
    case = replace(
        patient(), history=losses(train=train), score=Score("log_loss", reached, guess=1.0)
    )
    assert illnesses(case) == ["plateau"] * is_ill
    assert illnesses(replace(case, score=None)) == []


def test_a_plateau_is_not_told_where_something_explains_it() -> None:
    score = Score("log_loss", 1.0, guess=1.0)
    case = replace(patient(dead=(1.0, 0.0)), history=losses(train=[1.0] * 8), score=score)
    assert illnesses(case) == ["dead-units"]


def test_a_finding_names_the_layer_and_the_number() -> None:
    (finding,) = find_symptoms(patient(dead=(0.5, 0.9)))
    assert finding.sentence == (
        "90% of the ReLU units after layer 'outer' are 0 on a whole batch: their gradient is 0 "
        "too, and they do not learn"
    )
    (finding,) = find_symptoms(patient(gradient=(0.0, 0.0)))
    assert finding.sentence == (
        "layer 'inner' and 1 more of 2 had no gradient at any of 20 monitored steps: the loss "
        "does not depend on it"
    )


def test_not_finite_blames_the_data_or_the_rate() -> None:
    data = not_finite("the inputs of row 3 are not finite", step=7, lr=0.1, in_data=True)
    assert data.sentence == "a number was not finite at step 7: the inputs of row 3 are not finite"
    assert "row" in data.fix
    rate = not_finite("the output of layer '2' is not finite", step=7, lr=0.1, in_data=False)
    assert rate.fix.startswith("Lower the learning rate, which was 0.1")


def test_every_symptom_is_told_at_most_once() -> None:
    names = [symptom.__name__.replace("_", "-") for symptom in SYMPTOMS]
    assert len({*names, "not-finite"}) == 10
