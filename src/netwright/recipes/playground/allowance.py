"""How much of the time may go into something beside the work: a share, in the long run.

Each second brings `share` seconds, and what is done takes what it costs. One that costs much is
followed by a longer wait, many that cost little are not held up by it.
"""

MOST = 0.02  # seconds that are saved up: after a long wait there is no rush


class Allowance:
    """Seconds that may be spent.

    Args:
        share: of the time, between 0 and 1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._left, self._seen = 0.0, 0.0

    def is_left(self, now: float) -> bool:
        """Whether more was brought than spent, at a time of a clock that begins at 0."""
        self._left = min(MOST, self._left + self.share * (now - self._seen))
        self._seen = now
        return self._left >= 0

    def spend(self, seconds: float) -> None:
        """Take what something has cost."""
        self._left -= seconds
