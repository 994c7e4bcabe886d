"""Graphs whose nodes have labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import Prepared, total
from ._graph import CONSTANT, Graph, NodeLabels
from ._inputs import native_matrix, one_each
from ._labels import Labels, as_classes, loaded_classes
from ._settings import group_bounds, rescaling_name, threads
from ._types import (
    Cache,
    Callback,
    ClassWeight,
    Direction,
    Lam,
    Measure,
    OnInterrupt,
    Order,
    Rescaling,
    Solver,
)


class PottsSVM(NodeLabels):
    """Labels the nodes of graphs, where neighbours like to agree: regions of an image, people who know
    each other.

    The score of labels y is Σᵥ ⟨w[yᵥ], xᵥ⟩ − Σ_(u,v) [y_u ≠ y_v] ⟨p, z_uv⟩, divided by the number of
    nodes: nodes have features x, edges have features z, and p says what it costs neighbours to disagree
    (Potts' model). With two labels and p ≥ 0 the best labels are a minimum cut, and training is exact.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
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
    class_weight : dict or "balanced", optional
        What the nodes of a label count in the loss, by their true labels: weights by label, or ``"balanced"``
        for n/(k count) with n nodes of k labels; multiplied by ``node_weight``. It goes with
        ``loss="normalised"``.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`.

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
    >>> from maxmargin import PottsSVM
    >>> line = np.array([[0, 1], [1, 2], [2, 3]])
    >>> dark, light = [-1.0, -2.0, 0.1, -1.5], [1.0, -0.1, 2.0, 1.5]
    >>> X = [(np.array(row)[:, None], line) for row in (dark, light)]
    >>> y = [["dark"] * 4, ["light"] * 4]
    >>> model = PottsSVM(lam=0.01).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)] == y
    True
    >>> model.certificate_.quality
    'exact'
    """

    _kind: ClassVar[str] = "graph"

    def __init__(
        self,
        lam: Lam = "scale",
        *,
        C: float | None = None,
        measure: Measure | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        attractive: bool = True,
        inference: str = "auto",
        loss: Literal["balanced", "normalised"] = "balanced",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        bounds: Any = None,
        rescaling: Rescaling = "margin",
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        node_weight: Any = None,
        validation: Any = None,
    ) -> PottsSVM:
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
        own = (label for labels in truth for label in labels)
        classes = as_classes([*own, *self._ahead()])
        if len(classes) < 2:
            raise ValueError(f"there is nothing to learn from {len(classes)} label")
        self._labels = Labels(classes)
        self.classes_ = classes
        self.n_features_in_ = graphs[0].nodes.shape[1]
        self.n_edge_features_in_ = graphs[0].edge_width
        weights, whole = total(sample_weight, len(graphs))
        self._class_weights = None
        data = self._fill(graphs, truth, weights, self._by_class(truth, extra.get("node_weight")))
        nodes = [str(at + 1) for at in range(self.n_features_in_)]
        nodes += [CONSTANT] if self.fit_intercept else []
        edges = [f"edge {at + 1}" for at in range(self.n_edge_features_in_)]
        spec = {
            "kind": "graph",
            "rescaling": rescaling_name(self.rescaling),
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
                labels, own = self._of_nodes(
                    graph,
                    None if y is None else truth[at],
                    None if node_weight is None else areas[at],
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
        node_weight = extra.get("node_weight")
        if extra.get("labelled"):
            # As in training, where classes count differently.
            node_weight = self._by_class(one_each("graphs", len(graphs), "y", y), node_weight)
        return self._fill(graphs, y, weights, node_weight)

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
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
