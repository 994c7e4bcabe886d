"""Where the examples of a shard come from. These objects are sent to workers, which load their examples with them."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _maxmargin as native
from .._attributes import TRANSIENT
from .._labels import Labels, loaded_classes
from .._oracle import Adapter
from ..io import SequenceFile


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
        features that fits them, with the number of sequences."""
        estimator = whole(self.estimator)
        with joined(self.files) as path:
            prepared = estimator._prepare(SequenceFile(path, self.format), None)
        labels, attributes = prepared.labels.list(), prepared.attributes.list()
        scale = prepared.spec["shape"]["transition_scale"], prepared.total_weight
        return labels, attributes, prepared.format, estimator._read_template, scale

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
        loaded = self.load()
        X, y, *rest = loaded if isinstance(loaded, tuple) else zip(*loaded, strict=True)
        X, y = list(X), list(y)
        if not X or len(X) != len(y):
            raise ValueError(f"a shard has {len(X)} inputs and {len(y)} outputs")
        weights = rest[0] if rest and rest[0] is not None else np.ones(len(X))
        return X, y, np.asarray(weights, dtype=np.float64)

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
                opener: Any = gzip.open if name.endswith(".gz") else open
                with opener(name, "rb") as part:
                    shutil.copyfileobj(part, out)
                # A blank line ends a sequence; a file need not have one at its end.
                out.write(b"\n")
        return path

    def __exit__(self, *_: Any) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
