"""CRFsuite's parameters, and what they mean for a structured SVM."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

from ..._settings import number, whole_number


@dataclass(frozen=True)
class Parameter:
    """A parameter of a trainer: its type, its default, and what it is for."""

    kind: Any
    default: Any
    help: str


def _truth(value: Any) -> bool:
    return bool(int(value))


_COMMON = {
    "feature.minfreq": Parameter(float, 0.0, "Has no effect: all attributes are kept."),
    "feature.possible_states": Parameter(_truth, False, "Has no effect: all pairs are possible."),
    "feature.possible_transitions": Parameter(
        _truth, False, "Has no effect: all pairs are possible."
    ),
}
_C2 = Parameter(float, 1.0, "Strength of L2 regularization.")
_PERIOD = Parameter(int, 10, "Has no effect.")
_ITERATIONS = "The most passes over the data. Ten are enough for large data."

#: The parameters of each algorithm, with CRFsuite's defaults.
ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        **_COMMON,
        "c1": Parameter(float, 0.0, "Strength of L1 regularization; it adds to c2."),
        "c2": _C2,
        "max_iterations": Parameter(int, 2147483647, _ITERATIONS),
        "num_memories": Parameter(int, 6, "Has no effect."),
        "epsilon": Parameter(float, 1e-5, "Has no effect."),
        "period": _PERIOD,
        "delta": Parameter(float, 1e-5, "Has no effect."),
        "linesearch": Parameter(str, "MoreThuente", "Has no effect."),
        "max_linesearch": Parameter(int, 20, "Has no effect."),
    },
    "l2sgd": {
        **_COMMON,
        "c2": _C2,
        "max_iterations": Parameter(int, 1000, _ITERATIONS),
        "period": _PERIOD,
        "delta": Parameter(float, 1e-6, "Has no effect."),
        "calibration.eta": Parameter(float, 0.1, "Has no effect."),
        "calibration.rate": Parameter(float, 2.0, "Has no effect."),
        "calibration.samples": Parameter(float, 1000.0, "Has no effect."),
        "calibration.candidates": Parameter(int, 10, "Has no effect."),
        "calibration.max_trials": Parameter(int, 20, "Has no effect."),
    },
    "averaged-perceptron": {
        **_COMMON,
        "max_iterations": Parameter(int, 100, _ITERATIONS),
        "epsilon": Parameter(float, 0.0, "Has no effect."),
    },
    "passive-aggressive": {
        **_COMMON,
        "type": Parameter(int, 1, "Has no effect."),
        "c": Parameter(float, 1.0, "Has no effect."),
        "error_sensitive": Parameter(_truth, True, "Has no effect."),
        "averaging": Parameter(_truth, True, "Has no effect: weights are always averaged."),
        "max_iterations": Parameter(int, 100, _ITERATIONS),
        "epsilon": Parameter(float, 0.0, "Has no effect."),
    },
    "arow": {
        **_COMMON,
        "variance": Parameter(float, 1.0, "Has no effect."),
        "gamma": Parameter(float, 1.0, "Has no effect."),
        "max_iterations": Parameter(int, 100, _ITERATIONS),
        "epsilon": Parameter(float, 0.0, "Has no effect."),
    },
}

#: Short names of algorithms.
ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}

#: Parameters that mean something here. All pairs of labels and of attributes and labels are always possible, so
#: that asking for them is granted.
MEANT = {
    "c1",
    "c2",
    "max_iterations",
    "averaging",
    "feature.possible_states",
    "feature.possible_transitions",
}

#: Passes that are enough for many sequences, and visits of sequences that are enough for few.
FEWEST_PASSES = 10
ENOUGH_VISITS = 20_000
MOST_PASSES = 1000

#: A hinge loss asks for a margin, which a logistic loss does not. At a tenth of CRFsuite's regularization the two
#: predict alike, on data of any size; see benchmarks/README.md.
SHARE_OF_C = 0.1

#: What stands for a regularization of 0, at which there is no dual problem.
LEAST_C = 1e-3

_warned: set[str] = set()


def algorithm_of(name: str, type: str = "crf1d") -> str:
    """The full name of an algorithm.

    >>> algorithm_of("AP")
    'averaged-perceptron'
    """
    found = ALIASES.get(name.lower(), name.lower())
    if found not in ALGORITHMS or type != "crf1d":
        raise ValueError(f"Bad arguments: algorithm={name!r}, type={type!r}")
    return found


def strength(algorithm: str, given: dict[str, Any], n: int) -> float:
    """λ for CRFsuite's regularization, which is not divided by the number of sequences.

    >>> strength("lbfgs", {"c1": 0.5, "c2": 0.5}, 100)
    0.002
    """
    own = ALGORITHMS[algorithm]
    parts = [given.get(name, own[name].default) for name in ("c1", "c2") if name in own]
    whole = sum(number("c1 and c2", part) for part in parts) if parts else 1.0
    if whole < 0:
        raise ValueError(f"c1 and c2 sum to {whole}; they must not be negative")
    return 2.0 * SHARE_OF_C * max(whole, LEAST_C) / max(1, n)


def passes(algorithm: str, given: dict[str, Any], n: int) -> int:
    """The most passes over n sequences.

    >>> passes("lbfgs", {}, 8936), passes("lbfgs", {"max_iterations": 3}, 8936), passes("lbfgs", {}, 100)
    (10, 3, 200)
    """
    most = given.get("max_iterations", ALGORITHMS[algorithm]["max_iterations"].default)
    enough = min(MOST_PASSES, max(FEWEST_PASSES, math.ceil(ENOUGH_VISITS / max(1, n))))
    return min(enough, whole_number("max_iterations", most, 1))


def warn_of(given: dict[str, Any], frames: int = 3) -> None:
    """Warns once of each parameter that has no effect."""
    new = [name for name in given if name not in MEANT and name not in _warned]
    if new:
        _warned.update(new)
        warnings.warn(f"{new} have no effect on a structured SVM", UserWarning, stacklevel=frames)
