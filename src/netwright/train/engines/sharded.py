r"""Each rank holds a part of every weight, gradient and moment: torch's FSDP2.

Before a block runs, its weights are gathered from all ranks, and let go of when it is over; so with
N ranks the memory of weights, gradients and moments is 1/N of them, and that of the weights of one
block. In the backward pass they are gathered again, and each rank keeps its rows of the sum of the
gradients. What is learned is the same: shares make the sum over ranks the gradient of the batch.

The model that was built waits on the host until the end. What is trained is a copy of its
structure, of which no rank ever holds all weights on its device. Half precision is autocast's, as
with replicas, so that both give the same numbers: weights travel in float32.

With `offload` a rank's parts wait in pinned memory of the host. Weights are copied to the device
before they are gathered, gradients back when they are summed; before the backward pass is over, the
host has waited for the last of them, so that the optimizer, which steps there, finds them whole.
Each batch's gradients are added up on the host: none waits on the device for the end of an update.

Source: Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel" (2023);
Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
"""

import copy
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    OffloadPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from torch.distributed.tensor import DTensor, Shard
from torch.optim import Optimizer

from netwright.core.errors import ConfigError, RunError
from netwright.core.outputs import TokenScorer, UnscoredTokens
from netwright.core.trees import Tree, map_tensors
from netwright.layers.module_hooks import AROUND_PARTS, count_hooks
from netwright.optimizers.optimizer import Kernel
from netwright.train.engines.engine import Engine
from netwright.train.engines.own_rows import on_own_rows, own_rows
from netwright.train.engines.part import Part, ReadRows, rows_of
from netwright.train.precision import Precision
from netwright.train.ranks import Ranks


class ShardedEngine(Engine):
    """Divides the weights among the ranks by their rows; see the file.

    Args:
        ranks: the processes that train together, within `joined`.
        offload: the parts wait on the host.
    """

    shards = True

    def __init__(self, ranks: Ranks, *, offload: bool = False) -> None:
        super().__init__(ranks, offload=offload)
        self.built: nn.Module | None = None
        self.device = self.home = torch.device("cpu")  # where parts are used, and where they wait
        self.mesh: DeviceMesh | None = None
        self.kind: type[Optimizer] | None = None  # whose steps are of each number by itself

    @property
    def streams(self) -> tuple[int, ...]:
        """Ranks draw for rows of their own."""
        return (self.ranks.rank,) if self.ranks.rank else ()

    def place(
        self,
        model: nn.Module,
        device: torch.device,
        *,
        precision: Precision = "fp32",
        channels_last: bool | None = None,
    ) -> nn.Module:
        """A sharded copy of the model; the model itself goes to the host."""
        if not dist.is_initialized():
            raise ConfigError(
                "parallel=shard needs a process group: train within "
                "netwright.train.ranks.joined(timeout, shards=True)"
            )
        self.built, self.device = model, device
        self.home = torch.device("cpu") if self.offload else device
        trained = _structure_of(model)
        self.mesh = init_device_mesh(device.type, (self.ranks.world,))
        hooks = count_hooks(trained)
        self._shard(trained, self.mesh)
        if isinstance(trained, TokenScorer):
            _gather_for_unscored(trained)
            setattr(trained, AROUND_PARTS, count_hooks(trained) - hooks)
        trained.to_empty(device=self.home)
        for part in trained.modules():  # buffers are not divided, and stay where they are used
            for name, buffer in part.named_buffers(recurse=False):
                setattr(part, name, torch.empty_like(buffer, device=device))
        with torch.no_grad():
            for own, whole in zip(_tensors(trained), _tensors(model), strict=True):
                if isinstance(own, DTensor):
                    own.to_local().copy_(whole[self.rows(len(whole))])
                else:
                    own.copy_(whole)
        model.cpu()  # its room on the device is for training
        return trained

    def _shard(self, model: nn.Module, mesh: DeviceMesh) -> None:
        """Group the weights by block, and what is around the blocks as one more group."""
        waiting = _waiting(self.device) if self.offload else OffloadPolicy()
        for part in (*blocks_of(model), model):
            # The outermost group too: after each pass the registered weights are the parts.
            sharded = fully_shard(
                part, mesh=mesh, reshard_after_forward=True, offload_policy=waiting
            )
            if self.ranks.world > 1:  # one rank's gradients would be copied to be divided by 1
                sharded.set_gradient_divide_factor(1.0)  # a sum: shares make it the mean
            sharded.set_force_sum_reduction_for_comms(True)

    def kernel(self, asked: Kernel, kind: type[Optimizer]) -> Kernel:
        """Of torch's fused kernels only Adam's take tensors of which a rank holds a part."""
        is_fused = issubclass(kind, torch.optim.Adam | torch.optim.AdamW)
        if asked == "fused" and not is_fused:
            raise ConfigError(f"{kind.__name__} with parallel=shard needs kernel auto or foreach")
        self.kind = kind
        return asked if is_fused else "foreach"

    def stepping(self, optimizer: Optimizer) -> AbstractContextManager[None]:
        """One of the settings' works on plain tensors; a caller's own may look at whole weights."""
        return on_own_rows(optimizer) if type(optimizer) is self.kind else nullcontext()

    def queues_step(self, optimizer: Optimizer) -> bool:
        """See `Engine.queues_step`."""
        return type(optimizer) is self.kind and not self.offload

    def begin_batch(self, model: nn.Module, *, last: bool) -> None:
        """Gradients of an update's other batches wait where they are: one sum for all of them.

        Those that are whole weights' would fill the device that offloading makes room on.
        """
        cast(FSDPModule, model).set_requires_gradient_sync(last or self.offload)

    def sum_gradients(self, model: nn.Module) -> None:
        """The backward pass has done it."""

    def own(self, tensors: Iterable[Tensor]) -> list[Tensor]:
        """The rows of this rank; of buffers, which are not divided, all."""
        with torch.no_grad():  # with gradients each would be a step of autograd's
            return [own_rows(part) for part in tensors]

    def norm(self, parts: Sequence[Tensor]) -> Tensor:
        """See `Engine.norm`."""
        own = torch.nn.utils.get_total_norm(parts, foreach=True)
        return self.whole_norms(own.reshape(1))[0]

    def whole_norms(self, norms: Tensor) -> Tensor:
        """The root of the sum of the squares of all parts' lengths."""
        return self.ranks.sum(norms.double().square(), "the norms of gradients").sqrt().to(norms)

    def rows(self, count: int) -> slice:
        """As `torch.chunk` divides them among the ranks."""
        return rows_of(count, self.ranks.rank, self.ranks.world)

    def taken_apart(self, tree: Any) -> Any:
        """With a `Part` in the place of each tensor of which this rank holds some rows."""
        return map_tensors(_as_part, tree)

    def put_together(self, shape: Sequence[int], read: ReadRows) -> Tensor:
        """The rows that this rank holds now."""
        rows = self.rows(shape[0])
        if self.mesh is None:
            raise RunError("a sharded tensor needs a model that has been placed")
        own, whole = read(rows.start, rows.stop), torch.empty(tuple(shape), device="meta")
        form = DTensor.from_local(
            torch.empty_like(own, device="meta"),
            self.mesh,
            [Shard(0)],
            run_check=False,
            shape=whole.shape,
            stride=whole.stride(),
        )
        # Not of the rows themselves: `from_local` would bring them to where the ranks meet.
        held = torch.empty_like(form, device=self.home)
        own_rows(held).copy_(own)
        return held

    def hand_back(self, trained: nn.Module) -> None:
        """Gather one weight after the other into the model that was built."""
        if self.built is None:
            return
        with torch.no_grad(), self.ranks.guarded("the gathering of the weights"):
            for own, whole in zip(_tensors(trained), _tensors(self.built), strict=True):
                whole.copy_(self._gathered(own) if isinstance(own, DTensor) else own)
        if _fits(self.built, self.device):
            self.built.to(self.device)

    def _gathered(self, own: DTensor) -> Tensor:
        """All rows; those that wait on the host travel from where they are used."""
        placed: Any = own.to(self.device)
        whole: Tensor = placed.full_tensor()
        return whole


