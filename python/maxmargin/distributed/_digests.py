"""What shards that load their own examples have to agree on before they start.

Each shard makes a *digest* of its examples: a few invented ones that have all labels, all names of attributes and all
sizes of the shard, in the order they come in, and nothing else of its data. Preparing the digests of all shards, one
after the other, gives the specification and the names that preparing all examples would have given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _maxmargin as native
from .._class_weight import class_weights
from .._columns import is_columns
from .._graph import Graph, NodeLabels
from .._graphs import FactorGraphSVM, first_graphs
from .._inputs import Sequences, column_names, fill_rows, is_frame, row_parts, split_labels
from .._labels import Labels, as_classes, from_arrow
from .._matching import MatchingSVM, Pair
from .._more_data import joined
from .._multilabel import MultilabelSVM, is_indicator, label_sets
from .._rows import OneLabelSVM, by_name, kept_rows
from .._segment import SegmentSVM
from .._settings import as_json, group_bounds
from .._tree import TreeSVM, depth, maps_of

#: Examples as ``fit`` takes them, without weights.
Examples = tuple[Any, Any]


def digest(estimator: Any, X: Any, y: Any, weights: Any = None) -> Any:
    """What a shard tells of its examples, which may have weights."""
    refuse_sums(estimator)
    if estimator._kind == "chain":
        if is_columns(estimator.template, X):
            return of_columns(estimator, X, y, weights)
        return of_sequences(estimator, X, y, weights)
    if isinstance(estimator, OneLabelSVM):
        return of_rows(estimator, X, y, weights)
    for kind, make in (
        (MultilabelSVM, of_sets),
        (SegmentSVM, of_segments),
        (FactorGraphSVM, of_factor_graphs),
        (NodeLabels, of_graphs),
        (TreeSVM, of_trees),
        (MatchingSVM, of_pairs),
    ):
        if isinstance(estimator, kind):
            return make(estimator, X, y)
    raise ValueError(f"examples of {type(estimator).__name__} cannot be loaded by workers")


def refuse_sums(estimator: Any) -> None:
    """Refuses parameters whose values are counted over all examples, which no shard has."""
    wrong = {
        "class_weight": (getattr(estimator, "class_weight", None), "balanced", "a dictionary"),
        "pairs": (getattr(estimator, "pairs", None), "tree", "an array of pairs"),
    }
    for name, (value, counted, instead) in wrong.items():
        if isinstance(value, str) and value == counted:
            raise ValueError(
                f"{name}={counted!r} needs all examples in one place, and workers load them; give "
                f"{instead}"
            )


#: Specification, labels, attributes, format, bounds.
Task = tuple[str, list[str], list[str], str, str]


def agree(estimator: Any, found: list[Any]) -> tuple[Task, str | None, bool]:
    """What the digests of all shards come to: the task, the template that the model keeps, and whether a decoder that
    may be wrong is refused. The estimator knows the names from then on."""
    if len(found[0]) == 5:
        own, classes, known, format, kept = agree_on_names(estimator, found)
        bounds = as_json("bounds", group_bounds(estimator.bounds))
        return (own, classes, known, format, bounds), kept, False
    X = joined([own[0] for own in found], "X")
    y = joined([own[1] for own in found], "y")
    prepared = estimator._prepare(X, y)
    if estimator._kind == "chain":
        prepared.spec["shape"]["transition_scale"] = merge_scales([own[2] for own in found])
    elif isinstance(estimator, OneLabelSVM) and estimator._fits_constants():
        prepared.spec["shape"]["bias"] = merge_sums([own[2] for own in found])
    if prepared.rounds is not None:
        raise ValueError('training="soft" does not go with a backend of more than one worker')
    estimator._begin_shards(X, y)
    names = prepared.labels, prepared.attributes
    if isinstance(prepared.data, native.GraphData):
        names = prepared.data.names()
    bounds = as_json("bounds", prepared.bounds or group_bounds(None))
    labels, attributes = (own.list() for own in names)
    spec = as_json("the model", prepared.spec)
    template = getattr(estimator, "_read_template", None)
    return (spec, labels, attributes, prepared.format, bounds), template, prepared.exact


def agree_on_names(estimator: Any, found: list[Any]) -> tuple[str, list[str], list[str], str, Any]:
    """The specification and the names of sequences whose shards tell labels, attributes, format, template and the value
    of constant features."""
    classes, attributes, format, template = merge_names([own[:4] for own in found])
    labels = Labels(as_array(classes))
    estimator._labels = labels
    estimator.classes_ = labels.classes
    estimator._new_attributes(None, None)
    estimator._attribute_cache = native.Alphabet(attributes)
    estimator._read_template = template
    agreed = estimator._spec(len(attributes))
    agreed["shape"]["transition_scale"] = merge_scales([own[4] for own in found])
    spec = as_json("the model", agreed)
    return spec, labels.names(), attributes, format, template


def as_array(classes: list[Any]) -> np.ndarray:
    """Labels in an array, in the order that they have."""
    if all(type(label) is str for label in classes):
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


def merge_names(found: list[Any]) -> tuple[list[Any], list[str], str, str | None]:
    """The names of all shards, in the order of the shards and of the places within them, so that it does not matter how
    examples are spread. Numbers are in numeric order.

    >>> merge_names([(["a"], ["x", "y"], "crfsuite", None), (["b", "a"], ["z", "x"], "crfsuite", None)])
    (['a', 'b'], ['x', 'y', 'z'], 'crfsuite', None)
    """
    labels, attributes, formats, templates = zip(*found, strict=True)
    if len(set(formats)) > 1:
        raise ValueError(f"the files have different formats: {sorted(set(formats))}")
    if len(set(templates)) > 1:
        raise ValueError("the files need different templates; name one with template=…")

    def merged(lists: tuple[list[Any], ...]) -> list[Any]:
        names = list(dict.fromkeys(name for own in lists for name in own))
        if formats[0] == "svm-hmm" and all(name.isdigit() for name in names):
            names.sort(key=int)
        return names

    return merged(labels), merged(attributes), formats[0], templates[0]


#: The value of constant features that fits the sequences of a shard, and their number.
Scale = tuple[float, float]


def scale_of(prepared: Any) -> Scale:
    """The value of constant features that fits these sequences, and their number."""
    return prepared.spec["shape"]["transition_scale"], prepared.total_weight


def merge_scales(scales: list[Scale]) -> float:
    """The value of constant features for all shards. Squares follow the length of attributes, whose mean is that of the
    shards.

    >>> merge_scales([(1.0, 30.0), (3.0, 10.0)])
    1.7320508075688772
    >>> merge_scales([(0.3, 30.0), (0.3, 10.0)])
    0.3
    """
    values = {scale for scale, _ in scales}
    if len(values) == 1:
        return values.pop()
    total = sum(count for _, count in scales)
    return math.sqrt(sum(scale * scale * (count / total) for scale, count in scales))


#: What the value of the bias of rows follows from: names of attributes, the number of rows, and for each attribute the
#: sum and the sum of squares of its values, the number of rows that have it, and its least and largest value.
Sums = tuple[list[str], float, np.ndarray]


def sums_of(estimator: Any, X: Any, y: Any, weights: Any) -> Sums:
    """The sums over these rows, each of which counts as many times as its weight and that of its class say."""
    X, y, attributes, grow = estimator._alphabet_for(X, y)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    labels = Labels(as_classes(y.tolist() if hasattr(y, "tolist") else y))
    if isinstance(estimator.class_weight, Mapping):
        own = set(labels.classes.tolist())
        here = {label: value for label, value in estimator.class_weight.items() if label in own}
        each = class_weights(here, labels, np.empty(0))
        assert each is not None
        each = each[labels.encode(y)]
        weights = each if weights is None else each * weights
    if weights is not None:
        X, y, weights = kept_rows(X, np.asarray(y, dtype=object), weights)
    none = native.Alphabet()
    data = fill_rows(X, None, None, none, attributes, grow=grow, weights=weights)
    rows, table = data.bias_sums()
    used = np.flatnonzero(table[:, 2])
    names = attributes.list()
    return [names[at] for at in used.tolist()], rows, table[used]


def merge_sums(found: list[Sums]) -> float:
    """The value of the bias that fits the rows of all shards.

    >>> a = ["1", "2"], 1.0, np.array([[9.0, 81.0, 1.0, 9.0, 9.0], [5.0, 25.0, 1.0, 5.0, 5.0]])
    >>> b = ["2", "1"], 1.0, np.array([[-5.0, 25.0, 1.0, -5.0, -5.0], [11.0, 121.0, 1.0, 11.0, 11.0]])
    >>> merge_sums([a, b]) == math.sqrt(26)  # 1 + 25
    True
    """
    names = list(dict.fromkeys(name for own, _, _ in found for name in own))
    places = {name: at for at, name in enumerate(names)}
    table = np.tile(np.array([0.0, 0.0, 0.0, np.inf, -np.inf]), (len(names), 1))
    for own, _, sums in found:
        at = [places[name] for name in own]
        table[at, :3] += sums[:, :3]
        table[at, 3] = np.minimum(table[at, 3], sums[:, 3])
        table[at, 4] = np.maximum(table[at, 4], sums[:, 4])
    return native.bias_of_sums(sum(rows for _, rows, _ in found), table)


# Rows and sequences


def of_columns(estimator: Any, X: Any, y: Any, weights: Any) -> Any:
    """Of columns for a template: labels, attributes, format, template and the value of constant features."""
    prepared = estimator._prepare(X, y, weights)
    classes, names = estimator.classes_.tolist(), prepared.attributes.list()
    return classes, names, prepared.format, estimator._read_template, scale_of(prepared)


def of_sequences(estimator: Any, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Scale]:
    """A sequence with a token for each label, of which the first has all attributes; and the value of constant
    features, which follows the attributes of all tokens."""
    labels = as_classes(label for own in split_labels(y) for label in own).tolist()
    scale = scale_of(estimator._prepare(X, y, weights))
    return [tokens_like(X, len(labels))], [labels], scale


def tokens_like(X: Any, count: int) -> Any:
    """So many tokens with all attributes that sequences have."""
    sequences = Sequences(X)
    if sequences.form != "names":
        zeros: Any = sp.csr_matrix((count, sequences.width))
        if sequences.names is not None:
            import pandas as pd

            return pd.DataFrame(zeros.toarray(), columns=sequences.names)
        return zeros if any(map(sp.issparse, X)) else zeros.toarray()
    attributes = native.Alphabet()
    sequences.fill(None, native.Alphabet(), attributes, grow=True)
    return [attributes.list()] + [[] for _ in range(count - 1)]


def of_rows(estimator: Any, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Sums | None]:
    """A row for each label, of which the first has all attributes; and what the value of the bias follows from, if it
    is not given."""
    targets = estimator._targets(from_arrow(y))
    labels = as_classes(targets.tolist())
    kept = labels.tolist() if labels.dtype == object else labels
    sums = sums_of(estimator, X, targets, weights) if estimator._fits_constants() else None
    return rows_like(X, len(labels)), kept, sums


def rows_like(X: Any, count: int) -> Any:
    """So many rows with all attributes that others have."""
    if by_name(X):
        attributes = native.Alphabet()
        none = native.Alphabet()
        fill_rows(row_parts(X), None, None, none, attributes, grow=True, columns=None)
        return [attributes.list()] + [[] for _ in range(count - 1)]
    if is_frame(X):
        import pandas as pd

        names = column_names(X)
        assert names is not None
        return pd.DataFrame(np.zeros((count, len(names))), columns=names)
    width = X.shape[1] if hasattr(X, "shape") else len(X[0])
    zeros = sp.csr_matrix((count, width))
    return zeros if sp.issparse(X) else zeros.toarray()


def of_sets(_: Any, X: Any, y: Any) -> Examples:
    """A row with all attributes and all labels."""
    y = from_arrow(y)
    if is_indicator(y):
        ones = np.ones((1, y.shape[1]), dtype=np.int64)
        return rows_like(X, 1), y.iloc[:1] * 0 + 1 if hasattr(y, "iloc") else ones
    return rows_like(X, 1), [as_classes(label for own in label_sets(y) for label in own).tolist()]


def of_segments(estimator: Any, X: Any, y: Any) -> Examples:
    """A sequence with a segment for each label, of which the first is the longest, and the first token has all
    attributes."""
    if estimator.segment_features is not None:
        raise ValueError("segment_features need X and y, and workers load their examples")
    truth = [list(own) for own in y]
    labels = as_classes(label for own in truth for _, _, label in own).tolist()
    longest = max((stop - start for own in truth for start, stop, _ in own), default=1)
    ends = [longest + at for at in range(len(labels))]
    segments = list(zip([0, *ends[:-1]], ends, labels, strict=True))
    return [tokens_like(X, ends[-1])], [segments]


# Graphs, trees and matchings


def of_graphs(estimator: Any, X: Any, y: Any) -> Examples:
    """A graph with a node for each label, and an edge of each type."""
    graphs = [Graph(graph, at, typed=estimator._typed) for at, graph in enumerate(X)]
    if not graphs:
        raise ValueError("there are no graphs")
    for graph in graphs:
        graph.check(graphs[0].nodes.shape[1], graphs[0].edge_width)
    lists = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in y]
    labels = as_classes(label for own in lists for label in own).tolist()
    labels = labels * 2 if len(labels) == 1 else labels
    types = [graph.edge_types for graph in graphs if graph.edge_types is not None]
    edges = [[0, 1]]
    if types:
        edges = [[0, 1, kind] for kind in range(1 + max(int(own.max()) for own in types))]
    rows = None
    if graphs[0].edge_rows is not None:
        rows = np.zeros((len(edges), graphs[0].edge_width))
    nodes = np.zeros((len(labels), graphs[0].nodes.shape[1]))
    return [(nodes, np.array(edges), rows)], [labels]


def of_factor_graphs(_: Any, X: Any, y: Any) -> Examples:
    """The graphs in which a template or an attribute occurs first, since these fix the order of all names."""
    first = first_graphs(X)
    return [X[at] for at in first], None if y is None else [y[at] for at in first]


def of_trees(estimator: Any, X: Any, y: Any) -> Examples:
    """A tree of the largest kinds on maps of a single place."""
    nodes = len(estimator.parents)
    first = y[0]
    ndim = np.ndim(first) if isinstance(first, np.ndarray) else depth(first)
    maps = [np.zeros((own.shape[0], 1, 1)) for own in maps_of(X[0], 0, nodes)]
    if ndim == 1 and estimator.kinds is None:
        lists = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in y]
        labels = as_classes(label for own in lists for label in own).tolist()
        return [maps] * len(labels), [[label] * nodes for label in labels]
    if ndim == 1:
        return [maps], [np.zeros(nodes, dtype=np.int64)]
    if isinstance(estimator.anchors, str) and np.any(estimator.deforms):
        raise ValueError(
            f"anchors={estimator.anchors!r} needs all examples in one place, and workers load them; give arrays, "
            "or None"
        )
    states = np.stack([np.asarray(own) for own in y])
    largest = np.zeros(states.shape[1:], dtype=np.int64)
    if states.shape[2] == 3:
        largest[:, 0] = states[:, :, 0].max(axis=0)
    return [maps], [largest]


def of_pairs(_: Any, X: Any, y: Any) -> Examples:
    """A pair of single items that may be linked."""
    width = Pair(next(iter(X)), 0).features.shape[1]
    return [np.zeros((1, 1, width))], [np.array([[0, 0]])]
