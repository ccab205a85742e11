r"""What training a GPT will take, before it is paid for: memory, time and communication of a GPU.

With P weights, L layers of width D, V tokens of the vocabulary, n = b T tokens of a GPU at a time
and N GPUs, in mixed precision (autocast to bfloat16) with Adam, in bytes:

    weights       4 P    gradients   4 P    optimizer   8 P     of each 1/N where they are sharded
    half copies   2 P    of the weights, which autocast keeps to the end of the forward pass
    activations   36 L D n      4 L D n where blocks are computed again
    recomputed    36 D n        of one block at a time, in the backward pass
    buffers       logits of a part of the tokens, and the gradients of head and vectors, which are
                  made with them; two gathered blocks and the head where weights are sharded
    at the most   weights + optimizer + the largest of
                  gradients, which grow while the rest is let go;
                  half copies + activations + buffers, at the end of the forward pass;
                  activations + recomputed, when the logits are gone;
                  and gradients beside either where they wait for another batch of their update:
                  there they are of whole weights, 4 P, also where weights are sharded

    FLOPs         6 M n + 6 L D T n     M = weights in products; attention looks back only
    bytes         9 * 36 L D n + 10 V n + 36 P of an update, and of each batch 12 P (shard: 36 P,
                  on one GPU 44 P), that kernels read and write
                  4/3 of both, but for those of the head, where blocks are computed again
    seconds       FLOPs / rate, of products and of attention, which is several times slower,
                  + bytes / bandwidth, and communication: a sum of 4 P bytes after the
                  last backward pass (replicate), or 4 P gathered twice for each batch and 4 P
                  scattered (shard), of which what exceeds the work counts
    host          L times what it takes to start the kernels of a block, for each batch: forward and
                  back, once more forward where blocks are computed again, and all that gathers
                  shards. It runs ahead of the GPU, which waits where this takes longer than its
                  work. One CUDA graph starts all kernels of an update where one GPU holds whole
                  weights, the update has one batch, and no block is computed again

Shards that wait on the host (`offload`) leave the GPU without weights, gradients and moments, but
for those of one group in its backward pass: 12 bytes a weight of the gradient, what is scattered of
it and what comes of that. The host has, for each of N processes:

    pinned        weights and gradients, 8 P / N, where the memory of each comes in powers of two
    and           moments, 8 P / N; the model that was built, 4 P; a copy that a checkpoint is
                  written from, 12 P / N
    seconds more  4 P / N of weights copied twice for each batch, which one GPU waits for and
                  several do beside their work, as gradients travel back; and a step on the host,
                  32 P / N with the guard, 12 P / N of each further batch that is added up

The 36 bytes: the sum before each norm (4 + 4), its norms (2 + 2), queries, keys and values (6),
what attention gives (2), and the hidden units before and after their activation (8 + 8). Without a
compiler about 100 are read or written of a feature in the forward pass and 230 in the backward
pass. A logit (2 bytes) is written, scored in its place and read by two products. Of a weight Adam
reads and writes 28 bytes, the guard 8, the casts to the half format and of the gradient 12; sharded
ones are also copied out of what was gathered, twice, and gradients into what is scattered (24); on
one GPU, which scatters nothing, out of it again (8).

Shapes: b texts of T tokens.
Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (2022);
Rajbhandari et al., "ZeRO" (2020); Chowdhery et al., "PaLM" (2022), appendix B (utilisation).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, isqrt

from netwright.core.errors import ConfigError
from netwright.losses.linear_cross_entropy import MOST_ON_CUDA
from netwright.recipes.plan.gpt_size import GPTSize
from netwright.recipes.plan.machines import Machine

KEPT = 36  # bytes of a feature of a token and layer, for the backward pass
KEPT_OF_BLOCK = 4  # the same where the block is computed again
TRAFFIC = 9  # times that an activation is written or read
OF_LOGIT = 10  # bytes that are written and read of each
MOVED = 36  # bytes of a weight that an update by Adam reads and writes
CAST = 12  # bytes of a weight that each batch does
COPIED = 24  # more of them where weights are sharded
COPIED_ALONE = 8  # and more where one GPU has all shards
SCATTERED = 12  # bytes of a weight of a group, when its gradient is summed and brought to the host
BUILT, PINNED, MOMENTS, SAVED = 4, 4, 8, 12  # of a weight on the host; pinned: twice
STEPPED, ADDED = 32, 12  # bytes of a weight that the host reads and writes


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a batch is trained on: so many texts of a GPU at a time, weights sharded or not.

    Shards may wait on the host.
    """

    shard: bool
    recompute: bool
    rows: int
    offload: bool = False

    @property
    def parallel(self) -> str:
        """The value of the setting."""
        return "shard" if self.shard else "replicate"

    def typed(self, gpus: int, passes: int) -> list[str]:
        """What a run is told to be trained so."""
        values = {
            "batch_size": self.rows * gpus,
            "accumulate": passes,
            "precision": "bf16-mixed",
            "parallel": self.parallel,
            "activation_checkpointing": str(self.recompute).lower(),
            **({"offload": "true"} if self.offload else {}),
        }
        return [f"--set train.{name}={value}" for name, value in values.items()]


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What a setting will take.

    Args:
        setting: which one.
        passes: batches of a GPU in a step.
        memory: bytes of a GPU by kind.
        most: bytes of a GPU at the fullest moment, with what is reserved.
        host: bytes of the host for each GPU, beside what any run takes.
        fits: there are as many of both.
        compute: seconds of a step without communication.
        communication: seconds that are spent on it, hidden or not.
        waiting: seconds of a step in which the GPU waits for the host to start kernels.
        seconds: of a step.
        utilisation: FLOPs that the network needs, of those at the machine's `peak`.
        tokens_per_second: of all GPUs together.
    """

    setting: Setting
    passes: int
    memory: dict[str, float]
    most: float
    host: float
    fits: bool
    compute: float
    communication: float
    waiting: float
    seconds: float
    utilisation: float
    tokens_per_second: float


def outlooks(size: GPTSize, machine: Machine, *, gpus: int, batch: int) -> Iterator[Outlook]:
    """What each setting for a batch of so many texts of all GPUs will take.

    Shards wait on the host only where nothing else fits.
    """
    if gpus < 1 or batch < gpus or batch % gpus:
        raise ConfigError(f"the batch must be a multiple of the {gpus} GPUs, got {batch} texts")
    each = batch // gpus
    rows_at_a_time, does_fit = _divisors(each), False
    for shard, offload in ((False, False), (True, False), (True, True)):
        if (offload and does_fit) or (shard and not offload and gpus == 1):
            continue
        for recompute, rows in product((False, True), rows_at_a_time):
            setting = Setting(shard=shard, recompute=recompute, rows=rows, offload=offload)
            found = foresee(size, machine, setting, gpus=gpus, batch=batch)
            does_fit |= found.fits
            yield found


def _divisors(number: int) -> list[int]:
    """From the largest down, found in pairs up to the square root."""
    small = [one for one in range(1, isqrt(number) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)}, reverse=True)


def best_of(found: list[Outlook]) -> Outlook | None:
    """The quickest that fits; of equally quick ones that with the least work and fewest passes."""
    fitting = [one for one in found if one.fits]
    return min(fitting, key=lambda one: (one.seconds, one.compute, one.passes), default=None)


def foresee(size: GPTSize, machine: Machine, setting: Setting, *, gpus: int, batch: int) -> Outlook:
    """What one setting will take; see the file."""
    tokens, passes = batch // gpus * size.tokens, batch // gpus // setting.rows
    waits = passes > 1 and not setting.offload
    memory = foreseen_memory(size, setting, gpus, waits=waits)
    most = machine.reserved + fullest(memory, waits=waits)
    of_token = seconds_of_token(size, machine, recompute=setting.recompute)
    compute = of_token * tokens + moved_of_weights(size, setting, gpus, passes) / machine.bandwidth
    communication = foreseen_communication(size, machine, setting, gpus, passes)
    work, after = work_and_after(size, machine, setting, gpus, passes, compute, communication)
    started = seconds_of_host(size, machine, setting, gpus, passes)
    seconds = max(work, started) + after
    host = foreseen_host(size, gpus) if setting.offload else 0.0
    return Outlook(
        setting=setting,
        passes=passes,
        memory=memory,
        most=most,
        host=host,
        fits=most <= machine.memory and host <= machine.host,
        compute=compute,
        communication=communication,
        waiting=max(0.0, started - work),
        seconds=seconds,
        utilisation=needed_flops(size) * tokens / (seconds * machine.peak),
        tokens_per_second=batch * size.tokens / seconds,
    )


def seconds_of_token(size: GPTSize, machine: Machine, *, recompute: bool) -> float:
    """Of its products, attention and activations, without what is read and written of weights."""
    again = 4 / 3 if recompute else 1
    head = size.vocabulary * size.width
    products = 6 * (again * (size.multiplied - head) + head)
    attention = again * 6 * size.layers * size.width * size.tokens
    moved = again * TRAFFIC * KEPT * size.layers * size.width + OF_LOGIT * size.vocabulary
    return products / machine.flops + attention / machine.attention + moved / machine.bandwidth


def moved_of_weights(size: GPTSize, setting: Setting, gpus: int, passes: int) -> float:
    """Bytes of weights, gradients and moments that a GPU reads and writes in a step."""
    sharing, copied = (gpus, COPIED) if setting.shard else (1, 0)
    if setting.shard and gpus == 1:
        copied += COPIED_ALONE
    moved = 0 if setting.offload else MOVED
    return (moved / sharing + (CAST + copied) * passes) * size.weights


def seconds_of_host(
    size: GPTSize, machine: Machine, setting: Setting, gpus: int, passes: int
) -> float:
    """In which it starts the kernels of a step; a CUDA graph takes it next to nothing."""
    if gpus == passes == 1 and not (setting.shard or setting.recompute):
        return 0.0
    kept, again = (
        (machine.shards, machine.shards_again)
        if setting.shard
        else (machine.block, machine.block_again)
    )
    return passes * size.layers * (again if setting.recompute else kept)


def work_and_after(
    size: GPTSize,
    machine: Machine,
    setting: Setting,
    gpus: int,
    passes: int,
    compute: float,
    communication: float,
) -> tuple[float, float]:
    """Seconds of a step for which the host starts kernels meanwhile, and of what comes after it."""
    if not setting.shard:
        return compute, communication
    if not setting.offload:
        return max(compute, communication), 0.0
    copies = 2 * passes * 4 * size.weights / gpus / machine.copies
    work = compute + copies if gpus == 1 else max(compute, communication, copies)
    stepped = (STEPPED + ADDED * (passes - 1)) * size.weights / gpus
    return work, stepped / machine.stepping


def foreseen_host(size: GPTSize, gpus: int) -> float:
    """Bytes of the host for one GPU whose shards wait there."""
    sizes = (PINNED * ceil(count / gpus) for count in size.tensors)
    pinned = sum(1 << (one - 1).bit_length() for one in sizes)
    return 2 * pinned + BUILT * size.weights + (MOMENTS + SAVED) * size.weights / gpus


def needed_flops(size: GPTSize) -> float:
    """Of a token, forward and back."""
    return 6 * size.multiplied + 6 * size.layers * size.width * size.tokens


def fullest(memory: dict[str, float], *, waits: bool) -> float:
    """Bytes of the fullest moment of an update, of those of each kind.

    Args:
        memory: by kind.
        waits: gradients wait for another batch.
    """
    logits = memory["half copies"] + memory["activations"] + memory["buffers"]
    again = memory["activations"] + memory["recomputed"]
    held, gradients = memory["weights"] + memory["optimizer"], memory["gradients"]
    return held + (max(logits, again) + gradients if waits else max(logits, again, gradients))


def foreseen_memory(
    size: GPTSize, setting: Setting, gpus: int, *, waits: bool = False
) -> dict[str, float]:
    """Bytes of a GPU by kind.

    Args:
        size: of the network.
        setting: how it is trained.
        gpus: how many.
        waits: gradients wait for another batch.
    """
    sharing = gpus if setting.shard else 1
    tokens = setting.rows * size.tokens
    of_block = (size.multiplied - size.vocabulary * size.width) / size.layers
    around = size.weights - of_block * size.layers
    kept = KEPT_OF_BLOCK if setting.recompute else KEPT
    held = {
        "weights": 4 * size.weights / sharing,
        "gradients": 4 * size.weights / (1 if waits else sharing),
        "optimizer": 8 * size.weights / sharing,
    }
    if setting.offload:
        held = {"weights": 0.0, "gradients": SCATTERED * max(of_block, around), "optimizer": 0.0}
    head = size.vocabulary * size.width
    logits = 2 * min(tokens * size.vocabulary, MOST_ON_CUDA) + 6 * tokens * size.width + 4 * head
    gathered = 4 * (2 * of_block + around + head) if setting.shard else 0
    return {
        **held,
        "half copies": 2 * size.weights,
        "activations": kept * size.layers * size.width * tokens,
        "recomputed": KEPT * size.width * tokens if setting.recompute else 0.0,
        "buffers": logits + gathered,
    }


def foreseen_communication(
    size: GPTSize, machine: Machine, setting: Setting, gpus: int, passes: int
) -> float:
    """Seconds of a step in which bytes travel: in a ring each GPU sends (N - 1) / N of them."""
    if gpus == 1:
        return 0.0
    speed = machine.link if gpus <= machine.together else machine.network
    scattered = passes if setting.offload else 1
    times = 2 * passes + scattered if setting.shard else 2
    return times * 4 * size.weights * (gpus - 1) / gpus / speed
