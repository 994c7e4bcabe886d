"""Training where decoding is hard: over a relaxation, or through soft constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._settings import number, whole_number

#: Ways to find weights.
TRAININGS = ("exact", "lp", "soft")

#: Where the penalty on messages stands: inside the mean over examples, or beside it.
RHO_SCALES = ("example", "sum")


@dataclass
class HardTraining:
    """What is asked for: the fields of a model file, and what else training has to know."""

    fields: dict[str, Any]
    rounds: tuple[list[float], int] | None = None
    exact: bool = False


def hard_training(estimator: Any) -> HardTraining:
    """How the weights of an estimator are to be found, and how its outputs."""
    name = estimator.training
    if name is not None and name not in TRAININGS:
        raise ValueError(
            f"training is {name!r}; known are {list(TRAININGS)}, and None for the decoder that "
            "inference names"
        )
    check_options(estimator, name)
    fields: dict[str, Any] = {"inference": estimator.inference}
    if name in (None, "exact"):
        return HardTraining(fields, exact=name == "exact")
    if name == "lp":
        if estimator.inference not in ("auto", "lp", "roof-duality"):
            raise ValueError(
                f"training='lp' is training with inference='lp', not {estimator.inference!r}"
            )
        fields["inference"] = "lp" if estimator.inference == "auto" else estimator.inference
        return HardTraining(fields)
    if getattr(estimator, "kernel", None) is not None:
        raise ValueError(f"kernel does not go with training={name!r}; leave it out")
    rhos = [float(rho) for rho in estimator.rho_schedule or ()]
    rho = rhos[0] if rhos else float(1.0 if estimator.rho is None else estimator.rho)
    soft: dict[str, Any] = {
        "rho": rho,
        "rho_scale": estimator.rho_scale or RHO_SCALES[0],
        "lambda": 0.0,
        "blocks": 0,
        "messages": 0,
        "hard_objective": 0.0,
    }
    soft |= {"violation": [0.0, 0.0], "smoothing": estimator.smooth}
    rounds = (rhos, int(estimator.multipliers or 0))
    return HardTraining({**fields, "training": {"soft": soft}}, rounds)


def check_options(estimator: Any, name: str | None) -> None:
    """Refuses options that a training does not have."""
    for option in ("rho", "rho_scale", "rho_schedule", "multipliers", "smooth"):
        value = getattr(estimator, option)
        if value is None:
            continue
        if name != "soft":
            raise ValueError(f"{option} has no meaning without training='soft'")
        if option == "rho_scale":
            if value not in RHO_SCALES:
                raise ValueError(f"rho_scale is {value!r}; known are {list(RHO_SCALES)}")
            continue
        if option == "rho_schedule" and (isinstance(value, str) or not hasattr(value, "__iter__")):
            raise ValueError(f"rho_schedule is {value!r}; it must be a list of numbers")
        numbers = list(value) if option == "rho_schedule" else [value]
        if not numbers or not all(number(option, one) > 0 for one in numbers):
            raise ValueError(f"{option} is {value}; positive numbers are needed")
        if option == "multipliers":
            whole_number(option, value, 1)
    if name == "soft" and estimator.rescaling != "margin":
        raise ValueError("rescaling='slack' does not go with training='soft'")
    if estimator.rho_schedule is not None:
        for other in ("rho", "multipliers"):
            if getattr(estimator, other) is not None:
                raise ValueError(f"rho_schedule and {other} do not go together; give one of them")


def restore_training(estimator: Any, spec: dict[str, Any]) -> None:
    """Takes over how the weights of a model that was loaded were found."""
    own = spec.get("training", "decoding")
    if own == "decoding":
        return
    soft = own["soft"]
    scale = soft.get("rho_scale", "sum")  # files from before the penalty could be inside the mean
    estimator.set_params(
        training="soft", rho=soft["rho"], rho_scale=scale, smooth=soft.get("smoothing")
    )


def soft_result(spec: dict[str, Any]) -> dict[str, Any] | None:
    """What soft training has come to."""
    own = spec.get("training")
    if not isinstance(own, dict) or "soft" not in own:
        return None
    soft = own["soft"]
    largest, rms = soft["violation"]
    return {
        "rho": soft["rho"],
        "rho_scale": soft.get("rho_scale", "sum"),
        "hard_objective": soft["hard_objective"],
        "violation": {"largest": largest, "rms": rms},
    }
