"""What estimators that label the nodes of graphs share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ._base import BaseSVM, total
from ._class_weight import by_label
from ._inputs import as_matrix, one_each
from ._labels import Labels, as_classes

#: The name of the attribute that all nodes have; the command line has it too.
CONSTANT = "bias"


class NodeLabels(BaseSVM):
    """An estimator that gives each node of a graph a label."""

    #: Whether edges may have types.
    _typed: ClassVar[bool] = False
    _labels: Labels
    #: What classes have counted in training.
    _class_weights: np.ndarray | None = None
    class_weight: Any
    loss: str
    classes_: np.ndarray
    n_features_in_: int
    n_edge_features_in_: int
    unary_coef_: np.ndarray
    intercept_: np.ndarray

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best labels of the nodes of each graph."""
        raise NotImplementedError

    def seen(self, state: Any) -> Any:
        """What the loss compares."""
        return state

    def _of_nodes(
        self, graph: Graph, labels: Any, weights: Any
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Labels and weights of the nodes of a graph as the native half takes them."""
        graph.check(self.n_features_in_, self.n_edge_features_in_)
        numbers = None if labels is None else self._labels.encode(labels)
        own = None if weights is None else np.asarray(weights, dtype=np.float64)
        for name, values in (("labels", numbers), ("node weights", own)):
            if values is not None and values.shape != (graph.nodes.shape[0],):
                raise ValueError(
                    f"it has {graph.nodes.shape[0]} nodes, and {name} of the shape {values.shape}"
                )
        return numbers, own

    def _by_class(self, y: Any, node_weight: Any) -> Any:
        """The weights of nodes, times those of their true labels; of states, those of what is seen of them."""
        if self.class_weight is None:
            return node_weight
        if self.loss == "balanced":
            raise ValueError(
                "class_weight has no effect with loss='balanced', in which all labels of a graph count the "
                "same; set loss='normalised'"
            )
        truth = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in y]
        seen = [[self.seen(label) for label in own] for own in truth]
        labels = Labels(as_classes(self.seen(label) for label in self.classes_.tolist()))
        weights, found = self.class_weight, self._class_weights
        if found is not None:
            weights = dict(zip(labels.classes.tolist(), found.tolist(), strict=True))
        self._class_weights, each = by_label(weights, labels, seen, node_weight)
        return each

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """For each graph the scores of labels at nodes (nodes × labels), without those of edges."""
        check_is_fitted(self, "certificate_")
        graphs = [Graph(graph, at, typed=self._typed) for at, graph in enumerate(X)]
        for graph in graphs:
            graph.check(self.n_features_in_, self.n_edge_features_in_)
        return [np.asarray(g.nodes @ self.unary_coef_.T) + self.intercept_ for g in graphs]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, node_weight: Any = None) -> float:
        """The share of nodes whose label is right, by the weights of nodes if they are given."""
        predicted = self.predict(X)
        truth = one_each("graphs", len(predicted), "y", y)
        areas = one_each("graphs", len(predicted), "node_weight", node_weight)
        weights, _ = total(sample_weight, len(predicted))
        right = whole = 0.0
        for at, found in enumerate(predicted):
            weight = 1.0 if weights is None else float(weights[at])
            own = truth[at].tolist() if isinstance(truth[at], np.ndarray) else list(truth[at])
            if len(own) != len(found):
                raise ValueError(f"graph {at} has {len(found)} nodes and {len(own)} labels")
            area = np.ones(len(found)) if node_weight is None else np.asarray(areas[at])
            pairs = zip(own, found.tolist(), strict=True)
            is_right = np.array([self.seen(a) == self.seen(b) for a, b in pairs], dtype=bool)
            right += weight * float(area @ is_right)
            whole += weight * float(area.sum())
        return right / whole if whole else 1.0


class Graph:
    """A graph as it comes, in arrays: features of nodes, ends of edges, features of edges."""

    def __init__(self, graph: Any, at: int, *, typed: bool = False) -> None:
        if not isinstance(graph, (tuple, list)) or len(graph) not in (2, 3):
            raise ValueError(
                f"graph {at}: expected a tuple (nodes, edges) or (nodes, edges, edge_features), "
                f"found {type(graph).__name__}"
            )
        try:
            self.nodes = as_matrix(graph[0])
            edges = np.asarray(graph[1])
            if edges.size == 0:
                edges = edges.reshape(0, 2).astype(np.int64)
            columns = (2, 3) if typed else (2,)
            if edges.ndim != 2 or edges.shape[1] not in columns or edges.dtype.kind not in "iu":
                third = ", and perhaps a third one, their type" if typed else ""
                raise ValueError(
                    "edges are a matrix of whole numbers with two columns, the nodes they join"
                    f"{third}; found one of the shape {edges.shape} and type {edges.dtype}"
                )
            edges = edges.astype(np.int64, copy=False)
            #: The type of each edge; none if all are of one type.
            self.edge_types = edges[:, 2] if edges.shape[1] == 3 else None
            if self.edge_types is not None and self.edge_types.min() < 0:
                raise ValueError(f"types of edges are numbers from 0, not {self.edge_types.min()}")
            self.edges = np.ascontiguousarray(edges[:, :2])
            self.edge_rows = None
            if len(graph) == 3 and graph[2] is not None:
                rows = graph[2]
                if not sp.issparse(rows) and np.ndim(rows) == 1:
                    rows = np.asarray(rows)[:, None]
                self.edge_rows = as_matrix(rows)
                if self.edge_rows.shape[0] != len(edges):
                    raise ValueError(
                        f"there are {len(edges)} edges and features of {self.edge_rows.shape[0]}"
                    )
        except (TypeError, ValueError) as error:
            raise type(error)(f"graph {at}: {error}") from None

    @property
    def edge_width(self) -> int:
        """Number of features of edges."""
        return 1 if self.edge_rows is None else int(self.edge_rows.shape[1])

    def check(self, width: int, edge_width: int) -> None:
        """Refuses other numbers of features."""
        if self.nodes.shape[1] != width:
            raise ValueError(
                f"nodes have {self.nodes.shape[1]} features, and {width} were expected"
            )
        if self.edge_width != edge_width:
            raise ValueError(
                f"edges have {self.edge_width} features, and {edge_width} were expected"
            )
