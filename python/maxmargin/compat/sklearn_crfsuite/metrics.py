"""Measures of labelled sequences: those of scikit-learn on all labels, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import sklearn.metrics


def _flat(measure: Callable[..., Any]) -> Callable[..., Any]:
    """The same measure of sequences of labels."""

    def flat(y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        lengths = [len(own) for own in y_true], [len(own) for own in y_pred]
        if lengths[0] != lengths[1]:
            raise ValueError("predictions are not as long as the true sequences")
        truth, found = list(chain.from_iterable(y_true)), list(chain.from_iterable(y_pred))
        return measure(truth, found, *args, **kwargs)

    flat.__name__ = flat.__qualname__ = f"flat_{measure.__name__}"
    flat.__doc__ = f"``sklearn.metrics.{measure.__name__}`` of all labels of sequences."
    return flat


flat_accuracy_score = _flat(sklearn.metrics.accuracy_score)
flat_precision_score = _flat(sklearn.metrics.precision_score)
flat_recall_score = _flat(sklearn.metrics.recall_score)
flat_f1_score = _flat(sklearn.metrics.f1_score)
flat_fbeta_score = _flat(sklearn.metrics.fbeta_score)
flat_classification_report = _flat(sklearn.metrics.classification_report)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of sequences of which every label is right.

    >>> sequence_accuracy_score([["a", "b"], ["a"]], [["a", "b"], ["b"]])
    0.5
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"there are {len(y_true)} sequences and {len(y_pred)} predictions")
    right = [list(own) == list(found) for own, found in zip(y_true, y_pred, strict=True)]
    return sum(right) / len(right) if right else 1.0
