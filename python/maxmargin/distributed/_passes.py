"""How many passes shards make in a round."""

from __future__ import annotations

import math

#: Passes to choose among.
RUNGS = (1, 2, 3, 5, 8, 13, 20)

#: What a round costs besides its passes, in passes: the exact pass with which it begins, and its messages.
OVERHEAD = 2.0

#: A rate that was measured more than so many rounds ago is measured again.
OLD = 8


class Passes:
    """The passes of the next round, chosen by what earlier rounds have gained for their work.

    The gain of a round is how much of the gap it closes, as a logarithm, so that early and late rounds compare. Work
    is counted in passes and not in seconds: the clock would choose differently every time, and runs would not repeat.

    Parameters
    ----------
    fixed : int, optional
        Always so many.

    >>> passes = Passes()
    >>> for _ in range(10):  # a pass closes a tenth of the gap, but from the fourth on nothing
    ...     passes.note(min(passes.next, 3) * 0.1, 1.0)
    >>> passes.next
    3
    >>> Passes(fixed=4).next
    4
    """

    def __init__(self, fixed: int | None = None) -> None:
        self.fixed = fixed
        self.at = RUNGS.index(5)
        self.round = 0
        #: The rate of each rung, and the round in which it was measured.
        self.rates: dict[int, tuple[float, int]] = {}

    @property
    def next(self) -> int:
        """Passes in the next round."""
        return RUNGS[self.at] if self.fixed is None else self.fixed

    def note(self, gained: float, gap: float) -> None:
        """Takes note of how much the dual has risen in a round, and of the gap before."""
        if self.fixed is not None or not gap > 0.0:
            return
        self.round += 1
        closed = min(max(gained / gap, 0.0), 0.999)
        self.rates[self.at] = (-math.log1p(-closed) / (self.next + OVERHEAD), self.round)
        near = [at for at in (self.at + 1, self.at - 1) if 0 <= at < len(RUNGS)]
        stale = [at for at in near if at not in self.rates or self.round - self.rates[at][1] > OLD]
        best = max(self.rates, key=lambda at: (self.rates[at][0], -at))
        self.at = stale[0] if stale and self.at == best else best
