"""`netwright plan`: what training a model will take, before it is started."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.plan.training_plan import Outlook

SIZE = re.compile("[1-9][0-9]{0,11}")  # none so large that its divisors take long to find


def plan(
    model: Annotated[
        str | None, typer.Argument(help="A GPT of the catalog: gpt, gpt2, gpt2-xl ...")
    ] = None,
    gpus: Annotated[int, typer.Option(min=1, help="How many.")] = 1,
    kind: Annotated[
        str, typer.Option(help="Of GPU: h200, h100 or a100; here: as it was calibrated.")
    ] = "h200",
    batch: Annotated[
        str, typer.Option(metavar="BxT", help="Texts of all GPUs together, and tokens of each.")
    ] = "64x1024",
    price: Annotated[
        float | None, typer.Option(min=0, help="Of an hour of one GPU, for the cost.")
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure the GPU of this machine first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Estimate memory, time and communication of training a GPT, and which settings fit.

    The estimates are for mixed precision in bfloat16 with Adam. The model is not built, and no GPU
    is needed, except by --calibrate.

    netwright plan gpt2-xl --gpus 64 --kind h200 --batch 512x1024
    netwright plan --calibrate
    netwright plan gpt2 --kind here --batch 64x1024
    """
    from dataclasses import asdict

    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json, print_result
    from netwright.recipes.plan import machines
    from netwright.recipes.plan.gpt_size import size_of
    from netwright.recipes.plan.training_plan import best_of, outlooks

    if calibrate:
        machine = machines.calibrate()
        if model is None:
            print_json(asdict(machine))
            return
        kind = machines.HERE
    if model is None:
        raise ConfigError("name a model, as in netwright plan gpt2, or give --calibrate")
    machine = machines.find_machine(kind)
    rows, tokens = _shape(batch)
    size = size_of(model, tokens)
    found = list(outlooks(size, machine, gpus=gpus, batch=rows))
    best = best_of(found)
    if as_json:
        chosen = None if best is None else asdict(best)
        told = {"machine": asdict(machine), "weights": size.weights, "best": chosen}
        print_json({**told, "all": [asdict(one) for one in found]})
        return
    print_result(
        f"{model}: {size.weights:,} weights; {gpus} x {kind}, {rows} texts of {tokens} tokens"
    )
    if machine.link_of:
        print_result(
            f"assumed, not measured: {machine.link / 1e9:.0f} GB/s between GPUs of a machine, as "
            f"of the {machine.link_of}, and {machine.network / 1e9:.0f} GB/s between machines"
        )
    peak = "measured rate" if machine.peak_is_measured else "published peak"
    _show(found, best, gpus, price, peak)


def _shape(batch: str) -> tuple[int, int]:
    from netwright.core.errors import ConfigError

    rows, _, tokens = batch.partition("x")
    if not (SIZE.fullmatch(rows) and SIZE.fullmatch(tokens)):
        raise ConfigError(f"batch must be texts x tokens, as in 64x1024, got {batch!r:.60}")
    return int(rows), int(tokens)


def _show(
    found: list["Outlook"], best: "Outlook | None", gpus: int, price: float | None, peak: str
) -> None:
    """The settings in a table, then the best of them in full."""
    from netwright.core.terminal.console import print_result, print_table

    print_table(
        [
            {
                "parallel": one.setting.parallel + (", offload" if one.setting.offload else ""),
                "checkpointing": "yes" if one.setting.recompute else "no",
                "texts at a time": str(one.setting.rows),
                "GB": f"{one.most / 1e9:.1f}",
                "fits": "yes" if one.fits else "no",
                "s per step": f"{one.seconds:.4g}",
                "tokens/s": f"{one.tokens_per_second:,.0f}",
            }
            for one in found
        ]
    )
    if best is None:
        print_result("none of them fits: use more GPUs, a smaller batch or shorter texts")
        return
    told = ", ".join(f"{name} {amount / 1e9:.1f}" for name, amount in best.memory.items())
    print_result(f"fastest that fits, in GB per GPU: {told}")
    if best.setting.offload:
        print_result(f"memory of the host: {best.host / 1e9:.1f} GB per GPU")
    print_result(
        f"step: {best.compute:.4g} s of computation, {best.communication:.4g} s of communication; "
        f"utilisation {best.utilisation:.0%} of the {peak}"
    )
    if best.waiting:
        print_result(
            f"the GPU waits for the host to start its kernels: {best.waiting:.4g} s of a step"
        )
    print_result(f"settings: {' '.join(best.setting.typed(gpus, best.passes))}")
    if price is not None:
        hours = 1e9 / best.tokens_per_second / 3600
        print_result(f"a billion tokens: {hours:.3g} hours, cost {hours * gpus * price:,.2f}")
