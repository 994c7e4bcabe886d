"""Graphs whose nodes have labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, Prepared, total
from ._inputs import as_matrix, native_matrix, one_each
from ._labels import UNKNOWN, Labels, as_classes, loaded_classes
from ._settings import group_bounds, threads

#: The name of the attribute that all nodes have; the command line has it too.
CONSTANT = "bias"


class GraphSVM(BaseSVM):
    """Labels the nodes of graphs, where neighbours like to agree: regions of an image, people who know
    each other.

    The score of labels y is Σᵥ ⟨w[yᵥ], xᵥ⟩ − Σ_(u,v) [y_u ≠ y_v] ⟨p, z_uv⟩, divided by the number of
    nodes: nodes have features x, edges have features z, and p says what it costs neighbours to disagree
    (Potts' model). With two labels and p ≥ 0 the best labels are a minimum cut, and training is exact.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``unary`` and ``pairwise``.
    attractive : bool, default=True
        Whether neighbours may only attract each other: p is kept ≥ 0, and features of edges have to be.
        Otherwise they may repel each other as well, and labels are found by a heuristic or a relaxation.
    inference : {"auto", "max-flow", "expansion", "roof-duality", "lp", "icm", "max-product"}, \
default="auto"
        How labels are found. ``"auto"`` is max-flow (exact) for two labels that attract each other,
        expansion for more of them, max-product otherwise. ``"roof-duality"`` (two labels) and ``"lp"``
        are relaxations, which give upper bounds; ``certificate_.quality`` says what the gap is worth.
    loss : {"balanced", "normalised"}, default="balanced"
        The share of nodes that are wrong, by their weights; balanced, all labels of a graph count the
        same, so that a small object counts as much as the background around it.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    unary_coef_ : ndarray of shape (labels, features)
        The weights of labels.
    intercept_ : ndarray of shape (labels,)
        Their constants.
    pairwise_coef_ : ndarray of shape (edge features,)
        What it costs neighbours to disagree.
    n_features_in_, n_edge_features_in_ : int
        Numbers of features of nodes and of edges.
    coef_, weights_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    A graph is a tuple of a matrix with a row per node, a matrix with the two ends of each edge, and
    perhaps a matrix with a row per edge (else edges have the single feature 1):

    >>> import numpy as np
    >>> from maxmargin import GraphSVM
    >>> line = np.array([[0, 1], [1, 2], [2, 3]])
    >>> dark, light = [-1.0, -2.0, 0.1, -1.5], [1.0, -0.1, 2.0, 1.5]
    >>> X = [(np.array(row)[:, None], line) for row in (dark, light)]
    >>> y = [["dark"] * 4, ["light"] * 4]
    >>> model = GraphSVM(lam=0.01).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)] == y
    True
    >>> model.certificate_.quality
    'exact'
    """

    _kind: ClassVar[str] = "graph"

    def __init__(
        self,
        lam: float | str | None = "scale",
        *,
        C: float | None = None,
        measure: str | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: str = "auto",
        order: str | None = None,
        direction: str | None = None,
        cache: str | None = None,
        attractive: bool = True,
        inference: str = "auto",
        loss: str = "balanced",
        fit_intercept: bool = True,
        bounds: Any = None,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        node_weight: Any = None,
        validation: Any = None,
    ) -> GraphSVM:
        """Trains on labelled graphs.

        Parameters
        ----------
        X : list of tuples
            ``(nodes, edges)`` or ``(nodes, edges, edge_features)`` for each graph; matrices of features
            are NumPy arrays, SciPy sparse matrices or data frames.
        y : list of lists
            The label of each node, of any hashable type.
        sample_weight : array-like, optional
            A positive weight for each graph.
        node_weight : list of arrays, optional
            For each graph the weights of its nodes in the loss, such as the areas of regions.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation, node_weight=node_weight)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        if self.loss not in ("balanced", "normalised"):
            raise ValueError(f"loss is {self.loss!r}; known are 'balanced' and 'normalised'")
        graphs = [Graph(graph, at) for at, graph in enumerate(X)]
        if not graphs:
            raise ValueError("there are no graphs")
        truth = one_each("graphs", len(graphs), "y", y)
        classes = as_classes(label for labels in truth for label in labels)
        if len(classes) < 2:
            raise ValueError(f"there is nothing to learn from {len(classes)} label")
        self._labels = Labels(classes)
        self.classes_ = classes
        self.n_features_in_ = graphs[0].nodes.shape[1]
        self.n_edge_features_in_ = graphs[0].edge_width
        weights, whole = total(sample_weight, len(graphs))
        data = self._fill(graphs, truth, weights, extra.get("node_weight"))
        nodes = [str(at + 1) for at in range(self.n_features_in_)]
        nodes += [CONSTANT] if self.fit_intercept else []
        edges = [f"edge {at + 1}" for at in range(self.n_edge_features_in_)]
        spec = {
            "kind": "graph",
            "shape": {
                "labels": len(classes),
                "node_attributes": len(nodes),
                "edge_attributes": len(edges),
                "attractive": bool(self.attractive),
                "mean": True,
            },
            "loss": {"weighted": True, "balanced": self.loss == "balanced"},
            "inference": self.inference,
            "widths": None,
        }
        return Prepared(
            spec,
            data,
            self._labels.alphabet(),
            native.Alphabet(nodes + edges),
            "superpixels",
            whole,
            group_bounds(self.bounds),
        )

    def _fill(self, graphs: list[Graph], y: Any, weights: Any, node_weight: Any) -> native.NodeData:
        """Graphs in the form that training takes."""
        truth = one_each("graphs", len(graphs), "y", y)
        areas = one_each("graphs", len(graphs), "node_weight", node_weight)
        data = native.NodeData()
        for at, graph in enumerate(graphs):
            try:
                graph.check(self.n_features_in_, self.n_edge_features_in_)
                labels = None if y is None else self._labels.encode(truth[at])
                own = None if node_weight is None else np.asarray(areas[at], dtype=np.float64)
                for name, values in (("labels", labels), ("node weights", own)):
                    if values is not None and values.shape != (graph.nodes.shape[0],):
                        raise ValueError(
                            f"it has {graph.nodes.shape[0]} nodes, and {name} of the shape "
                            f"{values.shape}"
                        )
                data.add(
                    native_matrix(graph.nodes),
                    self.n_features_in_,
                    graph.edges,
                    None if graph.edge_rows is None else native_matrix(graph.edge_rows),
                    labels,
                    own,
                    bool(self.fit_intercept),
                    1.0 if weights is None else float(weights[at]),
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"graph {at}: {error}") from None
        return data

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.NodeData:
        graphs = [Graph(graph, at) for at, graph in enumerate(X)]
        weights, _ = total(extra.get("sample_weight"), len(graphs))
        return self._fill(graphs, y, weights, extra.get("node_weight"))

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        spec = meta["spec"]
        shape = spec["shape"]
        self._labels = Labels(loaded_classes(model.labels().list()))
        self.classes_ = self._labels.classes
        nodes = shape["node_attributes"]
        constant = nodes > 0 and model.attributes().list()[nodes - 1] == CONSTANT
        self.set_params(
            attractive=shape["attractive"],
            inference=spec["inference"],
            loss="balanced" if spec["loss"]["balanced"] else "normalised",
            fit_intercept=constant,
        )
        self.n_features_in_ = nodes - int(constant)
        self.n_edge_features_in_ = shape["edge_attributes"]

    def _set_weights(self) -> None:
        self.coef_ = self._model.weights()
        self.weights_ = self._groups(self.coef_)
        unary = self.weights_["unary"].reshape(-1, len(self.classes_)).T
        self.weights_["unary"] = unary
        self.unary_coef_ = unary[:, : self.n_features_in_]
        self.intercept_ = unary[:, -1] if self.fit_intercept else np.zeros(len(self.classes_))
        self.pairwise_coef_ = self.weights_["pairwise"]

    def _weight_names(self) -> list[str]:
        names, labels = self._model.attributes().list(), self._labels.names()
        nodes = len(names) - self.n_edge_features_in_
        return [f"{a} → {label}" for a in names[:nodes] for label in labels] + names[nodes:]

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best labels of the nodes of each graph."""
        check_is_fitted(self, "certificate_")
        found = self._model.predict_nodes(self._examples(X), threads(self.n_jobs))
        return [self._labels.decode(own) for own in found]

    def predict_nbest(self, X: Any, n: int = 5) -> Any:
        """Not known for graphs: a minimum cut finds the best labels, and says nothing of the next."""
        raise NotImplementedError(
            "the n best labellings of a graph are not known: a minimum cut finds the best one only; "
            "FactorGraphSVM ranks small graphs"
        )

    def predict_confidence(self, X: Any) -> Any:
        """Not known for graphs, for the same reason."""
        raise NotImplementedError(
            "how sure the labels of a graph are is not known: a minimum cut finds the best ones only; "
            "decision_function has the scores of labels without those of edges"
        )

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """For each graph the scores of labels at nodes (nodes × labels), without those of edges."""
        check_is_fitted(self, "certificate_")
        graphs = [Graph(graph, at) for at, graph in enumerate(X)]
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
            numbers = self._labels.encode(truth[at], strict=False)
            if len(numbers) != len(found):
                raise ValueError(f"graph {at} has {len(found)} nodes and {len(numbers)} labels")
            area = np.ones(len(found)) if node_weight is None else np.asarray(areas[at])
            is_right = (numbers == self._labels.encode(found)) & (numbers != UNKNOWN)
            right += weight * float(area @ is_right)
            whole += weight * float(area.sum())
        return right / whole if whole else 1.0


class Graph:
    """A graph as it comes, in arrays: features of nodes, ends of edges, features of edges."""

    def __init__(self, graph: Any, at: int) -> None:
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
            if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
                raise ValueError(
                    "edges are a matrix of whole numbers with two columns, the nodes they join; "
                    f"found one of the shape {edges.shape} and type {edges.dtype}"
                )
            self.edges = edges.astype(np.int64, copy=False)
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
