"""Inputs in all the forms that users have them in, on their way to the native half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _maxmargin as native
from ._labels import from_arrow


def located(where: str, error: Exception) -> Exception:
    """The same error, saying where."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{where}: {error}")


def is_arrow_table(X: Any) -> bool:
    """Whether it is a table or a batch of Arrow."""
    return hasattr(X, "column_names") and hasattr(X, "num_rows")


def is_frame(X: Any) -> bool:
    """Whether it is a data frame, of pandas or alike, or a table of Arrow."""
    return (hasattr(X, "columns") and hasattr(X, "to_numpy")) or is_arrow_table(X)


def column_names(X: Any) -> list[str] | None:
    """The names of the columns of a data frame; matrices have none."""
    if not is_frame(X):
        return None
    return [str(name) for name in (X.column_names if is_arrow_table(X) else X.columns)]


def is_text(value: Any) -> bool:
    """Whether it is a text, as attributes by name have."""
    return isinstance(value, (str, bytes))


def has_numbers_only(frame: Any) -> bool:
    """Whether the types of all columns say that they hold numbers."""
    if is_arrow_table(frame):
        return all(
            str(own).startswith(("int", "uint", "float", "double", "half", "bool"))
            for own in frame.schema.types
        )
    return all(
        getattr(own, "kind", "O") in "biuf" or _is_polars_number(own) for own in frame.dtypes
    )


def _is_polars_number(dtype: Any) -> bool:
    return hasattr(dtype, "is_numeric") and (dtype.is_numeric() or str(dtype) == "Boolean")


def frame_tokens(frame: Any) -> list[dict[str, Any]] | None:
    """The rows of a data frame with columns of texts, as tokens: its columns are attributes, and a text that is missing
    is no attribute. Nothing if all columns are numbers, which make a matrix."""
    if has_numbers_only(frame):
        return None
    if is_arrow_table(frame):
        rows = frame.to_pylist()
    elif hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    else:
        rows = frame.to_dict("records")
    texts = {name for row in rows for name, value in row.items() if is_text(value)}
    if not texts:
        return None
    return [
        {str(name): own for name, own in row.items() if name not in texts or is_text(own)}
        for row in rows
    ]


def tokens_of_frame(item: Any) -> Any:
    """A data frame with columns of texts as tokens; anything else as it is."""
    found = frame_tokens(item) if is_frame(item) else None
    return item if found is None else found


def is_tokens(item: Any) -> bool:
    """Whether it is a list of attributes by name, rather than a row of numbers."""
    if isinstance(item, Mapping):
        return True
    if isinstance(item, (list, tuple, set, frozenset)):
        return len(item) == 0 or isinstance(next(iter(item)), (str, bytes))
    return False


