"""Best assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _maxmargin as native
from ._arrays import Batch, Decoded, as_array, cost_of, exactly, numbers, threads, whole


def assignment(
    scores: ArrayLike,
    *,
    nulls: str | tuple[ArrayLike, ArrayLike] | None = None,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    loss: str | float = "hamming",
    n_jobs: int | None = -1,
) -> Decoded:
    """The best way to pair rows with columns, exactly.

    Each row has at most one column, and each column at most one row. The score of an assignment is the
    sum of the scores of its links, and of rows and columns without a link if they have scores. This
    maximises; for costs, give ``-costs``.

    Parameters
    ----------
    scores : array of shape (R, C) or (B, R, C)
        A score for each row and column, of one problem or of a batch. Arrays of single and double
        precision are read where they are if they are contiguous. −inf forbids a link.
    nulls : None, "free" or a pair of arrays, default=None
        Which rows and columns may stay without a link. None: all of the smaller side must have one.
        ``"free"``: any may stay without, at the score 0. A pair of arrays of shapes (R,) and (C,), or
        (B, R) and (B, C): any may stay without, at these finite scores.
    lengths : array of shape (2,) or (B, 2), optional
        Numbers of rows and columns of each item; what is behind them is ignored.
    mask : array of booleans of shape (R, C) or (B, R, C), optional
        Which links are allowed; others count as −inf.
    truth : array of whole numbers of shape (R,) or (B, R), optional
        The true column of each row, −1 for none; the loss is added to the scores.
    loss : {"hamming", "normalised"} or number, default="hamming"
        The number of rows whose column is wrong, their share, or a number for each such row.
    n_jobs : int, default=-1
        Threads among which the items of a batch are divided; −1 means all cores. The result does not
        depend on it.

    Returns
    -------
    Decoded
        ``labels``, the column of each row or −1, of shape (R,) or (B, R), and ``score``, a number or an
        array of shape (B,), which includes the loss if there is a truth.

    Raises
    ------
    ValueError
        If a shape is wrong, if a number is NaN or +inf, or if too many links are forbidden.

    Examples
    --------
    >>> from maxmargin.decode import assignment
    >>> labels, score = assignment([[5, 4, 1], [5, 1, 1]])
    >>> labels.tolist(), float(score)
    ([1, 0], 9.0)
    >>> assignment([[2, -1], [3, -2]], nulls="free").labels.tolist()
    [-1, 0]
    """
    return ranked_assignments(
        None, scores, nulls=nulls, lengths=lengths, mask=mask, truth=truth, loss=loss, n_jobs=n_jobs
    )


def ranked_assignments(
    answers: int | None,
    scores: Any,
    *,
    nulls: Any = None,
    lengths: Any = None,
    mask: Any = None,
    truth: Any = None,
    loss: Any = "hamming",
    n_jobs: int | None = -1,
) -> Decoded:
    batch = Batch("scores", scores, "R", "C", may_be_empty=True)
    columns = batch.width
    of_rows, of_columns = _nulls(nulls, batch, columns)
    if truth is None and not (isinstance(loss, str) and loss == "hamming"):
        raise ValueError("loss has no meaning without truth")
    cost, is_share = cost_of(loss)
    if cost is None:
        raise ValueError("loss is an array; add it to the scores")
    labels, score, _ = native.decode_assignments(
        batch.scores,
        _mask(mask, batch),
        isinstance(nulls, str),
        of_rows,
        of_columns,
        _sizes(lengths, batch, columns),
        batch.truth(truth),
        cost,
        is_share,
        answers or 1,
        threads(n_jobs),
        batch.is_batch,
    )
    return Decoded(batch.outputs(labels, answers), batch.scored(score, answers))


def _nulls(nulls: Any, batch: Batch, columns: int) -> tuple[Any, Any]:
    """The scores of rows and columns without a link."""
    if nulls is None:
        return None, None
    if isinstance(nulls, str):
        if nulls != "free":
            raise ValueError(f"nulls is {nulls!r}; known are None, 'free' and a pair of arrays")
        return None, None
    try:
        rows, cols = nulls
    except (TypeError, ValueError):
        raise ValueError("nulls must be None, 'free' or a pair of arrays") from None
    found = []
    for name, value, size in [("rows", rows, batch.places), ("columns", cols, columns)]:
        name = f"nulls of {name}"
        array = numbers(name, value)
        exactly(name, array, *sorted({(size,), batch.shape(size)}))
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers")
        found.append(array)
    return found[0], found[1]


def _mask(mask: Any, batch: Batch) -> Any:
    if mask is None:
        return None
    found = as_array("mask", mask)
    if found.dtype != np.bool_:
        raise TypeError(f"mask has the type {found.dtype}; booleans are needed")
    size = (batch.places, batch.width)
    exactly("mask", found, *sorted({size, batch.shape(*size)}))
    return np.ascontiguousarray(found)


def _sizes(lengths: Any, batch: Batch, columns: int) -> Any:
    """Numbers of rows and columns of each item."""
    if lengths is None:
        return None
    found = exactly("lengths", whole("lengths", lengths), batch.shape(2)).reshape(batch.items, 2)
    most = np.array([batch.places, columns])
    wrong = np.flatnonzero(((found < 0) | (found > most)).any(axis=1))
    if len(wrong):
        own, at = tuple(found[wrong[0]].tolist()), wrong[0]
        raise ValueError(
            f"the lengths of item {at} are {own}; there are {most[0]} rows and {most[1]} columns"
        )
    return np.ascontiguousarray(found)
