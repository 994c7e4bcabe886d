"""Names of attributes, as the fitted estimators remember them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._inputs import numbered_columns

#: What does not go into a pickle, since it can be made again.
TRANSIENT = ("_attribute_cache", "_column_cache", "_weight_cache")

#: A model has at most so many weights.
MOST_COLUMNS = 2**29


class AttributeNames:
    """For estimators whose inputs are rows or tokens with attributes."""

    _model: native.Model

    @property
    def attribute_names_(self) -> list[str]:
        """The names of the attributes, in the order of their weights."""
        check_is_fitted(self, "certificate_")
        return self._attributes().list()

    def _new_attributes(self, width: int | None, names: list[str] | None) -> native.Alphabet:
        """Names to train with: those of the columns, or none yet."""
        if width is None:
            alphabet = native.Alphabet()
            self.__dict__.pop("n_features_in_", None)
        else:
            # Every column has a name, and a list of so many would not end.
            if width > MOST_COLUMNS:
                raise ValueError(
                    f"X has {width} columns, of which at most {MOST_COLUMNS} can have weights"
                )
            alphabet = native.Alphabet(names) if names else native.Alphabet.numbered(width)
            self.n_features_in_ = width
        self._attribute_cache = alphabet
        self._column_cache: dict[int, np.ndarray | None] = {}
        self._is_numbered = width is not None and not names
        return alphabet

    def _check_known(self, unknown: int) -> None:
        """Refuses attributes by names that a model of columns without names cannot have."""
        if unknown and getattr(self, "_is_numbered", False):
            raise ValueError(
                f"the model was trained on a matrix, whose columns have the names 1 to "
                f"{self.n_features_in_}; X has other attributes"
            )

    def _restore_attributes(self, alphabet: native.Alphabet) -> None:
        names = alphabet.list()
        if names and all(name.isdigit() for name in names):
            self.n_features_in_ = max(len(names), *(int(name) for name in names))
        else:
            self.n_features_in_ = len(names)
        self._attribute_cache = alphabet
        self._column_cache = {}

    def _attributes(self) -> native.Alphabet:
        alphabet = self.__dict__.get("_attribute_cache")
        if alphabet is None:
            alphabet = self._attribute_cache = self._model.attributes()
        return alphabet

    def _columns_of(self, width: int | None, names: list[str] | None = None) -> np.ndarray | None:
        """Which attributes the columns of a matrix stand for; the number of columns must be that of
        the training data, and where both have names these must be the same, in whatever order."""
        if width is None:
            return None
        expected = getattr(self, "n_features_in_", None)
        if expected is None:
            raise ValueError("the model was trained on attributes by name, not on matrices")
        if width != expected:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{expected} features as input"
            )
        known = self._attributes().list() if names else []
        if names and sorted(names) == sorted(known):
            return np.array([self._attributes().get(name) for name in names], dtype=np.int64)
        if names and not all(name.isdigit() for name in known):
            strange = sorted(set(names) - set(known))
            raise ValueError(f"the model was not trained on columns with the names {strange}")
        cache = self.__dict__.setdefault("_column_cache", {})
        if width not in cache:
            cache[width] = numbered_columns(self._attributes().list(), width)
        found: np.ndarray | None = cache[width]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in TRANSIENT}
