"""Where the examples of a shard come from. These objects are sent to workers, which load their examples with them."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _maxmargin as native
from .._attributes import TRANSIENT
from .._labels import Labels, loaded_classes
from .._more_data import joined as joined_data
from .._oracle import Adapter
from ..io import (
    SequenceFile,
    read_graphs,
    read_rows,
    read_sequences,
    read_superpixels,
    segments_of_tags,
)
from ._digests import digest, scale_of


def bare(estimator: Any) -> tuple[type, dict[str, Any], list[str] | None]:
    """An estimator as it can be sent: its class, what it knows, and the names of attributes."""
    left_out = {*TRANSIENT, "_model", "certificate_", "history_"}
    state = {name: value for name, value in vars(estimator).items() if name not in left_out}
    state |= {"backend": None, "callback": None, "verbose": 0}
    attributes = estimator.__dict__.get("_attribute_cache")
    return type(estimator), state, None if attributes is None else attributes.list()


def whole(found: tuple[type, dict[str, Any], list[str] | None]) -> Any:
    """The estimator again."""
    cls, state, attributes = found
    estimator: Any = object.__new__(cls)
    estimator.__dict__.update(state)
    if attributes is not None:
        estimator._attribute_cache = native.Alphabet(attributes)
    return estimator


class Given:
    """Examples that were given to ``fit``, with the names of all of them."""

    def __init__(self, estimator: Any, X: Any, y: Any, extra: dict[str, Any], task: Any) -> None:
        self.estimator = bare(estimator)
        self.X, self.y, self.extra = X, y, extra
        #: Specification, labels, attributes, format, bounds.
        self.task = task

    def __call__(self, names: Any) -> Any:
        spec, labels, attributes, format, bounds = self.task
        data = whole(self.estimator)._shard_examples(self.X, self.y, **self.extra)
        alphabets = native.Alphabet(labels), native.Alphabet(attributes)
        return native.Shard(spec, data, *alphabets, format, bounds)

    def alone(self) -> Any:
        """Trains on these examples alone."""
        return trained(self.estimator, self.X, self.y, self.extra)


class Files:
    """Files that a worker reads itself, one after the other."""

    def __init__(self, estimator: Any, files: list[str], format: str | None, bounds: str) -> None:
        self.estimator = bare(estimator)
        self.files, self.format, self.bounds = files, format, bounds

    def names(self) -> Any:
        """Labels, attributes, format and template of these files, in the order they come in; and the value of constant
        features."""
        estimator = whole(self.estimator)
        with joined(self.files) as path:
            prepared = estimator._prepare(SequenceFile(path, self.format), None)
        labels, attributes = prepared.labels.list(), prepared.attributes.list()
        return labels, attributes, prepared.format, estimator._read_template, scale_of(prepared)

    def __call__(self, names: Any) -> Any:
        spec, labels, attributes, format, template = names
        estimator = whole(self.estimator)
        estimator._labels = Labels(loaded_classes(labels))
        estimator.classes_ = estimator._labels.classes
        estimator._new_attributes(None, None)
        estimator._attribute_cache = native.Alphabet(attributes)
        estimator._read_template = template
        with joined(self.files) as path:
            data = estimator._examples(SequenceFile(path, self.format), labelled=True)
        alphabets = native.Alphabet(labels), native.Alphabet(attributes)
        return native.Shard(spec, data, *alphabets, format, self.bounds)

    def alone(self) -> Any:
        """Trains on these files alone."""
        with joined(self.files) as path:
            return trained(self.estimator, SequenceFile(path, self.format), None, {})


class Loaded:
    """Examples of a ready-made model that a function loads where the worker is."""

    def __init__(self, estimator: Any, load: Callable[[], Any]) -> None:
        self.estimator, self.load = bare(estimator), load

    def names(self) -> Any:
        """What all shards have to agree on, of these examples."""
        X, y, extra = examples_of(self.load())
        if extra.get("lengths") is not None:
            raise ValueError("lengths do not go with a backend; load a list of sequences")
        return digest(whole(self.estimator), X, y, extra.get("sample_weight"))

    def __call__(self, names: Any) -> Any:
        found, (spec, labels, attributes, format, bounds) = names
        X, y, extra = examples_of(self.load())
        data = whole(found)._shard_examples(X, y, **extra)
        alphabets = native.Alphabet(labels), native.Alphabet(attributes)
        return native.Shard(spec, data, *alphabets, format, bounds)

    def alone(self) -> Any:
        """Trains on these examples alone."""
        return trained(self.estimator, *examples_of(self.load()))


def examples_of(loaded: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Inputs, outputs and further arguments of ``fit``, of what a function has loaded: ``(X, y)``, with weights or a
    dictionary of arguments as a third item, or a list of pairs.

    >>> examples_of(([1, 2], "ab", [0.5, 2.0]))
    ([1, 2], 'ab', {'sample_weight': [0.5, 2.0]})
    >>> examples_of([(1, "a"), (2, "b")])
    ([1, 2], ['a', 'b'], {})
    """
    if not isinstance(loaded, tuple):
        X, y = (list(own) for own in zip(*loaded, strict=True))
        return X, y, {}
    if len(loaded) not in (2, 3):
        raise ValueError(f"a loader returned a tuple of {len(loaded)} items; it must be (X, y)")
    X, y, *rest = loaded
    more = rest[0] if rest else None
    extra = dict(more) if isinstance(more, Mapping) else {"sample_weight": more}
    return X, y, {name: value for name, value in extra.items() if value is not None}


