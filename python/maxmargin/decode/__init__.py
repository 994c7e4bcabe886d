"""Decoders on arrays: scores in, the best structure out.

=====================  =============================================================
:func:`viterbi`         labels of chains
:func:`assignment`      columns of rows
:func:`tree`            labels of the nodes of trees
:func:`potts`           labels of graphs whose neighbours tend to agree
:func:`max_flow`        minimum cuts
:func:`factor_graph`    states of the variables of factor graphs
:func:`top_k`           the k best outputs of chains, assignments, trees and graphs
=====================  =============================================================

Each takes one item or a batch, with lengths or a mask, and adds a loss to the scores if it is given a truth.
Batches are decoded on all cores, with Python's lock released.

>>> import numpy as np
>>> from maxmargin.decode import viterbi
>>> scores = np.zeros((2, 3, 2)); scores[0, :, 1] = 1
>>> viterbi(scores, lengths=[3, 2]).labels.tolist()
[[1, 1, 1], [0, 0, -1]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arrays import Bounded, Cut, Decoded, answers_of
from ._assignments import assignment, ranked_assignments
from ._chains import ranked_chains, viterbi
from ._graphs import factor_graph, max_flow, potts, ranked_graphs, ranked_trees, tree

_RANKED: dict[Any, Callable[..., Decoded | Bounded]] = {
    viterbi: ranked_chains,
    assignment: ranked_assignments,
    tree: ranked_trees,
    factor_graph: ranked_graphs,
}


def top_k(decoder: Callable[..., Any], k: int, /, *arguments: Any, **options: Any) -> Decoded:
    """The k best outputs, best first, exactly.

    Parameters
    ----------
    decoder : function
        :func:`viterbi`, :func:`assignment`, :func:`tree` or :func:`factor_graph`. Factor graphs with
        cycles must have at most 2²⁰ labellings, which are all tried.
    k : int
        How many outputs.
    *arguments, **options
        What ``decoder`` takes.

    Returns
    -------
    Decoded
        ``labels`` with one dimension more than those of ``decoder``, of length k, before the last:
        (k, T) or (B, k, T); and ``score`` of shape (k,) or (B, k). If there are fewer outputs, the rest
        are −1 with a score of −inf.

    Examples
    --------
    >>> from maxmargin.decode import top_k, viterbi
    >>> labels, score = top_k(viterbi, 3, [[2, 0], [0, 0.5]], [[0, -1], [-1, 0]])
    >>> labels.tolist(), score.tolist()
    ([[0, 0], [0, 1], [1, 1]], [2.0, 1.5, 0.5])
    """
    ranked = _RANKED.get(decoder)
    if ranked is None:
        known = ", ".join(function.__name__ for function in _RANKED)
        raise ValueError(f"top_k ranks the outputs of {known}, not of {decoder!r}")
    found = ranked(answers_of(k), *arguments, **options)
    return Decoded(found.labels, found.score)


__all__ = [
    "Bounded",
    "Cut",
    "Decoded",
    "assignment",
    "factor_graph",
    "max_flow",
    "potts",
    "top_k",
    "tree",
    "viterbi",
]
