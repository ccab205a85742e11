"""What every model promises, as checks that anyone may run on a model of their own.

    @pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_model_contract(check):
        check(lambda: MyModel.build(MyConfig(), spec))

`build` makes the model anew each time, with weights drawn from torch's generator.

Shapes: B batch, C outputs, I rows, J columns, T steps.
"""

import json
from collections.abc import Callable

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import parse, to_mapping
from netwright.core.outputs import logits_of
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.model import Model

Build = Callable[[], Model]


def sample_inputs(spec: DataSpec, count: int, seed: int = 0) -> Tensor:
    """Inputs that the data could hold: tokens where it has a vocabulary, else normal numbers."""
    numbers = torch.Generator().manual_seed(seed)
    if spec.inputs == "pairs":
        source, told = spec.source_length, spec.input_shape[0] - spec.source_length
        parts = ((source, spec.vocab_size), (told, spec.num_outputs))
        return torch.cat([_tokens(count, *part, spec.padding, numbers) for part in parts], dim=1)
    if spec.vocab_size:
        return _tokens(count, spec.input_shape[0], spec.vocab_size, spec.padding, numbers)
    inputs = torch.randn((count, *spec.input_shape), generator=numbers)
    for place, levels in enumerate(spec.feature_levels):
        if levels:
            inputs[:, place] = torch.randint(levels, (count,), generator=numbers).float()
    return inputs


def _tokens(
    count: int, steps: int, size: int, padding: int | None, numbers: torch.Generator
) -> Tensor:
    """Tokens (B, T); where there is padding, rows of different lengths are filled up with it."""
    drawn = torch.randint(size, (count, steps), generator=numbers)
    if padding is None:
        return drawn
    lengths = torch.randint(1, steps + 1, (count, 1), generator=numbers)
    others = torch.tensor([token for token in range(size) if token != padding])
    drawn = others[drawn % len(others)]
    return torch.where(torch.arange(steps) < lengths, drawn, torch.full_like(drawn, padding))


def build_with_seed(build: Build, seed: int = 0) -> Model:
    """The model of this seed, ready to predict."""
    with seeded(seed):
        return build().eval()


def outputs_of(model: Model, inputs: Tensor) -> Tensor:
    """The main output, without its graph."""
    with torch.no_grad():
        return logits_of(model(inputs))


def check_has_a_card(build: Build) -> None:
    """`netwright explain` has something to say."""
    card = type(build()).card
    assert isinstance(card, Card), f"card must be a Card, got {card!r}"
    for part in ("sentence", "formula", "source"):
        assert getattr(card, part).strip(), f"the card's {part} is empty"
    assert card.sentence.endswith("."), f"a sentence ends with a full stop: {card.sentence!r}"
    assert "$" not in card.formula, f"the formula is LaTeX without dollar signs: {card.formula!r}"


def check_works_on_what_it_says(build: Build) -> None:
    """The data that the model was built for is of a kind in `inputs` and `targets`."""
    model = build()
    assert model.spec.inputs in model.inputs, f"{model.spec.inputs!r} is not in `inputs`"
    assert model.spec.target in model.targets, f"{model.spec.target!r} is not in `targets`"


def check_gives_one_output_a_class_or_real(build: Build) -> None:
    """(B, ...) -> (B, C), of masks (B, C, I, J), of tokens (B, T, C); and all are finite."""
    model = build_with_seed(build)
    for count in (1, 7):
        output = outputs_of(model, sample_inputs(model.spec, count))
        assert len(output) == count, f"{count} examples gave {len(output)} outputs"
        wanted, got = model.spec.output_shape, tuple(output.shape[1:])
        assert model.spec.fits_output(got), f"wanted {wanted} of each example, got {got}"
        assert bool(output.isfinite().all()), f"the output for {count} examples is not finite"


def check_predicts_the_same_twice(build: Build) -> None:
    """In eval mode nothing is drawn and nothing is remembered."""
    model = build_with_seed(build)
    inputs = sample_inputs(model.spec, 5)
    before = torch.get_rng_state()
    first, second = outputs_of(model, inputs), outputs_of(model, inputs)
    assert torch.equal(first, second), "two predictions from the same inputs differ"
    assert torch.equal(before, torch.get_rng_state()), "eval mode drew random numbers"


