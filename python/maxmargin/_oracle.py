"""What the native half asks about a structure that is written in Python."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol

import numpy as np

# Other processes import this module when they begin. It imports little, so that they begin soon.

#: An output: the indices and the values of its features, and its loss.
Described = tuple[np.ndarray, np.ndarray, float]


class OracleError(RuntimeError):
    """A structure has raised an exception; ``index`` is the example it was asked about, and
    ``__cause__`` the exception."""

    def __init__(self, index: int, method: str, cause: BaseException) -> None:
        kind = type(cause).__name__
        super().__init__(f"{method} failed for example {index}: {kind}: {cause}")
        self.index = index
        self.method = method
        self.cause = cause

    def __reduce__(self) -> Any:
        return (OracleError, (self.index, self.method, self.cause))


class Structure(Protocol):
    """What a structure has to know."""

    def decode(self, x: Any, y: Any, w: np.ndarray, loss_augmented: bool) -> Any:
        """The best output for x at the weights w: with the largest ⟨w, features(x, ŷ)⟩, plus
        loss(y, ŷ) if ``loss_augmented``; y is None where the truth is not known."""

    def features(self, x: Any, y: Any) -> Any:
        """φ(x, y): an array, a sparse row, a dictionary of numbers by index, or a pair of indices
        and values."""

    def loss(self, y: Any, y_hat: Any) -> float:
        """What it costs to predict ŷ for y; 0 for y itself."""

    # It may have one more method, which is called where several outputs are needed at the same weights:
    #
    #     def decode_batch(self, xs, ys, w, loss_augmented): ...
    #
    # It returns a list of what ``decode`` returns for each x and y.


class Adapter:
    """What the native half asks about a structure."""

    def __init__(self, structure: Any, X: list[Any], y: list[Any], processes: int = 0) -> None:
        if isinstance(structure, type):
            raise TypeError(f"the structure is a class; give an object, {structure.__name__}()")
        for method in ("decode", "features", "loss"):
            if not callable(getattr(structure, method, None)):
                raise TypeError(f"the structure has no method {method}; see StructuredSVM")
        self.structure = structure
        self.X = X
        self.y = y
        self.dim = int(getattr(structure, "n_features", 0) or 0)
        self.pool: Any = None
        self.own_thread: int | None = None
        if processes > 0:
            from joblib.externals import loky

            self.pool = loky.ProcessPoolExecutor(
                processes, initializer=_begin_work, initargs=(structure, X, y)
            )
            with ctrl_c_ignored():
                # The processes begin here, and inherit it; their imports take a while.
                self.pool.submit(_nothing)

    def close(self) -> None:
        """Lets the other processes go."""
        if self.pool is not None:
            self.pool.shutdown(wait=True)
            self.pool = None

    def truths(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The features of all true outputs; checks that their losses are 0."""
        found, losses = self.truths_and_losses()
        for i, loss in enumerate(losses):
            if loss != 0.0:
                raise ValueError(
                    f"the true output of example {i} has the loss {loss}; it must be 0"
                )
        return found

    def truths_and_losses(self) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[float]]:
        """The features of all true outputs, and their losses, which should be 0."""
        found, losses = [], []
        for i in range(len(self.X)):
            raw = self._call(i, "features", self.X[i], self.y[i])
            if not self.dim:
                self.dim = length_of(raw)
            found.append(self.sparse(i, raw))
            losses.append(float(self._call(i, "loss", self.y[i], self.y[i])))
        return found, losses

    def corner(self, i: int, w: np.ndarray, augmented: bool) -> Described:
        """The features of the best output, and its loss. Plain decoding is not shown the truth, as in
        ``predict``."""
        if self.pool is not None and self._is_helper():
            try:
                return self.pool.submit(_work, i, w, augmented).result()
            except OracleError as error:
                raise error from error.cause
        x, y = self.X[i], self.y[i]
        best = self._call(i, "decode", x, y if augmented else None, w, augmented)
        return self.described(i, best)

    def corners(self, first: int, last: int, w: np.ndarray) -> list[Described]:
        """What :meth:`corner` says of all examples from ``first`` to before ``last``, with the loss.
        Other processes get them in one message, and a structure with ``decode_batch`` in one call."""
        if self.pool is not None and self._is_helper():
            try:
                return self.pool.submit(_work_on_all, first, last, w).result()
            except OracleError as error:
                raise error from error.cause
        if not callable(getattr(self.structure, "decode_batch", None)):
            return [self.corner(i, w, True) for i in range(first, last)]
        xs, ys = self.X[first:last], self.y[first:last]
        try:
            outputs = decode_all(self.structure, xs, ys, w, True)
        except Exception as error:
            raise OracleError(first, "decode_batch", error) from error
        return [
            self.described(i, output) for i, output in zip(range(first, last), outputs, strict=True)
        ]

    def described(self, i: int, output: Any) -> Described:
        """The features of an output, and its loss."""
        indices, values = self.sparse(i, self._call(i, "features", self.X[i], output))
        loss = float(self._call(i, "loss", self.y[i], output))
        if not loss >= 0.0:
            wrong = ValueError(f"the loss is {loss}; it must be a number ≥ 0")
            raise OracleError(i, "loss", wrong) from wrong
        return indices, values, loss

    def failed(self, i: int, method: str, error: BaseException) -> NoReturn:
        """Raises what the native half says of a method that has raised an exception."""
        raise OracleError(i, method, error) from error

    def _is_helper(self) -> bool:
        """Whether this is one of the threads that help out in exact passes: the run itself has asked
        before any of them."""
        here = threading.get_ident()
        if self.own_thread is None:
            self.own_thread = here
        return here != self.own_thread

    def _call(self, i: int, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.structure, method)(*arguments)
        except Exception as error:
            raise OracleError(i, method, error) from error

    def sparse(self, i: int, raw: Any) -> tuple[np.ndarray, np.ndarray]:
        """Features in any form as indices and values, which are looked at."""
        try:
            indices, values = as_sparse(raw)
            # Processes of their own may not know how many there are; the native half looks again.
            if self.dim and len(indices) and not 0 <= indices.min() <= indices.max() < self.dim:
                wrong = indices[(indices < 0) | (indices >= self.dim)][0]
                raise ValueError(f"feature {wrong} does not exist; there are {self.dim}")
            return indices, values
        except (TypeError, ValueError) as error:
            raise OracleError(i, "features", error) from error


