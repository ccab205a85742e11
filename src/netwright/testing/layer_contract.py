"""What every layer promises, as checks that anyone may run on a layer of their own.

    @pytest.mark.parametrize("check", LAYER_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_layer_contract(check):
        check(lambda: (MyLayer(4), torch.randn(3, 4)))

`build` makes a layer and one floating-point input for it, with the batch first.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded

Build = Callable[[], tuple[nn.Module, Tensor]]


def _built(build: Build, seed: int = 0) -> tuple[nn.Module, Tensor]:
    """A layer in eval mode and its input."""
    with seeded(seed):
        layer, x = build()
    assert isinstance(layer, nn.Module), f"build must give a module, got {type(layer).__name__}"
    return layer.eval(), x


def _output(layer: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        out: Tensor = layer(x)
    return out


def check_output_is_finite(build: Build) -> None:
    """One output an example, without NaN and infinity, of the input's type."""
    layer, x = _built(build)
    out = _output(layer, x)
    assert len(out) == len(x), f"{len(x)} examples gave {len(out)} outputs"
    assert bool(out.isfinite().all()), "the output is not finite"
    assert out.dtype == x.dtype, f"{x.dtype} became {out.dtype}"


def check_works_in_double_precision(build: Build) -> None:
    """Moved to float64 the whole layer computes in float64."""
    layer, x = _built(build)
    single, double = _output(layer, x), _output(layer.double(), x.double())
    assert double.dtype == torch.float64, f"float64 became {double.dtype}"
    torch.testing.assert_close(
        double.to(single.dtype), single, msg=lambda text: f"float64 and float32 part: {text}"
    )


def check_computes_the_same_twice(build: Build) -> None:
    """In eval mode nothing is drawn and nothing is remembered."""
    layer, x = _built(build)
    before = torch.get_rng_state()
    assert torch.equal(_output(layer, x), _output(layer, x)), "two outputs for one input differ"
    assert torch.equal(before, torch.get_rng_state()), "eval mode drew random numbers"


def check_treats_each_example_by_itself(build: Build) -> None:
    """In eval mode the neighbours in a batch do not matter."""
    layer, x = _built(build)
    alone = torch.cat([_output(layer, x[row : row + 1]) for row in range(len(x))])
    torch.testing.assert_close(
        alone, _output(layer, x), msg=lambda text: f"alone and together: {text}"
    )


def check_leaves_its_input_alone(build: Build) -> None:
    """The layer writes into no tensor that it was given."""
    layer, x = _built(build)
    for mode in (True, False):
        kept = x.clone()
        _output(layer.train(mode), x)
        assert torch.equal(x, kept), f"the input was changed with training={mode}"


def check_gradient_is_right(build: Build) -> None:
    """Backward agrees with finite differences, for the input and every learnable parameter."""
    layer, x = _built(build)
    layer, x = layer.double(), x.double().requires_grad_()
    learned = {name: part for name, part in layer.named_parameters() if part.requires_grad}

    def outputs(x: Tensor, *values: Tensor) -> Tensor:
        parts = dict(zip(learned, values, strict=True))
        out: Tensor = torch.func.functional_call(layer, parts, (x,))
        return out

    values = (x, *learned.values())
    grads = torch.autograd.grad(outputs(*values).square().sum(), values, allow_unused=True)
    missed = [name for name, grad in zip(("input", *learned), grads, strict=True) if grad is None]
    assert not missed, f"no gradient reaches {', '.join(missed)}"
    try:
        torch.autograd.gradcheck(outputs, values)
    except RuntimeError as error:
        raise AssertionError(f"backward and finite differences part: {error}") from None


def check_same_seed_same_weights(build: Build) -> None:
    """Weights come from torch's generator and from nowhere else."""
    first, second = _built(build)[0].state_dict(), _built(build)[0].state_dict()
    assert first.keys() == second.keys(), "two builds have different parts"
    for name, value in first.items():
        assert torch.equal(value, second[name]), f"{name} differs between two builds of one seed"


def check_state_goes_to_another_layer(build: Build) -> None:
    """`state_dict` holds all that an output depends on."""
    (first, x), (second, _) = _built(build, 0), _built(build, 1)
    second.load_state_dict(first.state_dict())
    assert torch.equal(_output(first, x), _output(second, x)), (
        "the same state computes differently: part of the layer is not in its state_dict"
    )


LAYER_CHECKS = (
    check_output_is_finite,
    check_works_in_double_precision,
    check_computes_the_same_twice,
    check_treats_each_example_by_itself,
    check_leaves_its_input_alone,
    check_gradient_is_right,
    check_same_seed_same_weights,
    check_state_goes_to_another_layer,
)
