"""Arrays on their way to the decoders: shapes and types are looked at while they still have their names."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._threads import threads as threads

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Score: TypeAlias = np.float64 | Floats
Loss: TypeAlias = str | float | ArrayLike


class Decoded(NamedTuple):
    """The best output, and its score."""

    #: A label for each place, or the column of each row; −1 where there is none.
    labels: Integers
    #: The score, with the loss if there is a truth.
    score: Score


class Bounded(NamedTuple):
    """A good output, its score, and a bound that no output exceeds."""

    #: A label for each node; −1 where there is none.
    labels: Integers
    #: The score, with the loss if there is a truth.
    score: Score
    #: The score itself if the labels are the best, the value of a relaxation, or +inf for heuristics.
    bound: Score


class Cut(NamedTuple):
    """A minimum cut."""

    #: Whether each node is on the source's side.
    source_side: NDArray[np.bool_]
    #: The capacity of the cut, which is the maximum flow.
    value: Score


def numbers(name: str, value: Any, *shapes: str) -> NDArray[Any]:
    """A contiguous array of single or double precision; it is ``value`` itself if that is one.

    >>> numbers("scores", [[1, 2]], "(T, K)").dtype.name
    'float64'
    >>> numbers("scores", [1, 2], "(T, K)", "(B, T, K)")
    Traceback (most recent call last):
    ...
    ValueError: scores has the shape (2,); expected (T, K) or (B, T, K)
    """
    array = as_array(name, value)
    if array.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} has the type {array.dtype}; real numbers are needed")
        array = array.astype(np.float64)
    return of_shape(name, np.ascontiguousarray(array) if array.ndim else array, *shapes)


def whole(name: str, value: Any, *shapes: str) -> Integers:
    """A contiguous array of whole numbers."""
    array = as_array(name, value)
    if array.dtype.kind not in "iu" and not (array.dtype.kind in "fb" and array.size == 0):
        raise TypeError(f"{name} has the type {array.dtype}; whole numbers are needed")
    return of_shape(name, np.ascontiguousarray(array, dtype=np.int64), *shapes)


def as_array(name: str, value: Any) -> NDArray[Any]:
    """Any array, or a list of lists of one length."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from error


def of_shape(name: str, array: NDArray[Any], *shapes: str) -> NDArray[Any]:
    """The array, if it has as many dimensions as one of the shapes."""
    if shapes and array.ndim not in {dimensions(shape) for shape in shapes}:
        expected = " or ".join(shapes)
        raise ValueError(f"{name} has the shape {array.shape}; expected {expected}")
    return array


def dimensions(shape: str) -> int:
    return len([part for part in shape.strip("()").split(",") if part.strip()])


def exactly(name: str, array: NDArray[Any], *shapes: tuple[int, ...]) -> NDArray[Any]:
    """The array, if it has one of these shapes."""
    if array.shape not in shapes:
        expected = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"{name} has the shape {array.shape}; expected {expected}")
    return array


class Batch:
    """Scores of several items, or of a single one, which becomes a batch of one."""

    def __init__(
        self, name: str, scores: Any, places: str, labels: str, may_be_empty: bool = False
    ) -> None:
        single = f"({places}, {labels})"
        array = numbers(name, scores, single, f"(B, {places}, {labels})")
        self.is_batch = array.ndim == 3
        self.scores = array if self.is_batch else array[np.newaxis]
        self.items, self.places, self.width = self.scores.shape
        self.lead = (self.items,) if self.is_batch else ()
        if not self.width and not may_be_empty:
            raise ValueError(f"{name} has the shape {array.shape}: there are no labels")

    def lengths(self, lengths: Any, mask: Any) -> Integers | None:
        """How many places each item has, of a number per item or of a mask over its places."""
        if lengths is not None and mask is not None:
            raise ValueError("give lengths or a mask, not both")
        if mask is not None:
            found = as_array("mask", mask)
            if found.dtype != np.bool_:
                raise TypeError(f"mask has the type {found.dtype}; booleans are needed")
            exactly("mask", found, (*self.lead, self.places))
            found = found.reshape(self.items, self.places)
            sums = found.sum(axis=1, dtype=np.int64)
            prefix = np.arange(self.places) < sums[:, np.newaxis]
            gaps = np.flatnonzero((found != prefix).any(axis=1))
            if len(gaps):
                raise ValueError(
                    f"the mask of item {gaps[0]} has gaps; it must be true up to a length, then false"
                )
            return np.ascontiguousarray(sums)
        if lengths is None:
            return None
        found = exactly("lengths", whole("lengths", lengths), self.lead).reshape(self.items)
        wrong = np.flatnonzero((found < 0) | (found > self.places))
        if len(wrong):
            at = wrong[0]
            raise ValueError(
                f"the length of item {at} is {found[at]}; there are {self.places} places"
            )
        return np.ascontiguousarray(found)

    def truth(self, truth: Any) -> Integers | None:
        """The true label of every place; behind the length of an item it does not matter."""
        if truth is None:
            return None
        return exactly("truth", whole("truth", truth), (*self.lead, self.places))

    def loss(self, loss: Loss, truth: Any) -> tuple[Floats | None, bool]:
        """The loss of every true label with every label, and whether it is divided by the length."""
        if truth is None:
            if not (isinstance(loss, str) and loss == "hamming"):
                raise ValueError("loss has no meaning without truth")
            return None, False
        cost, is_share = cost_of(loss)
        if cost is not None:
            return cost * (1.0 - np.eye(self.width)), is_share
        table = numbers("loss", loss).astype(np.float64)
        exactly("loss", table, (self.width, self.width))
        outside = np.argwhere(~((table >= 0) & np.isfinite(table)))
        if len(outside):
            a, b = outside[0]
            raise ValueError(f"loss[{a}, {b}] is {table[a, b]}; finite numbers ≥ 0 are needed")
        wrong = np.flatnonzero(np.diag(table))
        if len(wrong):
            at = wrong[0]
            raise ValueError(f"loss[{at}, {at}] is {table[at, at]}; the true label must cost 0")
        return table, False

    def shape(self, *rest: int) -> tuple[int, ...]:
        return (*self.lead, *rest)

    def outputs(self, found: Integers, answers: int | None) -> Integers:
        """Outputs of the native half in the shape in which scores came."""
        ranks = () if answers is None else (answers,)
        return found.reshape(self.shape(*ranks, self.places))

    def scored(self, found: Floats, answers: int | None) -> Score:
        """Scores of the native half in the shape in which scores came."""
        ranks = () if answers is None else (answers,)
        shaped = found.reshape(self.shape(*ranks))
        return shaped if shaped.ndim else np.float64(shaped[()])


def cost_of(loss: Loss) -> tuple[float | None, bool]:
    """What a wrong label costs, unless that is in a table; and whether it is divided by the length."""
    if isinstance(loss, str):
        if loss not in ("hamming", "normalised"):
            raise ValueError(
                f"loss is {loss!r}; known are 'hamming' (the number of wrong labels) and 'normalised', "
                "a number (the cost of a wrong label), and a table of costs"
            )
        return 1.0, loss == "normalised"
    if np.ndim(loss) > 0:
        return None, False
    cost = float(loss)  # type: ignore[arg-type]
    if not (cost >= 0 and np.isfinite(cost)):
        raise ValueError(f"loss is {cost}; a finite number ≥ 0 is needed")
    return cost, False


def answers_of(k: Any) -> int:
    """How many answers are wanted."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k is {k!r}; a whole number of at least 1 is needed")
    return int(k)
