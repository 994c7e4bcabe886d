"""What classes count in training, by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._labels import Labels
from ._settings import number


def by_label(
    class_weight: Any, labels: Labels, truth: list[Any], given: Any
) -> tuple[np.ndarray | None, list[np.ndarray] | None]:
    """Weights of classes, and from them the weights of items by their true labels, example by example, times those
    that are ``given``.

    >>> from maxmargin._labels import as_classes
    >>> _, each = by_label({"b": 3.0}, Labels(as_classes("ab")), [["a", "b"], ["b"]], [[1.0, 2.0], [0.5]])
    >>> [own.tolist() for own in each]
    [[1.0, 6.0], [1.5]]
    """
    if class_weight is None:
        return None, given
    numbers, ends = labels.encode_all(truth, strict=False)
    own = class_weights(class_weight, labels, numbers)
    if own is None:
        return None, given
    each = np.split(np.append(own, 1.0)[np.minimum(numbers, len(own))], ends[:-1])
    if given is None:
        return own, each
    if len(given) != len(each):
        raise ValueError(f"there are {len(each)} examples and weights for {len(given)}")
    pairs = zip(each, given, strict=True)
    return own, [weights * np.asarray(more, dtype=np.float64) for weights, more in pairs]


def class_weights(class_weight: Any, labels: Labels, numbers: np.ndarray) -> np.ndarray | None:
    """A weight for each class, from ``class_weight`` and the numbers of all labels in the data; none if all are 1.

    ``"balanced"`` gives n/(k count) to a class, with n labels of k classes; a class without examples gets 1.

    >>> from maxmargin._labels import as_classes
    >>> class_weights("balanced", Labels(as_classes("ab")), np.array([0, 0, 0, 1])).round(3).tolist()
    [0.667, 2.0]
    """
    if class_weight is None:
        return None
    count = len(labels.classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(numbers[numbers < count].astype(np.int64), minlength=count)
        weights = counts.sum() / (count * np.maximum(counts, 1))
        return np.where(counts > 0, weights, 1.0)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight is {class_weight!r}; it must be a dictionary of weights by label, or 'balanced'"
        )
    weights = np.ones(count)
    for label, weight in class_weight.items():
        at = labels.index.get(label)
        if at is None:
            raise ValueError(f"class_weight has the label {label!r}, which the data do not have")
        weights[at] = number(f"the weight of the class {label!r}", weight)
        if weights[at] < 0:
            raise ValueError(
                f"the weight of the class {label!r} is {weight}; it must not be negative"
            )
    return weights
