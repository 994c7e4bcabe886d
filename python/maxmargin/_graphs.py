"""Factor graphs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, Prepared, check_n, labelled_pair, lead, total
from ._class_weight import class_weights
from ._hard import hard_training, restore_training, soft_result
from ._inputs import located
from ._labels import Labels, as_classes, label_array, plain_label
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


class FactorGraphSVM(BaseSVM):
    """Predicts the states of the variables of factor graphs: any structure whose score is a sum over
    small sets of variables.

    A graph is a dictionary as in the command line's files: ``variables``, a list of dictionaries with
    their ``states`` (and perhaps the ``cost`` of a mistake), and ``factors``, a list of dictionaries with
    ``template`` (factors of one template share their weights), ``variables`` (their indices) and
    ``attributes`` (a dictionary, or a list of numbers). States are a number of them, which are then 0, 1, …,
    or a list of labels of any hashable type.

    A factor over many variables may have ``patterns``: lists with a state for each of its variables, or None for
    any. Its attributes then have a weight for each pattern, and the patterns that fit count: all of them, or the
    first with ``"counting": "first"``.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``template.0``, ``template.1``, … in the
        order in which templates first occur.
    inference : {"auto", "max-sum", "enumerate", "roof-duality", "lp", "max-product"}, default="auto"
        How states are found in training.
    loss : {"normalised", "hamming"}, default="normalised"
        Costs of wrong states, divided by the number of variables, or not.
    ties : dict of str to {"agree", "differ", "diagonal", "free"}, optional
        Templates whose joint states share weights, one per attribute: those in which all variables have
        the same state, or not all of them, or attribute ``k`` in joint state ``k`` only.
    class_weight : dict or "balanced", optional
        What the variables of a true state count in the loss: weights by state, or ``"balanced"`` for
        n/(k count) with n variables in k states; multiplied by their ``cost``.
    training, rho, rho_scale, rho_schedule, multipliers, smooth
        As in :class:`MultilabelSVM`.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`. Where there are few enough outputs, all are tried and nothing is missed.

    Attributes
    ----------
    templates_ : list of str
        The templates.
    weights_ : dict of ndarray
        The weights by template: attributes × states of the variables, or × patterns.
    soft_ : dict or None
        After ``training="soft"``: its ``rho`` and ``rho_scale``, the ``hard_objective`` over the LP relaxation
        (an upper bound of its optimum), and the ``violation`` of the constraints.
    coef_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    >>> from maxmargin import FactorGraphSVM
    >>> def graph(a, b):
    ...     return {"variables": [{"states": 2}, {"states": 2}], "factors": [
    ...         {"template": "colour", "variables": [0], "attributes": [a, 1.0]},
    ...         {"template": "colour", "variables": [1], "attributes": [b, 1.0]},
    ...         {"template": "pair", "variables": [0, 1], "attributes": {"bias": 1.0}}]}
    >>> X = [graph(1.0, 2.0), graph(-1.0, -2.0), graph(-1.0, 1.5)]
    >>> model = FactorGraphSVM(lam=0.01).fit(X, [[1, 1], [0, 0], [0, 1]])
    >>> [states.tolist() for states in model.predict(X)]
    [[1, 1], [0, 0], [0, 1]]

    Through soft constraints, and what they have come to:

    >>> soft = FactorGraphSVM(lam=0.01, training="soft", rho=0.01).fit(X, [[1, 1], [0, 0], [0, 1]])
    >>> sorted(soft.soft_)
    ['hard_objective', 'rho', 'rho_scale', 'violation']

    Twenty variables that like to have the same state, without a table of 2²⁰ scores:

    >>> def crowd(hints):
    ...     own = [{"template": "one", "variables": [v], "attributes": [x]} for v, x in enumerate(hints)]
    ...     same = {"template": "same", "variables": list(range(20)), "attributes": {"bias": 1.0},
    ...             "patterns": [[0] * 20, [1] * 20]}
    ...     return {"variables": [2] * 20, "factors": [*own, same]}
    >>> X = [crowd([1.0] * 15 + [-0.5] * 5), crowd([-1.0] * 15 + [0.5] * 5)]
    >>> crowds = FactorGraphSVM(lam=0.01).fit(X, [[1] * 20, [0] * 20])
    >>> crowds.weights_["same"].shape
    (1, 2)
    >>> [states.tolist() == [1 - i] * 20 for i, states in enumerate(crowds.predict(X))]
    [True, True]
    """

    _kind: ClassVar[str] = "factor-graph"
    _first_lines: str

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
        inference: str = "auto",
        loss: Literal["hamming", "normalised"] = "normalised",
        ties: Mapping[str, str] | None = None,
        class_weight: ClassWeight = None,
        training: str | None = None,
        rho: float | None = None,
        rho_scale: str | None = None,
        rho_schedule: Sequence[float] | None = None,
        multipliers: int | None = None,
        smooth: float | None = None,
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
        self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> FactorGraphSVM:
        """Trains on graphs whose true states are known.

        Parameters
        ----------
        X : list of dict
            Graphs.
        y : list of lists, optional
            The true state of each variable; taken from the variables' ``truth`` if not given.
        sample_weight : array-like, optional
            A positive weight for each graph.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        if self.backend is not None:
            self._fit(X, y, sample_weight, validation)
            return self
        begun = time.monotonic()
        prepared = self._prepare(X, y, sample_weight)
        own = None
        if validation is not None:
            graphs, truth = labelled_pair(validation)
            own = prepared.data.read_more(graph_lines(list(graphs), truth))
        self._run(prepared, own, begun)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        if self.loss not in ("normalised", "hamming"):
            raise ValueError(f"loss is {self.loss!r}; known are 'normalised' and 'hamming'")
        X = list(X)
        if not X:
            raise ValueError("there are no graphs")
        weights, whole = total(sample_weight, len(X))
        self._class_weights: dict[Any, float] | None = None
        data = native.GraphData(graph_lines(X, y, weights, self._by_class(X, y)))
        ties = [(str(name), str(tie)) for name, tie in (self.ties or {}).items()]
        hard = hard_training(self)
        spec = {
            "kind": "factor-graph",
            "rescaling": rescaling_name(self.rescaling),
            "shape": json.loads(data.shape(ties)),
            "loss": {"normalised": self.loss == "normalised"},
            **hard.fields,
        }
        none, bounds = native.Alphabet(), group_bounds(self.bounds)
        return Prepared(
            spec, data, none, none, "factor-graph", whole, bounds, hard.rounds, hard.exact
        )

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.GraphData:
        X, labelled = list(X), y is not None or bool(extra.get("labelled"))
        # As in training, where states count differently.
        costs = self._by_class(X, y) if extra.get("labelled") else None
        lines = graph_lines(X, y, extra.get("sample_weight"), costs)
        return self._model.read_graphs(lines, labelled)

    def _by_class(self, X: list[Any], y: Any) -> dict[Any, float] | None:
        """What the variables of each true state count."""
        if self.class_weight is None:
            return None
        found = self.__dict__.get("_class_weights")
        if found is None:
            truth = truths_of(X) if y is None else [list(own) for own in y]
            labels = Labels(as_classes(plain_label(state) for own in truth for state in own))
            numbers, _ = labels.encode_all(truth)
            own = class_weights(self.class_weight, labels, numbers)
            assert own is not None
            found = dict(zip(labels.index, own.tolist(), strict=True))
            self._class_weights = found
        return found

    def _begin_shards(self, X: Any, y: Any) -> None:
        """Keeps the graphs in which a template or an attribute occurs first: they fix the order of all names."""
        first = first_graphs(X)
        truth = None if y is None else [y[at] for at in first]
        self._first_lines = graph_lines([X[at] for at in first], truth)

    def _shard_examples(self, X: Any, y: Any, **extra: Any) -> native.GraphData:
        # What states count follows from all graphs, which this shard has not seen.
        costs = None if self.class_weight is None else self._class_weights
        lines = graph_lines(list(X), y, extra.get("sample_weight"), costs)
        return native.GraphData(self._first_lines).read_more(lines)

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        self.loss = "normalised" if meta["spec"]["loss"]["normalised"] else "hamming"
        self.inference = meta["spec"]["inference"]
        templates = zip(model.labels().list(), meta["spec"]["shape"]["templates"], strict=True)
        ties = {name: template["tie"] for name, template in templates if "tie" in template}
        self.ties = ties or None
        restore_training(self, meta["spec"])

    def _set_weights(self) -> None:
        weights = self._model.weights()
        groups = self._groups(weights)
        messages = groups.pop("messages", weights[:0])
        self.coef_ = weights[: len(weights) - len(messages)]
        self.templates_ = self._model.labels().list()
        self.weights_ = dict(zip(self.templates_, groups.values(), strict=True))
        self.soft_ = soft_result(json.loads(self._model.meta())["spec"])

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best states of the variables of each graph."""
        check_is_fitted(self, "certificate_")
        X = list(X)
        found = self._model.predict_states(self._examples(X), threads(self.n_jobs))
        return [named_states(graph, states) for graph, states in zip(X, found, strict=True)]

    def decision_function(self, X: Any) -> list[list[np.ndarray]]:
        """For each graph, and each of its variables, the scores of the states, without those of factors of several
        variables."""
        check_is_fitted(self, "certificate_")
        return self._model.state_scores(self._examples(X), threads(self.n_jobs))

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[np.ndarray, float]]]:
        """The ``n`` best states of each graph with their scores, best first; all are tried out, so a
        graph may have a million at most."""
        check_is_fitted(self, "certificate_")
        X = list(X)
        found = self._model.rank_states(self._examples(X), check_n(n), threads(self.n_jobs))
        return [
            [(named_states(graph, own), score) for score, own in best]
            for graph, best in zip(X, found, strict=True)
        ]

    def predict_confidence(self, X: Any) -> list[tuple[np.ndarray, float]]:
        """The best states of each graph, and how far their score is ahead of the next best ones."""
        return [(best[0][0], lead(best)) for best in self.predict_nbest(X, 2)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of variables whose state is right."""
        X = list(X)
        truth = truths_of(X) if y is None else [plain_list(own) for own in y]
        weights, _ = total(sample_weight, len(X))
        right = whole = 0.0
        if len(truth) != len(X):
            raise ValueError(f"X has {len(X)} graphs and y has {len(truth)}")
        for at, (own, states) in enumerate(zip(truth, self.predict(X), strict=True)):
            if len(own) != len(states):
                raise ValueError(f"graph {at} has {len(states)} variables and {len(own)} states")
            weight = 1.0 if weights is None else float(weights[at])
            pairs = zip(own, states.tolist(), strict=True)
            right += weight * sum(plain_label(a) == b for a, b in pairs)
            whole += weight * len(states)
        return right / whole if whole else 1.0


def first_graphs(X: Any) -> list[int]:
    """The places of the graphs in which a template or an attribute occurs first."""
    seen: set[Any] = set()
    first = []
    for at, graph in enumerate(X):
        own = {
            (factor["template"], name)
            for factor in factors_of(graph)
            for name in (None, *factor["attributes"])
        }
        if not own <= seen:
            seen |= own
            first.append(at)
    return first


def plain_list(labels: Any) -> list[Any]:
    """Labels as a list."""
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def truths_of(X: list[Any]) -> list[list[Any]]:
    """The true states that graphs have in themselves."""
    return [
        [v.get("truth") if isinstance(v, Mapping) else None for v in graph["variables"]]
        for graph in X
    ]


def state_names(variable: Any) -> list[Any] | None:
    """The labels of the states of a variable, if they have any."""
    states = variable.get("states") if isinstance(variable, Mapping) else variable
    if isinstance(states, (list, tuple, np.ndarray)):
        return [plain_label(label) for label in plain_list(states)]
    return None


def named_states(graph: Mapping[str, Any], states: list[int]) -> np.ndarray:
    """The states of the variables of a graph by the labels that they have there."""
    names = [state_names(variable) for variable in graph["variables"]]
    if all(own is None for own in names):
        return np.array(states, dtype=np.int64)
    pairs = zip(names, states, strict=True)
    return label_array([state if own is None else own[state] for own, state in pairs])


def graph_lines(
    X: list[Any], y: Any = None, weights: Any = None, by_state: dict[Any, float] | None = None
) -> str:
    """Graphs as the lines of a file. The costs of variables are multiplied by what their true states count."""
    if y is not None and len(y) != len(X):
        raise ValueError(f"X has {len(X)} graphs and y has {len(y)}")
    lines = []
    for i, graph in enumerate(X):
        try:
            line = graph_line(graph, None if y is None else plain_list(y[i]), by_state)
            weight = graph.get("weight") if weights is None else float(weights[i])
            if weight is not None:
                line["weight"] = weight
            lines.append(json.dumps(line, default=plain, allow_nan=False))
        except KeyError as error:
            raise ValueError(f"graph {i} has no {error.args[0]!r} where one is needed") from None
        except (TypeError, ValueError) as error:
            raise located(f"graph {i}", error) from None
    return "\n".join(lines) + "\n" if lines else ""


def graph_line(
    graph: Any, truth: list[Any] | None, by_state: dict[Any, float] | None = None
) -> dict[str, Any]:
    """A graph as a line of a file."""
    if not isinstance(graph, Mapping):
        raise TypeError(f"a graph is a dictionary, not {type(graph).__name__}")
    variables = [
        dict(variable) if isinstance(variable, Mapping) else {"states": variable}
        for variable in graph["variables"]
    ]
    if truth is not None:
        if len(truth) != len(variables):
            raise ValueError(f"it has {len(variables)} variables and {len(truth)} states")
        for variable, state in zip(variables, truth, strict=True):
            variable["truth"] = state
    for at, (variable, given) in enumerate(zip(variables, graph["variables"], strict=True)):
        if by_state is not None:
            weight = by_state.get(plain_label(variable.get("truth")), 1.0)
            variable["cost"] = float(variable.get("cost", 1.0)) * weight
        number_states(variable, state_names(given), at)
    factors = [number_patterns(own, graph["variables"]) for own in factors_of(graph)]
    return {"variables": variables, "factors": factors}


def number_patterns(factor: dict[str, Any], variables: Any) -> dict[str, Any]:
    """A factor with numbers in place of the labels of the states of its patterns."""
    if "patterns" not in factor:
        return factor
    names = [state_names(variables[variable]) for variable in factor["variables"]]
    rows = []
    for at, pattern in enumerate(factor["patterns"]):
        pattern = plain_list(pattern)
        if len(pattern) != len(names):
            raise ValueError(
                f"pattern {at} has {len(pattern)} states, but the factor has {len(names)} variables"
            )
        rows.append([number_state(state, own) for state, own in zip(pattern, names, strict=True)])
    return {**factor, "patterns": rows}


def number_state(state: Any, names: list[Any] | None) -> int | None:
    """The number of a state of a pattern; None stands for any state."""
    if state is None:
        return None
    state = plain_label(state)
    if names is None:
        return int(state) if isinstance(state, float) and int(state) == state else state
    if state not in names:
        raise ValueError(f"a pattern has the state {state!r}; there are {names!r}")
    return names.index(state)


def number_states(variable: dict[str, Any], names: list[Any] | None, at: int) -> None:
    """Puts numbers in place of the labels of states."""
    truth = plain_label(variable.get("truth"))
    if names is None:
        variable["states"] = int(variable["states"])
        if truth is not None:
            if not isinstance(truth, (int, float)) or int(truth) != truth:
                raise ValueError(
                    f"variable {at} has the state {truth!r}, but its states have numbers"
                )
            variable["truth"] = int(truth)
        return
    if len(set(names)) < len(names):
        raise ValueError(f"variable {at} has a state twice: {names!r}")
    variable["states"] = len(names)
    if "truth" in variable:
        if truth not in names:
            raise ValueError(f"variable {at} has no state {truth!r}; there are {names!r}")
        variable["truth"] = names.index(truth)


def factors_of(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Factors with attributes by name; a list of numbers has the names 0, 1, …"""
    factors = []
    for factor in graph.get("factors", ()):
        attributes = factor.get("attributes", {})
        if not isinstance(attributes, Mapping):
            attributes = {str(at): float(value) for at, value in enumerate(attributes)}
        variables = [int(variable) for variable in factor["variables"]]
        named = {"template": str(factor["template"]), "variables": variables}
        own = {**named, "attributes": dict(attributes)}
        unknown = set(factor) - {"template", "variables", "attributes", "patterns", "counting"}
        if unknown:
            raise ValueError(f"a factor has {min(unknown, key=str)!r}, which is not known")
        own.update({name: factor[name] for name in ("patterns", "counting") if name in factor})
        factors.append(own)
    return factors


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no number")
