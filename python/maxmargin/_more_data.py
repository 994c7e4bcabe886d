"""Training on more and more data, where each round starts from the dual point of the one before."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ._labels import from_arrow
from .io import SequenceFile

Own = TypeVar("Own", bound="PartialFit")


class PartialFit:
    """The method ``partial_fit`` of all estimators, and what it keeps."""

    fit: Any

    def partial_fit(
        self: Own,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        **extra: Any,
    ) -> Own:
        """Trains on these data and all that were given to ``partial_fit`` before.

        The dual variables of the earlier data are kept, and training goes on from there; the new data start at
        the truth. The result is a model of all data, with a certificate about all of them. The estimator keeps
        the data for that.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``, with its further arguments but for ``validation`` and ``lengths``.
        classes : array-like, optional
            Labels that later data may have. A label that was never named makes the next round start anew.

        Returns
        -------
        self
        """
        seen: list[tuple[Any, Any, Any, dict[str, Any]]] = self.__dict__.get("_seen") or []
        if not seen and "certificate_" in self.__dict__:
            warnings.warn(
                "this estimator was trained by fit, which keeps no data: partial_fit starts anew with these",
                UserWarning,
                stacklevel=2,
            )
        if isinstance(X, SequenceFile) or "lengths" in extra or "validation" in extra:
            raise ValueError("partial_fit takes neither files nor lengths nor validation data")
        if seen:
            self._check_more(X)
        if classes is not None:
            self._classes_ahead: list[Any] = list(np.asarray(classes, dtype=object).tolist())
        parts = [*seen, (from_arrow(X), from_arrow(y), sample_weight, extra)]
        arguments = {
            name: joined([part[3].get(name) for part in parts], name)
            for name in dict.fromkeys(name for part in parts for name in part[3])
        }
        self._is_more = True
        try:
            self.fit(
                joined([part[0] for part in parts], "X"),
                joined([part[1] for part in parts], "y"),
                all_weights(parts),
                **arguments,
            )
        finally:
            del self._is_more
            if "certificate_" in self.__dict__:
                self._seen = parts
        return self

    def _check_more(self, X: Any) -> None:
        """Refuses data that are not like those of before."""

    def _begin_run(self) -> bool:
        """Whether the data begin with those of the last round. If not, those are forgotten."""
        more = bool(self.__dict__.get("_is_more"))
        if not more:
            self.__dict__.pop("_seen", None)
            self.__dict__.pop("_classes_ahead", None)
        return more

    def _ahead(self) -> list[Any]:
        """Labels that were named ahead."""
        return self.__dict__.get("_classes_ahead", []) if self.__dict__.get("_is_more") else []


def all_weights(parts: list[tuple[Any, Any, Any, dict[str, Any]]]) -> np.ndarray | None:
    """The weights of all examples; 1 where none were given."""
    if all(weight is None for _, _, weight, _ in parts):
        return None

    def own(X: Any, weight: Any) -> np.ndarray:
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.ones(count) if weight is None else np.asarray(weight, dtype=np.float64)

    return np.concatenate([own(X, weight) for X, _, weight, _ in parts])


def joined(parts: list[Any], name: str) -> Any:
    """Data one after the other, in the form that they have.

    >>> joined([[1], [2, 3]], "y"), joined([None], "y")
    ([1, 2, 3], None)
    >>> joined([np.eye(2), np.ones((1, 2))], "X").shape
    (3, 2)
    """
    if all(part is None for part in parts):
        return None
    if any(part is None for part in parts):
        raise ValueError(f"{name} was given to some rounds of partial_fit, and not to others")
    if len(parts) == 1:
        return parts[0]
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    if all(hasattr(part, "iloc") for part in parts):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if any(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.asarray(part) for part in parts])
    return [item for part in parts for item in part]
