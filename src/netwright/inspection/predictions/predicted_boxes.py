"""Predicted boxes over their images, and the true ones: what was found, missed or invented.

Images are shown from the one whose objects are found worst to the one where they are found best.

Shapes: N images (N, channels, I, J), Q queries, C classes, M objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.core.geometry.boxes import to_corners
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.pictures import Pixels, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, short_name
from netwright.metrics.boxes import measure_boxes, score_boxes
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, ABOVE, LEGEND = 2.2, 0.3, 0.45  # inches: a picture's side, words above it, and below all
IN_A_ROW = 4
LONGEST = 14  # letters of a class on a box
TRUE, SAID = "#ffffff", COLOURS[1]  # images are of any colour: a dark edge goes round the lines

Box = tuple[str, float, tuple[float, ...]]  # class, its probability, left, top, right, bottom


@dataclass(frozen=True, kw_only=True)
class BoxedImage:
    """One image with what is in it, and what was found.

    Args:
        row: its place in the split, from 0.
        overlap: the mean IoU of its objects with what was said of them.
        picture: its pixels.
        truth: its objects, in shares of the image.
        said: the objects that were said.
    """

    row: int
    overlap: float
    picture: Pixels
    truth: tuple[Box, ...]
    said: tuple[Box, ...]


@dataclass(frozen=True, kw_only=True)
class PredictedBoxes(View):
    """Images with true and predicted boxes.

    Args:
        mean_box_iou: over all images that were looked at.
        box_f1: the same.
        num_images: that were looked at.
        images: those that are shown.
        is_sample: whether those that were looked at are a sample of the split.
    """

    title: ClassVar[str] = "Predicted boxes"

    mean_box_iou: float
    box_f1: float
    num_images: int
    images: tuple[BoxedImage, ...]
    is_sample: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """A place for each picture."""
        columns = min(len(self.images), IN_A_ROW)
        rows = -(-len(self.images) // IN_A_ROW)
        return (columns * PANEL, rows * (PANEL + ABOVE) + LEGEND)

    @property
    def caption(self) -> str:
        """Both measures, and how to read the pictures."""
        sample = ", a sample of the split" if self.is_sample else ""
        return (
            f"Over {self.num_images:,} images{sample}: mean IoU of the objects "
            f"{self.mean_box_iou:.3f}, F1 of objects found with an IoU of at least 1/2 "
            f"{self.box_f1:.3f}. Shown: {len(self.images)}, from the least mean IoU to the largest."
            " Dashed: the true boxes. Solid: the predicted ones, with the class and its "
            "probability."
        )

    def to_json(self) -> dict[str, Any]:
        """The numbers without the pixels."""
        return {
            "mean_box_iou": self.mean_box_iou,
            "box_f1": self.box_f1,
            "num_images": self.num_images,
            "is_sample": self.is_sample,
            "images": [
                {
                    "row": image.row,
                    "overlap": image.overlap,
                    "truth": [list(box) for box in image.truth],
                    "said": [list(box) for box in image.said],
                }
                for image in self.images
            ],
        }

    def draw(self, figure: "Figure") -> None:
        """A panel an image."""
        columns = min(len(self.images), IN_A_ROW)
        panels = figure.subplots(-(-len(self.images) // IN_A_ROW), columns, squeeze=False).ravel()
        for axes in panels:
            axes.axis("off")
        for axes, image in zip(panels, self.images, strict=False):
            axes.imshow(
                image.picture, cmap="gray", interpolation="none", extent=(0, 1, 1, 0), aspect="auto"
            )
            axes.set_box_aspect(len(image.picture) / len(image.picture[0]))
            axes.set_title(f"row {image.row}, IoU {image.overlap:.2f}", fontsize=9, loc="center")
            for box in image.truth:
                _outline(axes, box, TRUE, "--")
            for box in image.said:
                _outline(axes, box, SAID, "-")
                name, share, (left, top, *_) = box
                axes.text(
                    left,
                    max(top - 0.02, 0.06),
                    f"{short_name(name, LONGEST)} {percent(share)}",
                    color="white",
                    fontsize=7,
                    bbox={"facecolor": SAID, "edgecolor": "none", "pad": 1},
                )
        self._draw_legend(figure)

    def _draw_legend(self, figure: "Figure") -> None:
        from matplotlib.lines import Line2D  # noqa: PLC0415 - it costs a second

        figure.legend(
            handles=[
                Line2D([], [], color="#555555", linestyle="--", label="true"),
                Line2D([], [], color=SAID, label="predicted"),
            ],
            loc="outside lower center",
            ncols=2,
            fontsize=9,
        )


def measure_predicted_boxes(
    images: Tensor,
    targets: Tensor,
    predictions: Tensor,
    class_names: Sequence[str],
    *,
    count: int = 8,
    rows: Tensor | None = None,
) -> PredictedBoxes:
    """Lay boxes over images: the worst, the best, and some between.

    Args:
        images: (N, channels, I, J).
        targets: a class, -1: no object, and its box (N, M, 5).
        predictions: probabilities of the classes and of nothing, and a box (N, Q, C + 5).
        class_names: C names.
        count: images that are shown, at most.
        rows: the places in the split (N,) where the images are a sample of it.
    """
    check_positive("count", count)
    check_not_empty("targets", targets)
    check_shape("targets", targets, "N", "M", 5)
    check_shape("predictions", predictions, len(targets), "Q", len(class_names) + 5)
    check_shape("images", images, len(targets), "channels", "I", "J")
    scores = score_boxes(predictions, targets)
    overlaps = scores[:, 0] / scores[:, 3].clamp_min(1)
    order = overlaps.argsort(stable=True)
    places = torch.linspace(0, len(order) - 1, min(count, len(order))).round().long()
    certain = torch.ones_like(targets[..., 0])
    shares, classes = predictions[..., :-4].max(dim=2)
    return PredictedBoxes(
        **measure_boxes(scores),
        num_images=len(images),
        images=tuple(
            BoxedImage(
                row=place if rows is None else int(rows[place]),
                overlap=float(overlaps[place]),
                picture=pixels_of(_shown(images[place])),
                truth=_boxes(
                    targets[place, :, 0], certain[place], targets[place, :, 1:], class_names
                ),
                said=_boxes(classes[place], shares[place], predictions[place, :, -4:], class_names),
            )
            for place in order[places].tolist()
        ),
        is_sample=rows is not None,
    )


def _shown(image: Tensor) -> Tensor:
    """Grey where the channels are no colours."""
    return image if len(image) in (1, 3) else image.mean(dim=0, keepdim=True)


def _boxes(classes: Tensor, shares: Tensor, boxes: Tensor, names: Sequence[str]) -> tuple[Box, ...]:
    """Those that are of a class: neither nothing, which comes after them, nor below 0."""
    corners = to_corners(boxes).clamp(0, 1).tolist()
    return tuple(
        (names[int(kind)], share, tuple(corner))
        for kind, share, corner in zip(classes.tolist(), shares.tolist(), corners, strict=True)
        if 0 <= kind < len(names)
    )


def _outline(axes: "Axes", box: Box, colour: str, style: str) -> None:
    """The four sides, on a dark line where the image is light."""
    left, top, right, bottom = box[2]
    x, y = (left, right, right, left, left), (top, top, bottom, bottom, top)
    axes.plot(x, y, color="#222222", linewidth=2.4, alpha=0.5)
    axes.plot(x, y, color=colour, linewidth=1.4, linestyle=style)
