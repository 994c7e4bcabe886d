"""Parameters on their way to the native half, looked at while they still have their names."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._threads import threads as threads

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


def rescaling_name(value: Any) -> str:
    """How the loss enters.

    >>> rescaling_name("slack")
    'slack'
    >>> rescaling_name("both")
    Traceback (most recent call last):
    ...
    ValueError: rescaling is 'both'; known are 'margin' and 'slack'
    """
    if value not in ("margin", "slack"):
        raise ValueError(f"rescaling is {value!r}; known are 'margin' and 'slack'")
    return str(value)


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


#: How λ can be found, besides being given.
LAMBDA_RULES = ("scale", "auto", "1/n")


def is_auto(lam: Any) -> bool:
    """Whether λ is to be chosen."""
    return isinstance(lam, str) and lam == "auto"


def lambda_rule(lam: Any, C: Any) -> str:
    """The rule by which λ is found; ``given`` where it is a number, or follows from C.

    >>> lambda_rule("scale", None), lambda_rule(0.5, None), lambda_rule("scale", 1.0)
    ('scale', 'given', 'given')
    """
    if C is not None:
        return "given"
    if lam is None:
        return "scale"
    return lam if isinstance(lam, str) else "given"


def tolerances(tol: Any) -> tuple[float, float]:
    """The absolute gap and the share of the objective that ``tol`` stands for.

    >>> tolerances(0.5), tolerances("1%")
    ((0.5, 0.0), (0.0, 0.01))
    """
    if isinstance(tol, str):
        try:
            share = float(tol.removesuffix("%")) / 100.0 if tol.endswith("%") else math.nan
        except ValueError:
            share = math.nan
        if not 0.0 <= share < 1.0:
            raise ValueError(f"tol is {tol!r}; it must be a number, or a percentage such as '1%'")
        return 0.0, share
    if number("tol", tol) < 0:
        raise ValueError(f"tol is {tol}; it must be at least 0")
    return float(tol), 0.0


def tolerance_of(settings: dict[str, Any]) -> float | str:
    """The ``tol`` that stands for the tolerances in settings.

    >>> tolerance_of({"tolerance": 0.0, "relative_tolerance": 0.01})
    '1%'
    """
    share = settings.get("relative_tolerance", 0.0)
    if share > settings["tolerance"] == 0.0:
        return f"{100.0 * share:.10g}%"
    return settings["tolerance"]


def strength(lam: Any, C: Any, total_weight: float) -> float | None:
    """The regularization strength λ of a run; none if it is to be found."""
    kinds = "a positive number, 'scale', 'auto' or '1/n'"
    if isinstance(lam, str) and lam not in LAMBDA_RULES:
        raise ValueError(f"lam is {lam!r}; it must be {kinds}")
    if lam not in (None, "scale") and C is not None:
        raise ValueError("lam and C are two ways to say the same; give one of them")
    if isinstance(lam, str) and lam == "1/n":
        return 1.0 / total_weight
    if C is None and (lam is None or isinstance(lam, str)):
        return None
    if C is None:
        if not number("lam", lam) > 0:
            raise ValueError(f"lam is {lam}; it must be {kinds}")
        return float(lam)
    if not number("C", C) > 0:
        raise ValueError(f"C is {C}; it must be a positive number")
    return 1.0 / (float(C) * total_weight)


def when_standardised(standardise: Any) -> str:
    """When attributes are divided by their typical size, as the native half calls it.

    >>> when_standardised(True), when_standardised(False), when_standardised("auto")
    ('always', 'never', 'auto')
    """
    known = {True: "always", False: "never", "auto": "auto"}
    if isinstance(standardise, (bool, str)) and standardise in known:
        return known[standardise]
    raise ValueError(f"standardise is {standardise!r}; it must be True, False or 'auto'")


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
