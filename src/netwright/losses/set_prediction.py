r"""The loss of a set: each object is matched with one query, the other queries are to say nothing.

    cost = -p(c) + 5 |b - b'|_1 - 2 GIoU(b, b')                  of an object and a query
    loss = CE of all queries + mean over objects of 5 |b - b'|_1 + 2 (1 - GIoU(b, b'))

The matching has the least sum of costs, so the order of the objects, and that of the queries, does
not matter. Queries without an object count a tenth in the cross-entropy, as there are many. Means
are taken within each image, where the paper takes them over the batch.

Shapes: B images, Q queries, M objects, C classes; outputs (B, Q, C + 5) are logits of the classes,
one of no object, and four of the box; targets (B, M, 5) are a class, -1: no object, and its box.
Source: Carion et al., "End-to-End Object Detection with Transformers" (2020), section 3.1.
"""

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.card import Card
from netwright.core.errors import ConfigError
from netwright.core.geometry.boxes import generalized_iou, match
from netwright.losses.loss import Loss, Reduction, reduce

OF_DISTANCE, OF_OVERLAP, OF_NOTHING = 5.0, 2.0, 0.1  # how much each part counts


def split_outputs(outputs: Tensor) -> tuple[Tensor, Tensor]:
    """The logits of classes and of no object (B, Q, C + 1), and those of boxes (B, Q, 4)."""
    return outputs[..., :-4], outputs[..., -4:]


def check_queries(queries: int, targets: Tensor, where: str) -> None:
    """Refuse images with more objects (B, M, 5) than queries: some would be learned by none.

    Args:
        queries: Q.
        targets: the objects of each image.
        where: which images these are.
    """
    counts = (targets[..., 0] >= 0).sum(dim=1)
    if bool((counts > queries).any()):
        raise ConfigError(
            f"an image in {where} has {int(counts.max())} objects, but the model has {queries} "
            f"{'query' if queries == 1 else 'queries'}: use at least one query per object"
        )


def match_queries(outputs: Tensor, targets: Tensor) -> Tensor:
    """The query of each object (B, M); -1 where there is none."""
    logits, boxes = split_outputs(outputs.detach())
    classes, true = targets[..., 0].long(), targets[..., 1:].to(boxes)
    probabilities = logits.softmax(dim=-1).mT  # (B, C + 1, Q)
    places = classes.clamp_min(0)[..., None].expand(-1, -1, probabilities.shape[2])
    said = boxes.sigmoid()
    costs = (
        OF_DISTANCE * torch.cdist(true, said, p=1)
        - OF_OVERLAP * generalized_iou(true, said)
        - probabilities.gather(1, places)
    )  # (B, M, Q)
    return match(costs, classes >= 0)


def set_loss(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """The loss of each image (B,), their mean or their sum."""
    logits, boxes = split_outputs(outputs)
    check_queries(outputs.shape[1], targets, "the batch")
    queries = match_queries(outputs, targets)
    images, objects = (queries >= 0).nonzero(as_tuple=True)
    matched = (images, queries[images, objects])
    nothing = logits.shape[2] - 1
    wanted = torch.full(logits.shape[:2], nothing, device=logits.device)
    wanted[matched] = targets[images, objects, 0].long()
    counts = torch.where(wanted == nothing, OF_NOTHING, 1.0).to(logits)
    entropies = functional.cross_entropy(logits.mT, wanted, reduction="none")  # (B, Q)
    of_classes = (counts * entropies).sum(dim=1) / counts.sum(dim=1)
    true, said = targets[images, objects, 1:].to(boxes), boxes[matched].sigmoid()
    overlap = generalized_iou(true[:, None], said[:, None])[:, 0, 0]
    each = OF_DISTANCE * (true - said).abs().sum(dim=1) + OF_OVERLAP * (1 - overlap)
    found = (queries >= 0).sum(dim=1).clamp_min(1)
    of_boxes = torch.zeros_like(of_classes).index_add(0, images, each) / found
    return reduce(of_classes + of_boxes, reduction)


SET_PREDICTION = Loss(
    of={"boxes": set_loss},
    card=Card(
        sentence="Each object is matched with one query so that the sum of all costs is least; the "
        "query is to say its class and its box, all others that there is nothing.",
        formula=r"\hat\sigma = \arg\min_\sigma \sum_i \left(5\,|b_i - \hat b_{\sigma(i)}|_1"
        r" - 2\, G(b_i, \hat b_{\sigma(i)}) - \hat p_{\sigma(i)}(c_i)\right), \quad"
        r" L = -\sum_q w_q \log \hat p_q(c_q) + \frac{1}{M} \sum_i"
        r" \left(5\,|b_i - \hat b_{\hat\sigma(i)}|_1"
        r" + 2\,(1 - G(b_i, \hat b_{\hat\sigma(i)}))\right)",
        symbols={
            "c_i, b_i": "class and box of object i, one of M",
            r"\hat p_q, \hat b_q": "what query q says of them",
            r"\sigma": "gives each object a query of its own",
            "G": "GIoU, from -1 to 1",
            "w_q": "1 for a query with an object, 0.1 for others, over their sum",
        },
        source="Carion et al. (2020), arXiv 2005.12872",
    ),
)