#: What a process of its own works on.
_adapter_here: Adapter | None = None


@contextmanager
def ctrl_c_ignored() -> Iterator[None]:
    """Ignores ctrl-C, where that is in the hands of this thread: on a terminal it goes to all processes,
    and what it means is up to the one that trains."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _nothing() -> None:
    pass


def _begin_work(structure: Any, X: list[Any], y: list[Any]) -> None:
    global _adapter_here
    _adapter_here = Adapter(structure, X, y)


def _work(i: int, w: np.ndarray, augmented: bool) -> Described:
    assert _adapter_here is not None
    return _adapter_here.corner(i, w, augmented)


def _work_on_all(first: int, last: int, w: np.ndarray) -> list[Described]:
    assert _adapter_here is not None
    return _adapter_here.corners(first, last, w)


def decode_all(
    structure: Any, xs: list[Any], ys: list[Any] | None, w: np.ndarray, augmented: bool
) -> list[Any]:
    """The best outputs of several inputs, in one call if the structure can do that."""
    known = [None] * len(xs) if ys is None else ys
    if not callable(getattr(structure, "decode_batch", None)):
        return [structure.decode(x, y, w, augmented) for x, y in zip(xs, known, strict=True)]
    if not xs:
        return []
    outputs = list(structure.decode_batch(xs, known, w, augmented))
    if len(outputs) != len(xs):
        raise ValueError(f"decode_batch has returned {len(outputs)} outputs for {len(xs)} inputs")
    return outputs


def is_sparse(raw: Any) -> bool:
    """Whether this is a sparse matrix or array; nobody has one who has not imported SciPy's module."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(raw))


def length_of(raw: Any) -> int:
    """The number of features, where an array tells it."""
    if is_sparse(raw):
        return int(np.prod(raw.shape))
    if isinstance(raw, (Mapping, tuple)):
        raise TypeError("the structure needs the attribute n_features, the number of weights")
    return int(np.asarray(raw).size)


def as_sparse(raw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Features in any form as indices and values.

    >>> [part.tolist() for part in as_sparse([0.0, 2.0])]
    [[1], [2.0]]
    >>> [part.tolist() for part in as_sparse({3: 1.5})]
    [[3], [1.5]]
    """
    if is_sparse(raw):
        row = raw.tocsr().reshape(1, -1).tocsr()
        return row.indices.astype(np.int64), row.data.astype(np.float64)
    if isinstance(raw, Mapping):
        keys = np.fromiter(raw.keys(), dtype=np.int64, count=len(raw))
        return keys, np.fromiter(raw.values(), dtype=np.float64, count=len(raw))
    if isinstance(raw, tuple) and len(raw) == 2:
        indices = np.asarray(raw[0], dtype=np.int64)
        values = np.asarray(raw[1], dtype=np.float64)
        if indices.shape != values.shape or indices.ndim != 1:
            raise ValueError("as many values as indices are needed")
        return indices, values
    dense = np.asarray(raw, dtype=np.float64).ravel()
    indices = np.flatnonzero(dense)
    return indices, dense[indices]
