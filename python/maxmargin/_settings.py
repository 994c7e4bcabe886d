"""Parameters on their way to the native half, looked at while they still have their names."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

#: Passes at most, unless told otherwise.
MAX_PASSES = 1000

#: Seeds are whole numbers below this.
SEEDS = 2**64


def number(name: str, value: Any) -> float:
    """A finite number, for a parameter with this name.

    >>> number("tol", 1)
    1.0
    >>> number("tol", float("nan"))
    Traceback (most recent call last):
    ...
    ValueError: tol is nan; it must be a finite number
    """
    try:
        found = math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name} is {value!r}; it must be a finite number")
    return found


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """A whole number, for a parameter with this name.

    >>> whole_number("max_passes", 1e3, 1)
    1000
    >>> whole_number("max_passes", 2.5, 1)
    Traceback (most recent call last):
    ...
    ValueError: max_passes is 2.5; it must be a whole number, at least 1
    """
    try:
        exact = not isinstance(value, (str, bytes)) and int(value) == value
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact or int(value) < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, at least {least}")
    return int(value)


def is_auto(lam: Any) -> bool:
    """Whether λ is to be chosen."""
    return isinstance(lam, str) and lam == "auto"


def strength(lam: Any, C: Any, total_weight: float) -> float | None:
    """The regularization strength λ of a run; none if it is to be chosen."""
    if lam is not None and C is not None:
        raise ValueError("lam and C are two ways to say the same; give one of them")
    if is_auto(lam):
        return None
    if lam is not None:
        if isinstance(lam, str):
            raise ValueError(f"lam is {lam!r}; it must be a positive number, or 'auto'")
        if not number("lam", lam) > 0:
            raise ValueError(f"lam is {lam}; it must be a positive number, or 'auto'")
        return float(lam)
    if C is None:
        return 1.0 / total_weight
    if not number("C", C) > 0:
        raise ValueError(f"C is {C}; it must be a positive number")
    return 1.0 / (float(C) * total_weight)


def seed(random_state: Any) -> int:
    """A seed from scikit-learn's ``random_state``; 1 where none is given."""
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)):
        found = int(random_state)
        if not 0 <= found < SEEDS:
            raise ValueError(f"random_state is {found}; seeds are whole numbers from 0 to 2⁶⁴ − 1")
        return found
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``; 0 means all cores."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, str) or n_jobs != int(n_jobs):
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be a whole number, -1 for all cores")
    n_jobs = int(n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use -1 for all cores")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs != -1 else 0
    return n_jobs


def bound_pair(name: str, pair: Any) -> tuple[Any, Any]:
    """A lower and an upper bound, either of which may be None."""
    try:
        low, high = pair
        is_pair = not isinstance(pair, (str, bytes, dict))
    except (TypeError, ValueError):
        is_pair = False
    if not is_pair:
        raise ValueError(f"{name} is {pair!r}; it must be a pair (lower, upper), None for no bound")
    return low, high


def bound_arrays(bounds: Any, dim: int) -> tuple[list[float], list[float]] | None:
    """Bounds of all weights, from a pair of numbers or arrays.

    >>> bound_arrays((0, None), 2)
    ([0.0, 0.0], [inf, inf])
    """
    if bounds is None:
        return None
    low, high = bound_pair("bounds", bounds)
    sides = []
    for side, bound, none in (("lower", low, -np.inf), ("upper", high, np.inf)):
        array = np.asarray(none if bound is None else bound, dtype=float)
        if array.shape not in ((), (dim,)):
            raise ValueError(f"the {side} bounds have the shape {array.shape}, not ({dim},)")
        sides.append(np.broadcast_to(array, dim).tolist())
    return sides[0], sides[1]


def group_bounds(bounds: Any) -> dict[str, dict[str, float]]:
    """Bounds by group as model files state them.

    >>> group_bounds({"transition": (0, None)})
    {'lower': {'transition': 0.0}, 'upper': {}}
    """
    if bounds is None:
        return {"lower": {}, "upper": {}}
    if not isinstance(bounds, dict):
        bounds = {"all": bounds}
    lower: dict[str, float] = {}
    upper: dict[str, float] = {}
    for name, pair in bounds.items():
        low, high = bound_pair(f"the bound of {name}", pair)
        if low is not None and low != -np.inf:
            lower[str(name)] = number(f"the lower bound of {name}", low)
        if high is not None and high != np.inf:
            upper[str(name)] = number(f"the upper bound of {name}", high)
    return {"lower": lower, "upper": upper}


def as_json(what: str, value: Any) -> str:
    """A structured argument of a native function, in which every number is finite."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from None