def _waiting(device: torch.device) -> CPUOffloadPolicy:
    """How parts wait on the host: pinned, where a device copies them meanwhile."""
    return CPUOffloadPolicy(pin_memory=device.type == "cuda")


def _gather_for_unscored(model: Any) -> None:
    """Let weights be gathered for `unscored` as for `forward`.

    The head's are copied: logits are made of them when those that were gathered are gone.
    """
    plain = model.unscored

    def unscored(inputs: Tree) -> UnscoredTokens:
        made: UnscoredTokens = plain(inputs)
        bias = None if made.bias is None else made.bias.clone()
        return made._replace(weight=made.weight.clone(), bias=bias)

    model.unscored = unscored
    register_fsdp_forward_method(model, "unscored")


def _as_part(tensor: Tensor) -> Any:
    if not isinstance(tensor, DTensor):
        return tensor
    return Part(tensor.to_local().detach(), tuple(tensor.shape))


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """The blocks of rows of blocks, the outermost ones: what runs, and is gathered, by itself.

    None where a model says that it uses weights of a block outside of it (`shares_blocks`).
    """
    found: list[nn.Module] = []
    if getattr(model, "shares_blocks", False):
        return found
    inside: set[nn.Module] = set()
    for row in model.modules():
        if not isinstance(row, nn.ModuleList | nn.Sequential) or row in inside:
            continue
        for block in row.children():
            if any(block.children()) and any(True for _ in block.parameters()):
                found.append(block)
                inside |= set(block.modules())
    return found


def _fits(model: nn.Module, device: torch.device) -> bool:
    """Whether a device has room for all of a model, and as much again to run it."""
    needed = sum(tensor.numel() * tensor.element_size() for tensor in _tensors(model))
    return device.type == "cuda" and 2 * needed <= torch.cuda.mem_get_info(device)[0]


def _structure_of(model: nn.Module) -> nn.Module:
    """A copy of a model whose tensors have shapes and no numbers."""
    tensors: dict[int, Any] = {}
    for weight in model.parameters():
        empty = torch.empty(weight.shape, dtype=weight.dtype, device="meta")
        tensors[id(weight)] = nn.Parameter(empty, requires_grad=weight.requires_grad)
    for buffer in model.buffers():
        tensors[id(buffer)] = torch.empty_like(buffer, device="meta")
    return copy.deepcopy(model, tensors)


def _tensors(model: nn.Module) -> list[Tensor]:
    """Weights and buffers, also such that are not saved, in the order of the structure."""
    return [*model.parameters(), *model.buffers()]
