"""Graphs whose nodes have labels and whose edges have any tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import Prepared, check_n, lead, total
from ._graph import CONSTANT, Graph, NodeLabels
from ._inputs import native_matrix, one_each
from ._labels import Labels, as_classes, label_array, loaded_classes, plain_label
from ._settings import group_bounds, rescaling_name, threads
from ._types import ClassWeight, OnInterrupt, Rescaling

#: What becomes of a table if the ends of an edge change places.
SYMMETRIES = ("directed", "symmetric", "antisymmetric")


class GraphSVM(NodeLabels):
    """Labels the nodes of graphs, where each pair of neighbouring labels has a weight of its own.

    The score of labels y is Σᵥ ⟨w[yᵥ], xᵥ⟩ + Σ_(u,v) ⟨T_t[y_u, y_v], z_uv⟩: nodes have features x,
    edges have features z and perhaps a type t, and there is a table of weights, labels × labels, for
    each type and feature of edges. Where neighbours only like to agree, :class:`PottsSVM` has fewer
    weights and decodes faster; images on a grid are easier to give to :class:`GridSVM`.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, max_seconds, validation, patience, n_jobs, \
random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`.
    pairwise : {"directed", "symmetric", "antisymmetric"} or list of them, default="directed"
        What a table is if the ends of an edge change places: another one (``"directed"``), the same
        (``"symmetric"``, T = Tᵀ), or the same with the other sign (``"antisymmetric"``, T = −Tᵀ). A
        list has one for each feature of edges.
    inference : {"auto", "max-sum", "enumerate", "roof-duality", "lp", "max-product"}, default="auto"
        How labels are found. ``"auto"`` decides for each graph: max-sum (exact) without cycles, trying
        everything (exact) in tiny graphs, roof duality (an upper bound) for two labels, a linear
        program (an upper bound) for small graphs, and max-product messages (a heuristic) for larger
        ones. ``certificate_.quality`` says what the gap is worth.
    loss : {"normalised", "hamming"}, default="normalised"
        The share of nodes that are wrong, or their number.
    class_weight : dict or "balanced", optional
        What the nodes of a label count in the loss, by their true labels: weights by label, or ``"balanced"``
        for n/(k count) with n nodes of k labels; multiplied by ``node_weight``. With ``visible``, what is
        seen of a node counts.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each.
    visible : mapping, optional
        What is seen of each *state*, where a label has several of them: the loss and ``score`` compare
        ``visible[state]``, so that states of the true label cost nothing. All its keys are states, even
        those that no node has in training; other labels are states that are seen as they are. See
        :class:`LatentSVM`.
    bounds : pair or dict, optional
        Bounds on all weights, or by group: ``unary`` and ``pairwise``.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`. Where there are few enough outputs, all are tried and nothing is missed.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    unary_coef_ : ndarray of shape (labels, features)
        The weights of labels.
    intercept_ : ndarray of shape (labels,)
        Their constants.
    pairwise_coef_ : ndarray of shape (edge types, edge features, labels, labels)
        The tables: the first label is that of the node that the edge names first.
    n_features_in_, n_edge_features_in_, n_edge_types_in_ : int
        Numbers of features of nodes and of edges, and of types of edges.
    coef_, weights_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    A graph is a tuple of a matrix with a row per node, a matrix with the two ends of each edge, and
    perhaps a matrix with a row per edge (else edges have the single feature 1). A third column in the
    matrix of edges has their types, from 0:

    >>> import numpy as np
    >>> from maxmargin import GraphSVM
    >>> line = np.array([[0, 1], [1, 2], [2, 3]])
    >>> nothing = np.zeros((3, 1))
    >>> X = [(np.vstack([[first], nothing]), line) for first in ([1.0], [-1.0])]
    >>> y = [["a", "b", "a", "b"], ["b", "a", "b", "a"]]
    >>> model = GraphSVM(lam=0.01).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)] == y
    True
    >>> model.pairwise_coef_.shape, model.certificate_.quality
    ((1, 1, 2, 2), 'exact')
    """

    _kind: ClassVar[str] = "factor-graph"
    _typed: ClassVar[bool] = True

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
        pairwise: str | Sequence[str] = "directed",
        inference: str = "auto",
        loss: str = "normalised",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        visible: Mapping[Any, Any] | None = None,
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
        callback: Any = None,
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
            For each graph the weights of its nodes in the loss. A node of weight 0 may have any label.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation, node_weight=node_weight)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        if self.loss not in ("normalised", "hamming"):
            raise ValueError(f"loss is {self.loss!r}; known are 'normalised' and 'hamming'")
        graphs = self._graphs(X)
        if not graphs:
            raise ValueError("there are no graphs")
        truth = one_each("graphs", len(graphs), "y", y)
        named = list(self.visible or ())
        own = (label for labels in truth for label in labels)
        classes = as_classes([*named, *own, *self._ahead()])
        if len(classes) < 2:
            raise ValueError(f"there is nothing to learn from {len(classes)} label")
        self._labels = Labels(classes)
        self.classes_ = classes
        self.n_features_in_ = graphs[0].nodes.shape[1]
        self.n_edge_features_in_ = graphs[0].edge_width
        types = [int(g.edge_types.max()) for g in graphs if g.edge_types is not None]
        self.n_edge_types_in_ = 1 + max(types, default=0)
        weights, whole = total(sample_weight, len(graphs))
        self._class_weights = None
        data = self._fill(graphs, y, weights, self._by_class(truth, extra.get("node_weight")))
        spec = {
            "kind": "factor-graph",
            "rescaling": rescaling_name(self.rescaling),
            "shape": json.loads(data.shape([])),
            "loss": {"normalised": self.loss == "normalised"},
            "inference": self.inference,
            "states": self._labels.names(),
        }
        if self.visible:
            seen = Labels(as_classes(self.seen(label) for label in classes))
            spec["labels"] = seen.encode([self.seen(label) for label in classes]).tolist()
        none = native.Alphabet()
        return Prepared(spec, data, none, none, "factor-graph", whole, self._bounds())

    def seen(self, state: Any) -> Any:
        """What is seen of a state; see ``visible``."""
        return state if self.visible is None else self.visible.get(state, state)

    def _graphs(self, X: Any) -> list[Graph]:
        return [Graph(graph, at, typed=True) for at, graph in enumerate(X)]

    def _bounds(self) -> dict[str, dict[str, float]]:
        """Bounds by group, under the names that model files have for them."""
        if not isinstance(self.bounds, dict):
            return group_bounds(self.bounds)
        groups = {"unary": ["template.0"], "all": ["all"]}
        groups["pairwise"] = [f"template.{at + 1}" for at in range(self.n_edge_types_in_)]
        named: dict[str, Any] = {}
        for name, pair in self.bounds.items():
            if name not in groups:
                raise ValueError(f"bounds are for 'unary', 'pairwise' or 'all', not {name!r}")
            named.update((own, pair) for own in groups[name])
        return group_bounds(named)

    def _symmetries(self) -> list[str]:
        """What becomes of each feature of edges if the ends change places."""
        one = isinstance(self.pairwise, str)
        names = [self.pairwise] * self.n_edge_features_in_ if one else list(self.pairwise)
        unknown = [name for name in names if name not in SYMMETRIES]
        if unknown:
            raise ValueError(f"pairwise has {unknown[0]!r}; known are {list(SYMMETRIES)}")
        if len(names) != self.n_edge_features_in_:
            raise ValueError(
                f"pairwise has {len(names)} entries, and edges have {self.n_edge_features_in_} "
                "features"
            )
        return [str(name) for name in names]

    def _empty(self) -> native.GraphData:
        """No graphs yet, in the form that training takes."""
        nodes = [str(at + 1) for at in range(self.n_features_in_)]
        nodes += [CONSTANT] if self.fit_intercept else []
        # The symmetry of a feature is part of its name, so that a model that is loaded knows it.
        marks = {"directed": "", "symmetric": " symmetric", "antisymmetric": " antisymmetric"}
        edges = [f"{at + 1}{marks[name]}" for at, name in enumerate(self._symmetries())]
        types = [f"edge {at}" for at in range(self.n_edge_types_in_)]
        return native.GraphData.pairwise(
            len(self.classes_), nodes, ["edge"] if len(types) == 1 else types, edges
        )

    def _fill(
        self, graphs: list[Graph], y: Any, weights: Any, node_weight: Any
    ) -> native.GraphData:
        """Graphs in the form that training takes."""
        truth = one_each("graphs", len(graphs), "y", y)
        areas = one_each("graphs", len(graphs), "node_weight", node_weight)
        data, symmetries = self._empty(), self._symmetries()
        for at, graph in enumerate(graphs):
            try:
                labels, own = self._of_nodes(
                    graph,
                    None if y is None else truth[at],
                    None if node_weight is None else areas[at],
                )
                types = graph.edge_types
                data.add(
                    native_matrix(graph.nodes),
                    graph.edges,
                    None if types is None else types.astype(np.uint32),
                    None if graph.edge_rows is None else native_matrix(graph.edge_rows),
                    symmetries,
                    labels,
                    own,
                    bool(self.fit_intercept),
                    1.0 if weights is None else float(weights[at]),
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"graph {at}: {error}") from None
        return data

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.GraphData:
        graphs = self._graphs(X)
        weights, _ = total(extra.get("sample_weight"), len(graphs))
        node_weight = extra.get("node_weight")
        if extra.get("labelled"):
            # As in training, where classes count differently.
            node_weight = self._by_class(one_each("graphs", len(graphs), "y", y), node_weight)
        return self._fill(graphs, y, weights, node_weight)

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        spec = meta["spec"]
        if not spec.get("states"):
            raise ValueError("the file holds a factor graph that was not made by GraphSVM")
        self._labels = Labels(loaded_classes(spec["states"]))
        self.classes_ = self._labels.classes
        node, *edges = spec["shape"]["templates"]
        names = model.attributes().list()
        constant = names[node["attributes"] - 1] == f"node:{CONSTANT}"
        self.n_features_in_ = node["attributes"] - int(constant)
        self.n_edge_types_in_ = len(edges)
        self.n_edge_features_in_ = edges[0]["attributes"]
        own = names[node["attributes"] :][: self.n_edge_features_in_]
        words = [name.rsplit(" ", 1)[-1] for name in own]
        symmetries = [word if word in SYMMETRIES else "directed" for word in words]
        self.set_params(
            pairwise=symmetries[0] if len(set(symmetries)) == 1 else symmetries,
            inference=spec["inference"],
            loss="normalised" if spec["loss"]["normalised"] else "hamming",
            fit_intercept=constant,
            visible=self._restored_visible(spec),
        )

    def _restored_visible(self, spec: dict[str, Any]) -> dict[Any, Any] | None:
        """What is seen of states: the first state of a label stands for it."""
        if not spec.get("labels"):
            return None
        first: dict[int, Any] = {}
        for state, label in zip(self.classes_.tolist(), spec["labels"], strict=True):
            first.setdefault(label, state)
        pairs = zip(self.classes_.tolist(), spec["labels"], strict=True)
        return {state: first[label] for state, label in pairs}

    def _set_weights(self) -> None:
        self.coef_ = self._model.weights()
        count = len(self.classes_)
        nodes = (self.n_features_in_ + bool(self.fit_intercept)) * count
        unary = self.coef_[:nodes].reshape(-1, count).T
        self.unary_coef_ = unary[:, : self.n_features_in_]
        self.intercept_ = unary[:, -1] if self.fit_intercept else np.zeros(count)
        tables = (self.n_edge_types_in_, self.n_edge_features_in_, count, count)
        self.pairwise_coef_ = self.coef_[nodes:].reshape(tables)
        self.weights_ = {"unary": unary, "pairwise": self.pairwise_coef_}

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names = [f"{name} → {label}" for name in self._node_names() for label in labels]
        pairs = [f"{a}, {b}" for a in labels for b in labels]
        for kind in range(self.n_edge_types_in_):
            for feature in range(self.n_edge_features_in_):
                names += [f"edge {kind} feature {feature + 1}: {pair}" for pair in pairs]
        return names

    def _node_names(self) -> list[str]:
        names = [str(at + 1) for at in range(self.n_features_in_)]
        return names + ([CONSTANT] if self.fit_intercept else [])

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best labels of the nodes of each graph, or good ones where ``inference`` is a heuristic."""
        check_is_fitted(self, "certificate_")
        found = self._model.predict_states(self._examples(X), threads(self.n_jobs))
        return [self._labels.decode(np.array(own, dtype=np.int64)) for own in found]

    def complete(self, X: Any, y: Any, *, node_weight: Any = None) -> list[np.ndarray]:
        """The best states of the nodes of each graph that agree with what is known of them.

        Parameters
        ----------
        X : list of tuples
            Graphs.
        y : list of lists
            What is known of each node: what is seen of it (see ``visible``), or a state; a set of
            states, one of which it is; or None if nothing is known.
        node_weight : ignored
            So that it can be given wherever ``fit`` takes it.

        Returns
        -------
        list of ndarray
            The states.
        """
        check_is_fitted(self, "certificate_")
        graphs = self._graphs(X)
        known = one_each("graphs", len(graphs), "y", y)
        allowed = []
        for at, (graph, own) in enumerate(zip(graphs, known, strict=True)):
            if len(own) != graph.nodes.shape[0]:
                raise ValueError(
                    f"graph {at} has {graph.nodes.shape[0]} nodes, and y has {len(own)} entries"
                )
            allowed.append([is_allowed for what in own for is_allowed in self._allowed(what)])
        data = self._fill(graphs, None, None, None)
        found = self._model.complete_states(data, allowed, threads(self.n_jobs))
        return [self._labels.decode(np.array(own, dtype=np.int64)) for own in found]

    def _allowed(self, known: Any) -> list[bool]:
        """Which states agree with what is known of a node."""
        states = self.classes_.tolist()
        known = plain_label(known)
        if known is None:
            return [True] * len(states)
        if isinstance(known, (set, frozenset)):
            found = [state in known for state in states]
        else:
            found = [self.seen(state) == known for state in states]
            if not any(found):
                found = [state == known for state in states]
        if not any(found):
            raise ValueError(f"no state is seen as {known!r}")
        return found

    def see(self, states: Any) -> np.ndarray:
        """What is seen of the states of a graph."""
        own = states.tolist() if isinstance(states, np.ndarray) else list(states)
        return label_array([self.seen(state) for state in own])

    def draw(self, X: Any, y: Any, rng: np.random.Generator) -> list[list[Any]]:
        """States at random that agree with what is known of them; see :meth:`complete`. An entry of None is
        drawn from all that occur in ``y`` or ``visible``."""
        entries = [list(own.tolist() if isinstance(own, np.ndarray) else own) for own in y]
        known: dict[Any, None] = dict.fromkeys(self.visible or ())
        hidden = set((self.visible or {}).values()) - set(known)
        for what in (what for own in entries for what in own):
            options = sorted(what, key=str) if isinstance(what, (set, frozenset)) else [what]
            known.update((one, None) for one in options if one is not None)
        states = [state for state in known if state not in hidden]

        def one(what: Any) -> Any:
            if what is None:
                options = states
            elif isinstance(what, (set, frozenset)):
                options = sorted(what, key=str)
            else:
                seen_so = [state for state in states if self.seen(state) == what]
                options = seen_so or [what]
            return options[int(rng.integers(len(options)))]

        return [[one(what) for what in own] for own in entries]

    def objective(self, X: Any, y: Any, **extra: Any) -> float:
        """The objective λ/2 ‖w‖² + mean structured hinge loss of the weights on any labelled data."""
        check_is_fitted(self, "certificate_")
        data = self._examples(X, y, labelled=True, **extra)
        return self._model.objective(data, threads(self.n_jobs))

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[np.ndarray, float]]]:
        """The ``n`` best labellings of each graph with their scores, best first; all are tried out, so a
        graph may have a million at most."""
        check_is_fitted(self, "certificate_")
        found = self._model.rank_states(self._examples(X), check_n(n), threads(self.n_jobs))
        decode = self._labels.decode
        return [
            [(decode(np.array(own, dtype=np.int64)), score) for score, own in best]
            for best in found
        ]

    def predict_confidence(self, X: Any) -> list[tuple[np.ndarray, float]]:
        """The best labels of each graph, and how far their score is ahead of the next best ones."""
        return [(best[0][0], lead(best)) for best in self.predict_nbest(X, 2)]


def has_labels(model: native.Model) -> bool:
    """Whether a factor graph was made by :class:`GraphSVM`, whose states have names."""
    return bool(json.loads(model.meta())["spec"].get("states"))
