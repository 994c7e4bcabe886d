"""What a user sees of a run while it goes on."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np

logger = logging.getLogger("maxmargin")

Row = dict[str, float]
Callback = Callable[[Row], Any]


class Progress:
    """A bar where tqdm is installed, plain lines otherwise; nothing at ``verbose=0``."""

    def __init__(self, verbose: int, callback: Callback | None, max_passes: int) -> None:
        self.verbose = int(verbose)
        self.callback = callback
        self.bar: Any = None
        if self.verbose == 1:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self.verbose = 2
            else:
                self.bar = tqdm(total=max_passes, unit="pass", leave=False)

    @property
    def wanted(self) -> bool:
        """Whether anyone wants to hear of rows at all."""
        return self.verbose > 0 or self.callback is not None or logger.isEnabledFor(logging.DEBUG)

    def __call__(self, row: Row) -> bool:
        known = not math.isnan(row["gap"])
        if self.bar is not None:
            self.bar.update(row["passes"] - self.bar.n)
            if known:
                self.bar.set_postfix(gap=f"{row['gap']:.4g}", dual=f"{row['dual']:.6g}")
        elif self.verbose >= 2 and (known or self.verbose > 2):
            print(describe(row), flush=True)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s", describe(row))
        answer = None if self.callback is None else self.callback(row)
        return not isinstance(answer, (bool, np.bool_)) or bool(answer)

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self.bar is not None:
            self.bar.close()


def describe(row: Row) -> str:
    """A row in one line."""
    gap = "" if math.isnan(row["gap"]) else f"  gap {row['gap']:.4g}"
    validation = "" if math.isnan(row["validation"]) else f"  validation {row['validation']:.4f}"
    return (
        f"pass {row['passes']:.0f}  {row['oracle_calls']:.0f} calls  {row['seconds']:.2f} s  "
        f"dual {row['dual']:.6g}{gap}{validation}"
    )
