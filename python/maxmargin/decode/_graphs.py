"""Best labels of graphs and trees, and minimum cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _maxmargin as native
from ._arrays import (
    Batch,
    Bounded,
    Cut,
    Decoded,
    Floats,
    Integers,
    Loss,
    Score,
    exactly,
    numbers,
    threads,
    whole,
)


def max_flow(
    source: ArrayLike,
    sink: ArrayLike,
    edges: ArrayLike,
    capacity: ArrayLike,
    back: ArrayLike = 0.0,
    *,
    n_jobs: int | None = -1,
) -> Cut:
    """A minimum cut between a source and a sink, exactly.

    Nodes on the source's side cost their capacity to the sink, the others their capacity from the
    source, and an edge (a, b) costs its capacity if a is on the source's side and b is not, and ``back``
    if b is and a is not. Of all minimum cuts, this is the one with the fewest nodes on the source's side.
    :func:`potts` is the same in terms of labels, and takes a loss.

    Parameters
    ----------
    source, sink : array of shape (N,) or (B, N)
        Capacities from the source to each node, and from each node to the sink.
    edges : array of whole numbers of shape (E, 2) or (B, E, 2)
        The two nodes of each edge; (−1, −1) is no edge.
    capacity, back : array of shape (E,) or (B, E), or number
        The capacity of each edge, and its capacity backwards.
    n_jobs : int, default=-1
        Threads among which the items of a batch are divided; −1 means all cores.

    Returns
    -------
    Cut
        ``source_side``, booleans of shape (N,) or (B, N), and ``value``, the maximum flow.

    Raises
    ------
    ValueError
        If a shape is wrong, or a capacity is negative, NaN or infinite.

    Examples
    --------
    >>> from maxmargin.decode import max_flow
    >>> side, value = max_flow([5, 0], [0, 4], [[0, 1]], 3)
    >>> side.tolist(), float(value)
    ([True, False], 3.0)
    """
    ties = numbers("source", source, "(N,)", "(B, N)")
    to_sink = exactly("sink", numbers("sink", sink), ties.shape)
    batch = Batch("source", ties[..., np.newaxis], "N", "1")
    pairs, count = _edges(edges, batch)
    sides, value, _ = native.decode_cuts(
        ties,
        to_sink,
        pairs,
        count,
        _of_edges("capacity", capacity, batch, count),
        _of_edges("back", back, batch, count),
        batch.items,
        threads(n_jobs),
        batch.is_batch,
    )
    return Cut(batch.outputs(sides, None).astype(np.bool_), batch.scored(value, None))


def potts(
    scores: ArrayLike,
    edges: ArrayLike,
    costs: ArrayLike,
    *,
    inference: str = "auto",
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
) -> Bounded:
    """Labels for the nodes of a graph whose neighbours tend to agree.

    Maximises Σᵥ scores[v, yᵥ] − Σ₍ᵤᵥ₎ costs[(u, v)]·[yᵤ ≠ yᵥ], plus the loss of y if there is a truth.
    With two labels and costs ≥ 0 the result is the best one, by a minimum cut.

    Parameters
    ----------
    scores : array of shape (N, K) or (B, N, K)
        A finite score for each node and label, of one graph or of a batch.
    edges : array of whole numbers of shape (E, 2) or (B, E, 2)
        The two nodes of each edge, of all graphs or of each; (−1, −1) is no edge.
    costs : array of shape (E,) or (B, E), or number
        What it costs if the ends of an edge have different labels; finite.
    inference : str, default="auto"
        ``"max-flow"`` (two labels, costs ≥ 0), ``"expansion"`` (costs ≥ 0), ``"roof-duality"`` (two
        labels), ``"lp"``, ``"icm"`` or ``"max-product"``. By default max-flow where it is possible, then
        expansion, then max-product.
    lengths : array of shape (B,), optional
        The number of nodes of each graph. Edges with nodes behind it are ignored.
    mask : array of booleans of shape (B, N), optional
        The same as a mask: true up to the length, then false.
    truth, loss, n_jobs
        As in :func:`viterbi`.

    Returns
    -------
    Bounded
        ``labels`` of shape (N,) or (B, N), ``score``, and ``bound``, which no labelling exceeds.

    Raises
    ------
    ValueError
        If a shape is wrong, if a number is NaN or infinite, or if the costs do not allow the inference.

    Examples
    --------
    >>> from maxmargin.decode import potts
    >>> scores = [[0, 2], [0.5, 0], [0, 2]]
    >>> potts(scores, [[0, 1], [1, 2]], 1.0).labels.tolist()
    [1, 1, 1]
    >>> potts(scores, [[0, 1], [1, 2]], 0.1).labels.tolist()
    [1, 0, 1]
    """
    batch = Batch("scores", scores, "N", "K")
    pairs, count = _edges(edges, batch)
    table, is_share = batch.loss(loss, truth)
    found = native.decode_potts(
        batch.scores,
        pairs,
        count,
        _of_edges("costs", costs, batch, count),
        inference,
        batch.lengths(lengths, mask),
        batch.truth(truth),
        table,
        is_share,
        threads(n_jobs),
        batch.is_batch,
    )
    return _bounded(batch, found, None)


def tree(
    scores: ArrayLike,
    parents: ArrayLike,
    transitions: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
) -> Decoded:
    """The best labels of the nodes of a tree, or of several trees, exactly.

    Maximises Σᵥ scores[v, yᵥ] + Σᵥ transitions[y of v's parent, yᵥ], plus the loss of y if there is a
    truth.

    Parameters
    ----------
    scores : array of shape (N, K) or (B, N, K)
        A score for each node and label, of one tree or of a batch; −inf forbids.
    parents : array of whole numbers of shape (N,) or (B, N)
        The parent of each node; −1 for roots.
    transitions : array of shape (K, K), (N, K, K) or (B, N, K, K)
        The score of the label of a parent (row) with the label of its child (column): one table for all
        nodes, or one for each child; −inf forbids.
    lengths, mask, truth, loss, n_jobs
        As in :func:`viterbi`.

    Returns
    -------
    Decoded
        ``labels`` of shape (N,) or (B, N), and ``score``.

    Raises
    ------
    ValueError
        If a shape is wrong, if a number is NaN or +inf, if parents form a cycle, or if all labellings
        are forbidden.

    Examples
    --------
    >>> from maxmargin.decode import tree
    >>> labels, score = tree([[0, 1], [0, 0], [2, 0]], [-1, 0, 0], [[1, 0], [0, 1]])
    >>> labels.tolist(), float(score)
    ([0, 0, 0], 4.0)
    """
    return ranked_trees(
        None, scores, parents, transitions, lengths=lengths, mask=mask, truth=truth, loss=loss,
        n_jobs=n_jobs,
    )  # fmt: skip


def ranked_trees(
    answers: int | None, scores: Any, parents: Any, transitions: Any, **others: Any
) -> Decoded:
    batch = Batch("scores", scores, "N", "K")
    above = whole("parents", parents, "(N,)", "(B, N)")
    shapes = sorted({(batch.places,), batch.shape(batch.places)})
    exactly("parents", above, *shapes)
    if (above < -1).any() or (above >= batch.places).any():
        wrong = above[(above < -1) | (above >= batch.places)][0]
        raise ValueError(
            f"a parent is {wrong}; nodes go from 0 to {batch.places - 1}, roots have -1"
        )
    children = np.broadcast_to(np.arange(batch.places), above.shape)
    edges = np.stack([above, np.where(above < 0, -1, children)], axis=-1)
    found = ranked_graphs(
        answers, batch.scores if batch.is_batch else batch.scores[0], edges,
        numbers("transitions", transitions), inference="max-sum", tables_name="transitions", **others
    )  # fmt: skip
    return Decoded(found.labels, found.score)


def factor_graph(
    scores: ArrayLike | Sequence[ArrayLike],
    factors: ArrayLike | Sequence[Sequence[int]],
    tables: ArrayLike | Sequence[ArrayLike],
    *,
    states: ArrayLike | None = None,
    inference: str = "auto",
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
) -> Bounded:
    """States for the variables of a factor graph.

    Maximises Σᵥ scores[v, yᵥ] + Σ_c tables[c][states of the variables of c], plus the loss of y if there
    is a truth. Without cycles the result is the best one.

    Parameters
    ----------
    scores : array of shape (N, K) or (B, N, K), or list of arrays
        A score for each variable and state, of one graph or of a batch. A list has an array for each
        variable of a single graph, whose numbers of states may differ.
    factors : array of whole numbers of shape (E, 2) or (B, E, 2), or list of tuples
        The variables of each factor: two each as an array, in which (−1, −1) is no factor, or two or
        more each as a list, the same for all items.
    tables : array of shape (K, K), (E, K, K) or (B, E, K, K), or list of arrays
        The scores of joint states: one table for all factors, or one for each. A list has an array for
        each factor, with a dimension for each of its variables, and one before them in a batch whose
        items differ. If factors are a list, tables must be one.
    states : array of whole numbers of shape (N,), optional
        Numbers of states of variables that have fewer than K; what is behind them is ignored.
    inference : str, default="auto"
        ``"max-sum"`` (exact, without cycles), ``"enumerate"`` (exact, small graphs), ``"roof-duality"``
        (two states, two variables per factor), ``"lp"`` or ``"max-product"``. By default the first that
        the graph allows. Scores of −inf forbid; they are for max-sum and enumerate.
    lengths : array of shape (B,), optional
        The number of variables of each graph. Factors of a pair with variables behind it are ignored.
    mask : array of booleans of shape (B, N), optional
        The same as a mask: true up to the length, then false.
    truth, loss, n_jobs
        As in :func:`viterbi`.

    Returns
    -------
    Bounded
        ``labels`` of shape (N,) or (B, N), ``score``, and ``bound``, which no labelling exceeds.

    Raises
    ------
    ValueError
        If a shape is wrong, if a number is NaN or +inf, if the graph does not allow the inference, or if
        all labellings are forbidden.

    Examples
    --------
    >>> from maxmargin.decode import factor_graph
    >>> differ = [[0, 1], [1, 0]]
    >>> found = factor_graph([[0, 0], [0, 2], [0, 1]], [[0, 1], [1, 2], [2, 0]], differ)
    >>> found.labels.tolist(), float(found.score)
    ([0, 1, 1], 5.0)
    >>> import numpy as np
    >>> all_three = np.zeros((2, 3, 2)); all_three[1, 2, 0] = 5
    >>> factor_graph([[0, 0], [0, 0, 0], [1, 0]], [(0, 1, 2)], [all_three]).labels.tolist()
    [1, 2, 0]
    """
    return ranked_graphs(
        None, scores, factors, tables, states=states, inference=inference, lengths=lengths, mask=mask,
        truth=truth, loss=loss, n_jobs=n_jobs,
    )  # fmt: skip


def ranked_graphs(
    answers: int | None,
    scores: Any,
    factors: Any,
    tables: Any,
    *,
    states: Any = None,
    inference: str = "auto",
    lengths: Any = None,
    mask: Any = None,
    truth: Any = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
    tables_name: str = "tables",
) -> Bounded:
    scores, states = _padded(scores, states)
    batch = Batch("scores", scores, "N", "K")
    counts = _states(states, batch)
    pairs, count, scopes = None, 0, []
    if isinstance(tables, (list, tuple)) and not _is_array(tables):
        scopes = _scopes(factors, batch)
        if lengths is not None or mask is not None:
            raise ValueError(
                "a list of factors is that of all items; it has no lengths and no mask"
            )
        arrays, strides, step = _lists(tables, scopes, counts, batch)
    else:
        pairs, count = _edges(factors, batch, "factors")
        array = numbers(tables_name, tables)
        table = (batch.width, batch.width)
        shapes = [table, (count, *table), batch.shape(count, *table)]
        exactly(tables_name, array, *dict.fromkeys(shapes))
        size = batch.width**2
        step = size if array.ndim > 2 else 0
        arrays, strides = [array], [count * size if array.ndim > 3 else 0]
    table_of_loss, is_share = batch.loss(loss, truth)
    found = native.decode_graphs(
        batch.scores,
        counts,
        pairs,
        count,
        scopes,
        arrays,
        strides,
        step,
        inference,
        batch.lengths(lengths, mask),
        batch.truth(truth),
        table_of_loss,
        is_share,
        answers or 1,
        threads(n_jobs),
        batch.is_batch,
    )
    return _bounded(batch, found, answers)


def _bounded(batch: Batch, found: tuple[Integers, Floats, Floats], answers: int | None) -> Bounded:
    labels, score, bound = found
    scored: Score = batch.scored(score, answers)
    return Bounded(batch.outputs(labels, answers), scored, batch.scored(bound, None))


def _edges(edges: Any, batch: Batch, name: str = "edges") -> tuple[Integers, int]:
    """Pairs of nodes, and how many of them an item has."""
    found = np.asarray(edges)
    if found.size == 0 and found.ndim < 2:
        found = np.empty((0, 2), dtype=np.int64)
    pairs = whole(name, found, "(E, 2)", "(B, E, 2)")
    count = pairs.shape[-2]
    shapes = [(count, 2)] + ([(batch.items, count, 2)] if batch.is_batch else [])
    return exactly(name, pairs, *shapes), count


def _of_edges(name: str, value: Any, batch: Batch, count: int) -> Any:
    """A number for each edge, of all items or of each."""
    found = numbers(name, value)
    if found.ndim == 0:
        return np.full(count, found)
    return exactly(name, found, *sorted({(count,), batch.shape(count)}))


def _is_array(tables: Any) -> bool:
    """Whether nested lists are one array of tables, not a list of arrays."""
    return bool(tables) and not any(isinstance(table, np.ndarray) for table in tables)


def _padded(scores: Any, states: Any) -> tuple[Any, Any]:
    """Scores of variables with different numbers of states as one array."""
    if not isinstance(scores, (list, tuple)) or not scores:
        return scores, states
    rows = [np.asarray(row) for row in scores]
    lengths = [row.size for row in rows]
    if any(row.ndim != 1 for row in rows) or len(set(lengths)) == 1:
        return scores, states
    if states is not None:
        raise ValueError("states are told by the lengths of the scores already")
    padded = np.zeros((len(rows), max(lengths)))
    for to, row in zip(padded, rows, strict=True):
        to[: row.size] = row
    return padded, lengths


def _states(states: Any, batch: Batch) -> Integers | None:
    if states is None:
        return None
    counts = exactly("states", whole("states", states), (batch.places,))
    wrong = np.flatnonzero((counts < 1) | (counts > batch.width))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"variable {at} has {counts[at]} states; there are scores of {batch.width}"
        )
    return counts


def _scopes(factors: Any, batch: Batch) -> list[list[int]]:
    scopes = [[int(v) for v in scope] for scope in factors]
    for c, scope in enumerate(scopes):
        for v in scope:
            if not 0 <= v < batch.places:
                raise ValueError(
                    f"factor {c} is over variable {v}, but there are {batch.places} variables"
                )
    return scopes


def _lists(
    tables: Sequence[Any], scopes: list[list[int]], counts: Integers | None, batch: Batch
) -> tuple[list[Any], list[int], int]:
    """Tables of their own for all factors, and their distances from one item to the next."""
    if len(tables) != len(scopes):
        raise ValueError(f"there are {len(scopes)} factors and {len(tables)} tables")
    arrays, strides = [], []
    for c, (scope, raw) in enumerate(zip(scopes, tables, strict=True)):
        shape = tuple(batch.width if counts is None else int(counts[v]) for v in scope)
        array = numbers(f"table {c}", raw)
        exactly(f"table {c}", array, *dict.fromkeys([shape, batch.shape(*shape)]))
        arrays.append(array)
        strides.append(0 if array.ndim == len(shape) else int(np.prod(shape)))
    return arrays, strides, 0