def as_matrix(X: Any) -> Any:
    """A 2-D array of float32 or float64, or a CSR matrix of them; copied only if it is neither."""
    if sp.issparse(X):
        X = X.tocsr()
        refuse_complex(X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if is_frame(X) and not is_arrow_table(X):
        X = X.to_numpy()
    X = np.asarray(X)
    refuse_complex(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"a matrix with one row per token is needed, not {X.ndim} dimensions")
    return X


def refuse_complex(X: Any) -> None:
    """Refuses numbers of which a conversion would lose half."""
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported")


def sparse_parts(X: Any) -> tuple[Any, Any, Any]:
    """The arrays of a CSR matrix, whose columns exist."""
    columns = X.indices[: X.indptr[-1]]
    ends = (columns.min(), columns.max()) if columns.size > 0 else ()
    for column in ends:
        if not 0 <= column < X.shape[1]:
            raise ValueError(f"column {column} of {X.shape[1]} does not exist")
    return X.indptr, X.indices, X.data


def native_matrix(X: Any) -> Any:
    """A matrix as the native half takes it where it takes both kinds."""
    return sparse_parts(X) if sp.issparse(X) else X


def one_each(what: str, count: int, name: str, values: Any) -> list[Any]:
    """A list with an item for each example, or an empty one if there is none at all."""
    if values is None:
        return []
    values = [from_arrow(own) for own in from_arrow(values)]
    if len(values) != count:
        raise ValueError(f"X has {count} {what} and {name} has {len(values)}")
    return values


def row_parts(X: Any) -> list[Any]:
    """Rows of attributes by name, from a list, a Series, an object array or a column of Arrow."""
    X = from_arrow(X)
    return X.tolist() if hasattr(X, "tolist") else list(X)


class Sequences:
    """Sequences in one of three forms: lists of attributes by name, one matrix each, or one matrix
    for all with lengths. Data frames are lists of attributes if they have columns of texts, else matrices."""

    def __init__(self, X: Any, lengths: Any = None) -> None:
        self.stops: np.ndarray | None = None
        self.names: list[str] | None = None
        if lengths is not None:
            self._take_stacked(X, lengths)
        else:
            self._take_list(X)

    def _take_stacked(self, X: Any, lengths: Any) -> None:
        self.stops = stops_of(lengths)
        X = tokens_of_frame(X)
        if sp.issparse(X) or is_frame(X) or hasattr(X, "ndim"):
            self.form = "stacked"
            self.names = column_names(X)
            self.X: Any = as_matrix(X)
            rows = self.X.shape[0]
        else:
            self.form = "names"
            flat = list(from_arrow(X))
            rows = len(flat)
            starts = [0, *self.stops[:-1].tolist()]
            pairs = zip(starts, self.stops.tolist(), strict=True)
            self.X = [flat[start:stop] for start, stop in pairs]
            if not all(is_tokens(token) for token in flat):
                raise ValueError("with lengths, X is one matrix or one list of tokens")
        if rows != self.stops[-1]:
            raise ValueError(f"the lengths sum to {self.stops[-1]}, but X has {rows} rows")

    def _take_list(self, X: Any) -> None:
        self.X = [tokens_of_frame(item) for item in sequence_list(X)]
        first = next((item for item in self.X if len_of(item) > 0), None)
        self.form = "names" if first is None or is_token_list(first) else "matrices"
        if self.form == "names":
            return
        self.names = column_names(first)
        for at, item in enumerate(self.X):
            names = column_names(item)
            if names != self.names and len_of(item) > 0:
                raise ValueError(f"sequence {at} has the columns {names}, others {self.names}")
            try:
                self.X[at] = as_matrix(item)
            except (TypeError, ValueError) as error:
                raise located(f"sequence {at}", error) from None

    def full(self) -> np.ndarray:
        """Which sequences have tokens; the others are dropped."""
        if self.form == "stacked":
            return np.ones(len(self), dtype=bool)
        found = np.array([len_of(item) > 0 for item in self.X], dtype=bool)
        self.X = [item for item, on in zip(self.X, found, strict=True) if on]
        return found

    def __len__(self) -> int:
        return len(self.stops) if self.form == "stacked" else len(self.X)  # type: ignore[arg-type]

    @property
    def width(self) -> int | None:
        """Number of columns, if there are such."""
        if self.form == "names":
            return None
        if self.form == "stacked":
            return int(self.X.shape[1])
        return int(next(item.shape[1] for item in self.X if len_of(item) > 0))

    def fill(
        self,
        labels: tuple[np.ndarray, np.ndarray] | None,
        label_names: native.Alphabet,
        attributes: native.Alphabet,
        *,
        grow: bool,
        columns: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> native.SequenceData:
        """Everything in the form that training takes; labels are those of all sequences, and where those
        of each end."""
        numbers, ends = (None, None) if labels is None else labels
        if ends is not None and len(ends) != len(self):
            raise ValueError(f"X has {len(self)} sequences and y has {len(ends)}")
        data = native.SequenceData()
        if self.form == "names":
            data.add_dicts(self.X, grow, attributes, label_names, numbers, ends, weights)
            return data
        for i in range(len(self)):
            own = None
            if numbers is not None and ends is not None:
                own = numbers[ends[i - 1] if i else 0 : ends[i]]
            weight = 1.0 if weights is None else float(weights[i])
            try:
                self._add(data, i, own, label_names, attributes, columns, weight)
            except (TypeError, ValueError) as error:
                raise located(f"sequence {i}", error) from None
        return data

    def _add(
        self,
        data: native.SequenceData,
        i: int,
        labels: np.ndarray | None,
        label_names: native.Alphabet,
        attributes: native.Alphabet,
        columns: np.ndarray | None,
        weight: float,
    ) -> None:
        if self.form == "stacked":
            assert self.stops is not None
            matrix, stop = self.X, int(self.stops[i])
            start = int(self.stops[i - 1]) if i else 0
        else:
            matrix, start, stop = self.X[i], 0, self.X[i].shape[0]
        if matrix.shape[1] != self.width:
            raise ValueError(f"it has {matrix.shape[1]} columns, and others have {self.width}")
        tail: Any = (start, stop, columns, attributes, label_names, labels, weight)
        if sp.issparse(matrix):
            starts, indices, values = sparse_parts(matrix)
            data.add_sparse(starts, indices, values, *tail)
        else:
            data.add_dense(matrix, *tail)


def len_of(item: Any) -> int:
    """The number of rows of a matrix, or of items of a list."""
    return int(item.shape[0]) if hasattr(item, "shape") else len(item)


def stops_of(lengths: Any) -> np.ndarray:
    """Where sequences of these lengths end, one after the other.

    >>> stops_of([2, 1]).tolist()
    [2, 3]
    """
    found = np.asarray(lengths)
    with np.errstate(invalid="ignore"):
        exact = found.astype(np.int64) if found.dtype.kind in "iuf" else None
    if exact is None or found.ndim != 1 or (exact != found).any() or (exact < 1).any():
        raise ValueError("lengths must be a list of positive whole numbers")
    if not len(exact):
        raise ValueError("lengths is empty; there are no sequences")
    return np.cumsum(exact)


def sequence_list(X: Any) -> list[Any]:
    """A list of sequences, whatever it came as."""
    X = from_arrow(X)
    if isinstance(X, np.ndarray) and X.dtype == object:
        X = X.tolist()
    if sp.issparse(X) or is_frame(X) or getattr(X, "ndim", 3) == 2:
        raise ValueError("X is one matrix; say with lengths=… how long its sequences are")
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__iter__"):
        raise TypeError(f"X must be a list of sequences, not {type(X).__name__}")
    items = list(X)
    for at, item in enumerate(items):
        if isinstance(item, Mapping):
            raise TypeError("X must be a list of sequences; for a single one give [X]")
        if isinstance(item, (str, bytes)) or not (hasattr(item, "__len__") or sp.issparse(item)):
            raise TypeError(
                f"sequence {at} is of the type {type(item).__name__}; it must be a matrix, or a list of "
                "tokens, each a dictionary or a list of attributes"
            )
    return items


def is_token_list(item: Any) -> bool:
    """Whether a sequence is a list of tokens with attributes, rather than a matrix."""
    if sp.issparse(item) or is_frame(item) or hasattr(item, "ndim"):
        return False
    token = next(iter(item))
    if isinstance(token, (str, bytes)):
        raise TypeError(
            f"the token {token!r} is a text; a token is a dictionary or a list of attributes, such as "
            f"[{token!r}]"
        )
    return is_tokens(token)


def split_labels(y: Any, lengths: Any = None) -> list[Any]:
    """Labels sequence by sequence."""
    if y is None:
        raise ValueError("y is None; the labels of each sequence are needed")
    y = from_arrow(y)
    if lengths is None:
        return [from_arrow(own) for own in y]
    stops = stops_of(lengths)
    if len(y) == len(stops) and (len(stops) != stops[-1]):
        return list(y)
    if len(y) != stops[-1]:
        raise ValueError(f"the lengths sum to {stops[-1]}, but y has {len(y)} labels")
    values = y if isinstance(y, np.ndarray) else list(y)
    starts = [0, *stops[:-1].tolist()]
    return [values[a:b] for a, b in zip(starts, stops.tolist(), strict=True)]


def fill_rows(
    X: Any,
    labels: np.ndarray | None,
    ends: np.ndarray | None,
    label_names: native.Alphabet,
    attributes: native.Alphabet,
    *,
    grow: bool,
    columns: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    constant: int | None = None,
) -> native.RowData:
    """Rows in the form that training takes; X is a matrix or a list of attributes by name, and
    ``constant`` an attribute that all rows have besides."""
    data = native.RowData(constant)
    tail: Any = (attributes, label_names, labels, ends, weights)
    if sp.issparse(X):
        starts, indices, values = sparse_parts(X)
        data.add_sparse(starts, indices, values, columns, *tail)
    elif hasattr(X, "ndim"):
        data.add_dense(X, columns, *tail)
    else:
        data.add_dicts(list(X), grow, *tail)
    return data


def numbered_columns(names: Sequence[str], width: int) -> np.ndarray | None:
    """Which attribute each column stands for, in a model whose attributes are numbered from 1 as in
    LIBSVM's files; none if columns and attributes are the same anyway.

    >>> numbered_columns(["1", "3"], 4).tolist()
    [0, -1, 1, -1]
    """
    if list(names) == [str(at + 1) for at in range(width)] or not all(
        name.isdigit() for name in names
    ):
        return None
    index = {int(name) - 1: at for at, name in enumerate(names)}
    return np.array([index.get(column, -1) for column in range(width)], dtype=np.int64)
