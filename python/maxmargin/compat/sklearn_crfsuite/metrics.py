"""Measures of labelled sequences: those of scikit-learn on all labels, one after the other."""

from __future__ import annotations

from itertools import chain
from typing import Any

import sklearn.metrics


def _flat(y_true: Any, y_pred: Any) -> tuple[list[Any], list[Any]]:
    """All labels one after the other."""
    y_true, y_pred = list(y_true), list(y_pred)
    if [len(own) for own in y_true] != [len(own) for own in y_pred]:
        raise ValueError("predictions are not as long as the true sequences")
    return list(chain.from_iterable(y_true)), list(chain.from_iterable(y_pred))


def flat_accuracy_score(y_true: Any, y_pred: Any, **options: Any) -> float:
    """``sklearn.metrics.accuracy_score`` of all labels of sequences."""
    return sklearn.metrics.accuracy_score(*_flat(y_true, y_pred), **options)


def flat_precision_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """``sklearn.metrics.precision_score`` of all labels of sequences."""
    return sklearn.metrics.precision_score(*_flat(y_true, y_pred), **options)


def flat_recall_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """``sklearn.metrics.recall_score`` of all labels of sequences."""
    return sklearn.metrics.recall_score(*_flat(y_true, y_pred), **options)


def flat_f1_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """``sklearn.metrics.f1_score`` of all labels of sequences."""
    return sklearn.metrics.f1_score(*_flat(y_true, y_pred), **options)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **options: Any) -> Any:
    """``sklearn.metrics.fbeta_score`` of all labels of sequences."""
    return sklearn.metrics.fbeta_score(*_flat(y_true, y_pred), beta=beta, **options)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **options: Any) -> Any:
    """``sklearn.metrics.classification_report`` of all labels of sequences."""
    return sklearn.metrics.classification_report(*_flat(y_true, y_pred), labels=labels, **options)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of sequences of which every label is right; 0 if there are none.

    >>> sequence_accuracy_score([["a", "b"], ["a"]], [["a", "b"], ["b"]])
    0.5
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"there are {len(y_true)} sequences and {len(y_pred)} predictions")
    right = [list(own) == list(found) for own, found in zip(y_true, y_pred, strict=True)]
    return sum(right) / len(right) if right else 0.0