class Several:
    """Several loaders, one after the other."""

    def __init__(self, loads: list[Callable[[], Any]]) -> None:
        self.loads = loads

    def __call__(self) -> Any:
        loaded = [examples_of(load()) for load in self.loads]
        X, y = (joined_data([own[at] for own in loaded], "Xy"[at]) for at in (0, 1))
        extra = {}
        for name in dict.fromkeys(name for *_, more in loaded for name in more):
            if name == "sample_weight":
                given = [(own[0], more.get(name)) for *own, more in loaded]
                extra[name] = np.concatenate([weights_of(*own) for own in given])
            else:
                extra[name] = joined_data([more.get(name) for *_, more in loaded], name)
        return X, y, extra


def weights_of(X: Any, weights: Any) -> np.ndarray:
    """The weights of examples; 1 where none are given."""
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    return np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)


class ReadFile:
    """A file that a worker reads, of a model for whose files there is a reader."""

    def __init__(self, kind: str, path: str, format: str | None) -> None:
        self.kind, self.path, self.format = kind, path, format

    def __call__(self) -> Any:
        return READERS[self.kind](self.path, self.format)


def read_named_rows(path: str, format: str | None) -> tuple[list[dict[str, float]], Any]:
    """Rows as dictionaries, since files do not number their attributes alike; and all labels of each."""
    X, labels, names = read_rows(path, format)
    ends = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    columns, values = [names[at] for at in X.indices.tolist()], X.data.tolist()
    return [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in ends], labels


def read_labelled_rows(path: str, format: str | None) -> tuple[list[dict[str, float]], list[str]]:
    """Rows with one label each."""
    X, labels = read_named_rows(path, format or "libsvm")
    wrong = next((at for at, own in enumerate(labels) if len(own) != 1), None)
    if wrong is not None:
        raise ValueError(f"{path}: row {wrong + 1} has {len(labels[wrong])} labels, not one")
    return X, [own[0] for own in labels]


def read_segments(path: str, format: str | None) -> tuple[Any, Any]:
    """Sequences whose tags tell segments."""
    X, tags = read_sequences(path, format)
    return X, segments_of_tags(tags)


#: How workers read the files of each kind of model. Those of chains are read without making Python's objects.
READERS: dict[str, Callable[[str, str | None], Any]] = {
    "binary": read_labelled_rows,
    "factor-graph": lambda path, _: read_graphs(path),
    "graph": lambda path, _: read_superpixels(path)[:2],
    "multiclass": read_labelled_rows,
    "multilabel": lambda path, format: read_named_rows(path, format or "multilabel"),
    "segment": read_segments,
}


class Structures:
    """Examples of a structure that is defined in Python, or a function that loads them."""

    def __init__(self, estimator: Any, load: Callable[[], Any]) -> None:
        self.estimator, self.load = bare(estimator), load

    def __call__(self, names: Any) -> Any:
        estimator = whole(self.estimator)
        X, y, weights = self.examples()
        adapter = Adapter(estimator.structure, X, y)
        truths = adapter.truths()
        return native.Shard.of_structure(
            adapter,
            truths,
            weights.tolist(),
            adapter.dim,
            estimator._bound_arrays(adapter.dim),
            getattr(estimator.structure, "quality", "exact"),
        )

    def examples(self) -> tuple[list[Any], list[Any], np.ndarray]:
        """Inputs, outputs and weights."""
        X, y, extra = examples_of(self.load())
        X, y = list(X), list(y)
        if not X or len(X) != len(y):
            raise ValueError(f"a shard has {len(X)} inputs and {len(y)} outputs")
        return X, y, weights_of(X, extra.get("sample_weight"))

    def alone(self) -> Any:
        """Trains on these examples alone."""
        X, y, weights = self.examples()
        plain = None if (weights == 1.0).all() else weights
        return trained(self.estimator, X, y, {"sample_weight": plain})


class Part:
    """A part of examples that were given to ``fit``."""

    def __init__(self, X: list[Any], y: list[Any], weights: np.ndarray) -> None:
        self.parts = (X, y, weights)

    def __call__(self) -> Any:
        return self.parts


def trained(found: Any, X: Any, y: Any, extra: dict[str, Any]) -> bytes:
    """An estimator that was trained here, as it can be sent back."""
    estimator = whole(found)
    if hasattr(estimator, "structure"):
        estimator.backend = "threads"
    estimator.fit(X, y, **extra)
    return pickle.dumps(estimator)


def opened(name: str) -> Any:
    """A file of bytes, which is unpacked if it is gzipped, whatever its name is."""
    with open(name, "rb") as file:
        is_gzipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(name, "rb") if is_gzipped else open(name, "rb")


class joined:
    """Several files of lines as one, as ``cat`` would make it; a single file as it is."""

    def __init__(self, files: list[str]) -> None:
        self.files = files
        self.folder: str | None = None

    def __enter__(self) -> str:
        if len(self.files) == 1:
            return self.files[0]
        self.folder = tempfile.mkdtemp(prefix="maxmargin-")
        path = os.path.join(self.folder, "shard.txt")
        with open(path, "wb") as out:
            for name in self.files:
                with opened(name) as part:
                    shutil.copyfileobj(part, out)
                # A blank line ends a sequence; a file need not have one at its end.
                out.write(b"\n")
        return path

    def __exit__(self, *_: Any) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
