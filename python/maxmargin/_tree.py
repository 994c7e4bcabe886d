"""Trees of parts, each with a kind and a place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, Prepared, check_n, lead, total
from ._inputs import one_each
from ._labels import Labels, as_classes
from ._settings import group_bounds, number, rescaling_name, threads, whole_number
from ._types import Cache, Callback, Direction, Lam, Measure, OnInterrupt, Order, Rescaling, Solver


class TreeSVM(BaseSVM):
    """Finds the states of the nodes of a tree: joints of a body on score maps, or labels of the nodes.

    One tree for all examples. A node v has a kind kᵥ and a place (xᵥ, yᵥ) on the example's grid, and
    the score of all is Σᵥ ⟨w[v, kᵥ], mapsᵥ(xᵥ, yᵥ)⟩ + b[v, kᵥ], plus, for nodes with a parent p, a table
    of both kinds and a quadratic cost of δ = (placeᵥ − place_p − anchor)/unit. The best states are found
    exactly, in a time that is linear in the size of the grid.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; ``bounds`` are for all weights. Quadratic costs are kept ≥ 0 besides.
    parents : sequence of int or None
        The parent of each node; None, or -1, for a root.
    kinds : int or sequence of int, optional
        The number of kinds of all nodes, or of each; by default as many as ``y`` has.
    deforms : bool or sequence of bool, default=True
        Whether the distance from its parent costs something, of all nodes or of each.
    parent_maps : int or sequence of int, default=0
        How many of the maps of each node, the last ones, are read at the place of its *parent*: what the picture there
        says about the kind of this node, such as the direction in which an arm goes on. With these, kinds are the types
        of arcs in the pose models with pairwise terms that depend on the image (Chen and Yuille, 2014). A single number
        is for all nodes but roots, which have no parent.
    anchors : "mean", None, or list of arrays, default="mean"
        Where nodes are expected, seen from their parents: for each node an array (kinds × 2) of steps to
        the right and down. By default the mean way in the training data; (0, 0) if None.
    unit : float, default=1.0
        What distances are divided by.
    scale : float, default=1.0
        The distance at which a place is all wrong: the loss of a node is min(1, distance²/scale²), and
        the loss of an example the mean over its nodes.
    kind_cost : float, optional
        What a wrong kind adds to the loss of a node; by default 1 for trees of labels, else 0.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`.

    Attributes
    ----------
    unary_coef_, bias_, tables_, deformation_ : lists of ndarray
        By node: weights of maps (kinds × maps), biases (kinds), tables (kinds × kinds of the parent),
        and costs of δx², δy², δx, δy (kinds × 4).
    parent_coef_ : list of ndarray
        By node: weights of the maps that are read at the place of the parent (kinds × such maps).
    anchors_ : list of ndarray
        The anchors, kinds × 2 for each node.
    classes_ : ndarray
        The labels, of trees of labels.
    coef_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    A part that lies to the right of another, on maps of 1 × 6 places:

    >>> import numpy as np
    >>> from maxmargin import TreeSVM
    >>> def maps(head, hand):
    ...     return np.stack([np.eye(6)[[head]], np.eye(6)[[hand]]])
    >>> X = [maps(1, 3), maps(0, 2), maps(2, 4)]
    >>> y = [[(1, 0), (3, 0)], [(0, 0), (2, 0)], [(2, 0), (4, 0)]]  # x, y of each node
    >>> model = TreeSVM(lam=0.01, parents=[None, 0], scale=2.0).fit(X, y)
    >>> model.predict([maps(3, 5)])[0].tolist()
    [[3, 0], [5, 0]]

    Trees of labels have features instead of maps, and labels instead of places:

    >>> X = [np.array([[1.0], [1.0], [-1.0]]), np.array([[-1.0], [1.0], [-1.0]])]
    >>> y = [["up", "up", "down"], ["down", "up", "down"]]
    >>> model = TreeSVM(lam=0.01, parents=[None, 0, 0]).fit(X, y)
    >>> model.predict(X)[1].tolist()
    ['down', 'up', 'down']
    """

    _kind: ClassVar[str] = "tree"

    def __init__(
        self,
        lam: Lam = "scale",
        *,
        parents: Sequence[int | None] = (),
        C: float | None = None,
        measure: Measure | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        kinds: int | Sequence[int] | None = None,
        deforms: bool | Sequence[bool] = True,
        parent_maps: int | Sequence[int] = 0,
        anchors: Any = "mean",
        unit: float = 1.0,
        scale: float = 1.0,
        kind_cost: float | None = None,
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
        scale: Any = None,
        validation: Any = None,
    ) -> TreeSVM:
        """Trains on trees whose states are known.

        Parameters
        ----------
        X : list
            For each example an item per node, an array of maps (maps × rows × columns), a single map
            (rows × columns), or features (a vector) if there is a single place. Or one array with the
            nodes along its first axis. Maps are kept in single precision.
        y : list of arrays
            For each example a row per node: ``(x, y)`` or ``(kind, x, y)``, columns and rows counted
            from 0. Or a label per node, of any hashable type, where there is a single place; if
            ``kinds`` is given, labels are numbers from 0.
        sample_weight : array-like, optional
            A positive weight for each example.
        node_weight : list of arrays, optional
            For each example the weights of its nodes in the loss; 0 for those that do not matter.
        scale : array-like, optional
            For each example the distance at which a place is all wrong, instead of the parameter.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation, node_weight=node_weight, scale=scale)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        parents = [None if p is None or p < 0 else int(p) for p in self.parents]
        if not parents:
            raise ValueError("parents is empty; it has the parent of each node, None for a root")
        maps = [maps_of(x, at, len(parents)) for at, x in enumerate(X)]
        if not maps:
            raise ValueError("there are no examples")
        truth = one_each("examples", len(maps), "y", y)
        self._read_form(truth)
        states = [self._states(own, at, len(parents)) for at, own in enumerate(truth)]
        whole_truth = np.stack(states)
        kinds = self._kinds(whole_truth, len(parents))
        self._shape = self._tree(parents, kinds, maps[0], whole_truth)
        weights, whole = total(sample_weight, len(maps))
        data = self._fill(maps, states, weights, extra)
        cost = self.kind_cost
        if cost is None:
            cost = 1.0 if self._form == 1 else 0.0
        spec = {
            "kind": "tree",
            "rescaling": rescaling_name(self.rescaling),
            "shape": self._shape,
            "loss": {"kind_cost": float(cost)},
            "kinds": None,
            "simulation": None,
        }
        none = native.Alphabet()
        return Prepared(spec, data, none, none, "pose", whole, group_bounds(self.bounds))

    def _read_form(self, truth: list[Any]) -> None:
        """Finds out what states look like: labels (1), places (2), or kinds and places (3)."""
        first = truth[0]
        ndim = np.ndim(first) if isinstance(first, np.ndarray) else depth(first)
        self._form = 1 if ndim == 1 else len(next(iter(first)))
        if ndim not in (1, 2) or self._form not in (1, 2, 3):
            raise ValueError(
                "y has a label for each node, or a row (x, y) or (kind, x, y); found an array of "
                f"{ndim} dimensions"
            )
        self._labels: Labels | None = None
        self.__dict__.pop("classes_", None)
        if self._form == 1 and self.kinds is None:
            self._labels = Labels(as_classes(label for own in truth for label in own))
            self.classes_ = self._labels.classes

    def _states(self, own: Any, at: int, nodes: int) -> np.ndarray:
        """Kinds and places of all nodes, whatever they look like."""
        try:
            values = own if self._labels is None else self._labels.encode(own)
            values = np.asarray(values)
            if values.dtype.kind not in "iu" and not np.all(np.equal(np.mod(values, 1), 0)):
                raise ValueError("states are whole numbers")
            shape = (nodes,) if self._form == 1 else (nodes, self._form)
            if values.shape != shape:
                raise ValueError(f"its states have the shape {values.shape}, not {shape}")
        except (TypeError, ValueError) as error:
            raise ValueError(f"example {at}: {error}") from None
        states = np.zeros((nodes, 3), dtype=np.int64)
        if self._form == 1:
            states[:, 0] = values
        else:
            states[:, 3 - self._form :] = values
        return states

    def _kinds(self, states: np.ndarray, nodes: int) -> list[int]:
        if self._labels is not None:
            return [len(self._labels.classes)] * nodes
        if self.kinds is None:
            return (states[:, :, 0].max(axis=0) + 1).tolist()
        kinds = np.broadcast_to(np.asarray(self.kinds), (nodes,)).astype(int).tolist()
        for v, (most, found) in enumerate(zip(kinds, states[:, :, 0].max(axis=0), strict=True)):
            if found >= most:
                raise ValueError(f"node {v} has the kind {found}, but only {most} kinds")
        return kinds

    def _tree(
        self,
        parents: list[int | None],
        kinds: list[int],
        first: list[np.ndarray],
        states: np.ndarray,
    ) -> dict[str, Any]:
        """The shape of the tree, as model files state it."""
        nodes = len(parents)
        deforms = np.broadcast_to(np.asarray(self.deforms, dtype=bool), (nodes,)).tolist()
        above = self._parent_maps(parents, first)
        if self._form == 1:
            deforms = [False] * nodes
        if isinstance(self.anchors, str) and self.anchors != "mean":
            raise ValueError(f"anchors is {self.anchors!r}; known are 'mean', None and arrays")
        shape = []
        for v, parent in enumerate(parents):
            moves = deforms[v] and parent is not None and parent < nodes
            anchors: list[list[float]] = []
            if moves and isinstance(self.anchors, str):
                assert parent is not None
                way = states[:, v, 1:] - states[:, parent, 1:]
                own = [way[states[:, v, 0] == kind] for kind in range(kinds[v])]
                anchors = [w.mean(axis=0).tolist() if len(w) else [0.0, 0.0] for w in own]
            elif moves and self.anchors is not None:
                anchors = np.asarray(self.anchors[v], dtype=np.float64).reshape(-1, 2).tolist()
            shape.append(
                {
                    "parent": parent,
                    "kinds": kinds[v],
                    "maps": first[v].shape[0] - above[v],
                    "deforms": bool(moves),
                    "anchors": anchors,
                    "parent_maps": above[v],
                }
            )
        return {"nodes": shape, "unit": number("unit", self.unit)}

    def _parent_maps(self, parents: list[int | None], first: list[np.ndarray]) -> list[int]:
        """How many of the maps of each node are read at the place of its parent."""
        given = np.broadcast_to(np.asarray(self.parent_maps), (len(parents),)).tolist()
        found = []
        for v, (parent, count) in enumerate(zip(parents, given, strict=True)):
            own = whole_number("parent_maps", count, 0)
            if parent is None and np.ndim(self.parent_maps) == 0:
                own = 0
            if own > first[v].shape[0]:
                raise ValueError(
                    f"node {v} has {first[v].shape[0]} maps; parent_maps says that {own} of them are read at its "
                    "parent"
                )
            found.append(own)
        return found

    def _fill(
        self,
        maps: list[list[np.ndarray]],
        states: list[np.ndarray] | None,
        weights: np.ndarray | None,
        extra: dict[str, Any],
    ) -> native.TreeData:
        """Everything in the form that training takes."""
        shares = one_each("examples", len(maps), "node_weight", extra.get("node_weight"))
        scales = one_each("examples", len(maps), "scale", extra.get("scale"))
        data = native.TreeData(json.dumps(self._shape))
        for at, own in enumerate(maps):
            try:
                data.add(
                    own,
                    None if states is None else states[at],
                    np.ascontiguousarray(shares[at], dtype=np.float64) if shares else None,
                    float(scales[at]) if scales else number("scale", self.scale),
                    1.0 if weights is None else float(weights[at]),
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"example {at}: {error}") from None
        return data

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.TreeData:
        nodes = len(self._shape["nodes"])
        maps = [maps_of(x, at, nodes) for at, x in enumerate(X)]
        states = None
        if y is not None:
            truth = one_each("examples", len(maps), "y", y)
            states = [self._states(own, at, nodes) for at, own in enumerate(truth)]
        weights, _ = total(extra.get("sample_weight"), len(maps))
        return self._fill(maps, states, weights, extra)

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        spec = meta["spec"]
        self._shape = spec["shape"]
        nodes = self._shape["nodes"]
        self.set_params(
            parents=[node["parent"] for node in nodes],
            kinds=[node["kinds"] for node in nodes],
            deforms=[node["deforms"] for node in nodes],
            parent_maps=[node.get("parent_maps", 0) for node in nodes],
            unit=self._shape["unit"],
            kind_cost=spec["loss"]["kind_cost"],
        )
        # What places look like is not in the file: all that there is.
        self._form, self._labels = 3, None

    def _set_weights(self) -> None:
        self.coef_ = self._model.weights()
        nodes = self._shape["nodes"]
        groups: list[list[np.ndarray]] = [[], [], [], [], []]
        for node, ends in zip(nodes, self._model.tree_groups(), strict=True):
            kinds = node["kinds"]
            shapes: list[Any] = [
                (kinds, node["maps"]),
                -1,
                -1,
                (-1, 4),
                (kinds, node.get("parent_maps", 0)),
            ]
            for group, (start, stop), form in zip(groups, ends, shapes, strict=True):
                group.append(self.coef_[start:stop].reshape(form))
        self.unary_coef_, self.bias_, tables, self.deformation_, self.parent_coef_ = groups
        pairs = zip(tables, nodes, strict=True)
        self.tables_ = [table.reshape(node["kinds"], -1) for table, node in pairs]
        self.anchors_ = [
            np.array(node["anchors"] or [[0.0, 0.0]] * node["kinds"]) for node in nodes
        ]

    def _weight_names(self) -> list[str]:
        names = [""] * len(self.coef_)
        for v, ends in enumerate(self._model.tree_groups()):
            for what, (start, stop) in zip(
                ("map", "bias", "table", "cost", "map at the parent"), ends, strict=True
            ):
                names[start:stop] = [f"node {v}: {what} {at}" for at in range(stop - start)]
        return names

    def _answer(self, states: np.ndarray) -> np.ndarray:
        """States in the form that they were trained in."""
        if self._form == 1:
            return states[:, 0] if self._labels is None else self._labels.decode(states[:, 0])
        return states[:, 3 - self._form :]

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best states of the nodes of each example, in the form that ``fit`` got them in; of a model
        from a file, rows (kind, x, y)."""
        return [found[0][0] for found in self.predict_nbest(X, 1)]

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[np.ndarray, float]]]:
        """The ``n`` best states of each example with their scores, best first."""
        check_is_fitted(self, "certificate_")
        found = self._model.predict_trees(self._examples(X), check_n(n), threads(self.n_jobs))
        return [[(self._answer(states), score) for states, score in own] for own in found]

    def predict_confidence(self, X: Any) -> list[tuple[np.ndarray, float]]:
        """The best states of each example, and how far their score is ahead of the next best ones."""
        return [(best[0][0], lead(best)) for best in self.predict_nbest(X, 2)]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the best states of each tree."""
        return np.array([best[0][1] for best in self.predict_nbest(X, 1)])

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        node_weight: Any = None,
        scale: Any = None,
    ) -> float:
        """1 − the mean loss: of trees of labels, the share of labels that are right."""
        check_is_fitted(self, "certificate_")
        extra = {"sample_weight": sample_weight, "node_weight": node_weight, "scale": scale}
        data = self._examples(X, y, **extra)
        return 1.0 - self._model.tree_loss(data, threads(self.n_jobs))


def maps_of(x: Any, at: int, nodes: int) -> list[np.ndarray]:
    """The maps of each node, with three axes."""
    items = list(x)
    if len(items) != nodes:
        raise ValueError(f"example {at} has maps for {len(items)} nodes, and the tree has {nodes}")
    maps = []
    for v, item in enumerate(items):
        own = np.asarray(item)
        if own.dtype not in (np.float32, np.float64):
            try:
                own = own.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"example {at}: the maps of node {v} are no numbers") from None
        if own.ndim not in (1, 2, 3):
            raise ValueError(f"example {at}: the maps of node {v} have {own.ndim} axes, not 1 to 3")
        shape = {1: (-1, 1, 1), 2: (1, *own.shape)}.get(own.ndim, own.shape)
        maps.append(own.reshape(shape))
    return maps


def depth(values: Any) -> int:
    """1 for a list of labels, 2 for a list of rows of numbers."""
    first = next(iter(values), None)
    rows = isinstance(first, (list, tuple, np.ndarray)) and all(
        isinstance(value, (int, float, np.number)) for value in first
    )
    return 2 if rows else 1
