"""Room for images that is used again, batch after batch.

Fresh memory costs a CPU more than most changes of images: the system clears every page of it. Two
rooms are enough for any number of changes, since each reads from one and writes to the other.

Shapes: B images (B, C, I, J).
"""

import torch
from torch import Tensor


class Scratch:
    """Two rooms, made when they are first needed; what lies in them is lost at the next batch."""

    def __init__(self) -> None:
        self._rooms: list[Tensor] = []

    def beside(self, images: Tensor) -> Tensor:
        """Room for as many images, in which these do not lie."""
        self._rooms = [room for room in self._rooms if _has_room(room, images)]
        for room in self._rooms:
            if room.data_ptr() != images.data_ptr():
                return room[: len(images)]
        self._rooms.append(torch.empty_like(images))
        return self._rooms[-1]

    def holds(self, images: Tensor) -> bool:
        """Whether these images lie here, so that they may be written over."""
        return any(room.data_ptr() == images.data_ptr() for room in self._rooms)


def _has_room(room: Tensor, images: Tensor) -> bool:
    return (
        room.shape[1:] == images.shape[1:]
        and len(room) >= len(images)
        and (room.dtype, room.device) == (images.dtype, images.device)
    )