def check_predicts_each_example_by_itself(build: Build) -> None:
    """In eval mode the neighbours in a batch, and their order, do not matter."""
    model = build_with_seed(build)
    inputs = sample_inputs(model.spec, 5)
    together = outputs_of(model, inputs)
    alone = torch.cat([outputs_of(model, inputs[row : row + 1]) for row in range(5)])
    torch.testing.assert_close(alone, together, msg=lambda text: f"alone and together: {text}")
    turned = outputs_of(model, inputs.flip(0)).flip(0)
    torch.testing.assert_close(turned, together, msg=lambda text: f"in another order: {text}")


def check_leaves_its_inputs_alone(build: Build) -> None:
    """Neither training nor predicting writes into the batch."""
    model = build_with_seed(build)
    for mode in (True, False):
        inputs = sample_inputs(model.spec, 5)
        kept = inputs.clone()
        outputs_of(model.train(mode), inputs)
        assert torch.equal(inputs, kept), f"the inputs were changed with training={mode}"


def check_gradient_reaches_every_parameter(build: Build) -> None:
    """Each learnable parameter moves some output, for one of three draws of the weights."""
    missed: set[str] = set()
    for seed in range(3):  # a small ReLU layer may be dead for one draw
        model = build_with_seed(build, seed)
        output = logits_of(model(sample_inputs(model.spec, 7, seed)))
        weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(seed))
        learned = {name: part for name, part in model.named_parameters() if part.requires_grad}
        if not learned:  # a rule of its own fills its buffers
            return
        grads = torch.autograd.grad(
            (weights * output).sum(), list(learned.values()), allow_unused=True
        )
        found = zip(learned, grads, strict=True)
        none = {name for name, grad in found if grad is None or not bool(grad.any())}
        missed = none if seed == 0 else missed & none
    assert not missed, f"no gradient reaches {', '.join(sorted(missed))}"


def check_same_seed_same_weights(build: Build) -> None:
    """Weights come from torch's generator and from nowhere else."""
    first, second = build_with_seed(build).state_dict(), build_with_seed(build).state_dict()
    assert first.keys() == second.keys(), "two builds have different parts"
    for name, value in first.items():
        assert torch.equal(value, second[name]), f"{name} differs between two builds of one seed"


def check_state_goes_to_another_model(build: Build) -> None:
    """`state_dict` holds all that a prediction depends on."""
    first, second = build_with_seed(build, 0), build_with_seed(build, 1)
    inputs = sample_inputs(first.spec, 5)
    first.train()
    outputs_of(first, inputs)  # running statistics, where there are any, leave their start
    second.load_state_dict(first.eval().state_dict())
    assert torch.equal(outputs_of(first, inputs), outputs_of(second, inputs)), (
        "the same state predicts differently: part of the model is not in its state_dict"
    )


def check_config_rebuilds_the_model(build: Build) -> None:
    """Config and spec survive JSON, and build the same model again."""
    model = build_with_seed(build)
    assert isinstance(model.config, model.settings), f"config must be a {model.settings.__name__}"
    settings = json.loads(json.dumps(to_mapping(model.config), allow_nan=False))
    config = parse(model.settings, settings)
    assert config == model.config, f"JSON turned {model.config} into {config}"
    spec = DataSpec.from_json(json.loads(json.dumps(model.spec.to_json())))
    again = build_with_seed(lambda: type(model).build(config, spec))
    inputs = sample_inputs(spec, 5)
    assert torch.equal(outputs_of(model, inputs), outputs_of(again, inputs)), (
        "the model built from its own config and spec predicts differently"
    )


MODEL_CHECKS = (
    check_has_a_card,
    check_works_on_what_it_says,
    check_gives_one_output_a_class_or_real,
    check_predicts_the_same_twice,
    check_predicts_each_example_by_itself,
    check_leaves_its_inputs_alone,
    check_gradient_reaches_every_parameter,
    check_same_seed_same_weights,
    check_state_goes_to_another_model,
    check_config_rebuilds_the_model,
)
