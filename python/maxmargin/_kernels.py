"""Kernels on the inputs of chains, multiclass and multi-label models."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from ._settings import number, whole_number

#: Kernels and their parameters.
KERNELS = {"linear": (), "poly": ("gamma", "degree", "coef0"), "rbf": ("gamma",)}

#: Bytes that kernel values may take, unless told otherwise.
BYTES = 1 << 30


def kernel_part(estimator: Any, data: Any, attributes: int) -> dict[str, Any]:
    """What a model file says of the kernel that an estimator asks for: nothing, if it asks for none."""
    name = estimator.kernel
    if name is not None and name not in KERNELS:
        raise ValueError(f"kernel is {name!r}; known are {list(KERNELS)}, and None for none")
    known = () if name is None else (*KERNELS[name], "kernel_bytes")
    for option in ("gamma", "degree", "coef0", "kernel_bytes"):
        if getattr(estimator, option) is not None and option not in known:
            hint = "has no meaning without a kernel" if name is None else f"is none of {name!r}"
            raise ValueError(f"{option} {hint}; leave it out")
    if name is None:
        return {}
    if estimator.bounds is not None:
        raise ValueError(
            "bounds do not go with a kernel, whose features have no weights of their own; leave one "
            "of the two out"
        )
    if getattr(estimator, "rescaling", "margin") == "slack":
        raise ValueError(
            "rescaling='slack' does not go with a kernel: nothing could verify the dual point"
        )
    parameters: dict[str, Any] = {}
    if "gamma" in known:
        gamma = estimator.gamma
        is_default = gamma is None or (isinstance(gamma, str) and gamma == "scale")
        parameters["gamma"] = (
            data.kernel_scale(attributes) if is_default else number("gamma", gamma)
        )
    if name == "poly":
        parameters["degree"] = (
            3 if estimator.degree is None else whole_number("degree", estimator.degree, 1)
        )
        parameters["constant"] = (
            1.0 if estimator.coef0 is None else number("coef0", estimator.coef0)
        )
    long_name = "polynomial" if name == "poly" else name
    size = (
        BYTES
        if estimator.kernel_bytes is None
        else whole_number("kernel_bytes", estimator.kernel_bytes)
    )
    return {"kernel": {"kernel": {long_name: parameters} if parameters else name, "bytes": size}}


def restore_kernel(estimator: Any, spec: dict[str, Any]) -> None:
    """Takes over the kernel of a model that was loaded."""
    if "kernel" not in spec:
        return
    own = spec["kernel"]["kernel"]
    name, parameters = (own, {}) if isinstance(own, str) else next(iter(own.items()))
    estimator.set_params(
        kernel="poly" if name == "polynomial" else name,
        gamma=parameters.get("gamma"),
        degree=parameters.get("degree"),
        coef0=parameters.get("constant"),
        kernel_bytes=spec["kernel"]["bytes"],
    )


def set_support(estimator: Any, attributes: int) -> bool:
    """Sets what a model with a kernel is a sum over; whether there is one."""
    for name in ("support_vectors_", "dual_coef_"):
        estimator.__dict__.pop(name, None)
    support = estimator._model.support()
    if support is None:
        return False
    starts, columns, values = support
    shape = (len(starts) - 1, attributes)
    estimator.support_vectors_ = sp.csr_matrix((values, columns, starts), shape=shape)
    estimator.dual_coef_ = estimator._groups()["coefficients"].T.copy()
    return True


def weighted_names(estimator: Any) -> list[str]:
    """What has weights with labels: attributes, or the inputs of a kernel."""
    if "support_vectors_" in estimator.__dict__:
        return [f"input {at}" for at in range(estimator.support_vectors_.shape[0])]
    names: list[str] = estimator._attributes().list()
    return names
