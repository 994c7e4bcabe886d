"""Labels of any hashable type, and their numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from . import _maxmargin as native

#: Stands for a label that a model does not know.
UNKNOWN = np.uint32(2**32 - 2)


def from_arrow(values: Any) -> Any:
    """A column of Arrow as a list; anything else as it is.

    Nothing of Arrow need be installed for that: its columns know how to do it.
    """
    if not (hasattr(values, "to_pylist") and hasattr(values, "null_count")):
        return values
    if values.null_count:
        raise ValueError(f"the column has {values.null_count} nulls; every item is needed")
    return values.to_pylist()


def as_classes(labels: Iterable[Hashable]) -> np.ndarray:
    """The distinct labels, sorted where they can be compared, else in the order they came in.

    >>> as_classes(["b", "a", "b"]).tolist()
    ['a', 'b']
    >>> as_classes([("x", 1), None]).tolist()
    [('x', 1), None]
    """
    # There may be many labels, but few are distinct.
    try:
        distinct: list[Any] = list(dict.fromkeys(map(plain_label, dict.fromkeys(labels))))
    except TypeError as error:
        raise TypeError(f"labels must be hashable: {error}") from None
    if any(isinstance(label, float) and label != label for label in distinct):
        raise ValueError("a label is NaN")
    with contextlib.suppress(TypeError):
        distinct.sort()
    if all(type(label) is str for label in distinct) or all(
        type(label) in (int, bool) for label in distinct
    ):
        return of_one_type(distinct)
    return as_objects(distinct)


def as_objects(labels: list[Any]) -> np.ndarray:
    """Labels as they are."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def of_one_type(labels: list[Any]) -> np.ndarray:
    """Texts or numbers as NumPy's own, but for texts that end with a NUL, which NumPy would cut off.

    >>> of_one_type(["a", "b"]).dtype.kind, of_one_type(["a", "b\\0"]).tolist()
    ('U', ['a', 'b\\x00'])
    """
    if any(isinstance(label, str) and label.endswith("\0") for label in labels):
        return as_objects(labels)
    return np.array(labels)


def label_array(labels: list[Any]) -> np.ndarray:
    """Labels as an array of their own type, or of objects if there is none for them.

    >>> label_array(["a", "b"]).dtype.kind, label_array([1, "a"]).tolist(), label_array([(1, 2)]).shape
    ('U', [1, 'a'], (1,))
    """
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, bool, float}:
        return of_one_type(labels)
    return as_objects(labels)


def plain_label(label: Any) -> Any:
    """NumPy's numbers and texts as Python's own, which hash and print alike."""
    return label.item() if isinstance(label, np.generic) else label


class Labels:
    """The labels of a model: ``classes`` by number, and numbers by label."""

    def __init__(self, classes: np.ndarray) -> None:
        self.classes = classes
        self.index = {plain_label(label): number for number, label in enumerate(classes)}

    def names(self) -> list[str]:
        """Labels as model files name them."""
        names = [str(plain_label(label)) for label in self.classes]
        if len(set(names)) < len(names):
            names = [repr(plain_label(label)) for label in self.classes]
        return names

    def alphabet(self) -> native.Alphabet:
        """The same for the native half."""
        return native.Alphabet(self.names())

    def encode(self, labels: Any, *, strict: bool = True) -> np.ndarray:
        """Numbers of labels; those that are not known are refused, or marked."""
        labels = from_arrow(labels)
        if isinstance(labels, np.ndarray):
            labels = labels.tolist()
        if strict:
            try:
                return np.array([self.index[label] for label in labels], dtype=np.uint32)
            except KeyError as error:
                raise ValueError(f"unknown label {error.args[0]!r}") from None
        get = self.index.get
        return np.array([get(label, UNKNOWN) for label in labels], dtype=np.uint32)

    def encode_all(self, examples: Any, *, strict: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the labels of all examples one after the other, and where those of each end.

        >>> numbers, ends = Labels(as_classes("ab")).encode_all([["a", "b"], ["b"]])
        >>> numbers.tolist(), ends.tolist()
        ([0, 1, 1], [2, 3])
        """
        lists = [own.tolist() if isinstance(own, np.ndarray) else own for own in examples]
        ends = np.cumsum([len(own) for own in lists], dtype=np.int64)
        return self.encode(chain.from_iterable(lists), strict=strict), ends

    def decode(self, numbers: np.ndarray) -> np.ndarray:
        """Labels of numbers."""
        return self.classes[numbers]


def loaded_classes(names: list[str]) -> np.ndarray:
    """Labels of a model file, which are texts."""
    return of_one_type(names)
