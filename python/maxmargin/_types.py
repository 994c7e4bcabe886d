"""The names that parameters take, and types of arguments, for type checkers and readers."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, TypeAlias

PathLike: TypeAlias = str | os.PathLike[str]

#: The regularization strength λ, or the rule that finds it.
Lam: TypeAlias = float | Literal["scale", "auto", "1/n"] | None

#: What ``lam="auto"`` chooses λ by.
Measure: TypeAlias = Literal["error", "subset", "chunk-f1", "micro-f1", "aer", "iou", "pdj"]

Solver: TypeAlias = Literal[
    "auto", "bcfw", "fw", "ssg", "adagrad", "perceptron", "n-slack", "1-slack", "eg"
]
Order: TypeAlias = Literal[
    "uniform", "permutation", "cyclic", "lazy", "gap", "max-gap", "curvature", "gap-curvature"
]
Direction: TypeAlias = Literal["fw", "pairwise", "away", "best", "corrective", "staged"]
Cache: TypeAlias = Literal["off", "on", "auto", "exhaust"]
Kernel: TypeAlias = Literal["linear", "poly", "rbf"]
Rescaling: TypeAlias = Literal["margin", "slack"]

#: What ctrl-C does when the model is safe: raise ``KeyboardInterrupt``, or keep the model so far with a warning.
OnInterrupt: TypeAlias = Literal["raise", "keep"]

#: What a class counts, by its label.
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None

#: Called after each pass with its figures; ``False`` stops the training.
Callback: TypeAlias = Callable[[dict[str, float]], Any]

#: Anything that can be a label.
Label: TypeAlias = Hashable

#: Why training ended.
Status: TypeAlias = Literal[
    "converged",
    "max-passes",
    "max-oracle-calls",
    "max-seconds",
    "interrupted",
    "stopped",
    "patience",
    "estimated",
]

#: What a gap is a bound of.
Quality: TypeAlias = Literal["exact", "upper-bound", "heuristic", "unfinished", "unproven"]
