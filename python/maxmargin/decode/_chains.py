"""Best labels of chains."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .. import _maxmargin as native
from ._arrays import Batch, Decoded, Loss, exactly, numbers, threads


def viterbi(
    scores: ArrayLike,
    transitions: ArrayLike | None = None,
    *,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
) -> Decoded:
    """The best labels of a chain, exactly.

    Maximises Σₜ scores[t, yₜ] + Σₜ transitions[yₜ, yₜ₊₁] + start[y₀] + end[y_T], plus the loss of y
    if there is a truth.

    Parameters
    ----------
    scores : array of shape (T, K) or (B, T, K)
        A score for each position and label, of one chain or of a batch. Arrays of single and double
        precision are read where they are if they are contiguous. −inf forbids a label at a position.
    transitions : array of shape (K, K), optional
        The score of a label (row) followed by another (column); −inf forbids it. The shape (T−1, K, K)
        gives a matrix for each step of a single chain; (B, K, K) or (B, T−1, K, K) give each chain of a
        batch its own.
    start, end : array of shape (K,) or (B, K), optional
        Scores of the first and of the last label; −inf forbids.
    lengths : array of shape (B,), optional
        The number of positions of each chain. What is behind it is ignored, and its label is −1.
    mask : array of booleans of shape (B, T), optional
        The same as a mask: true up to the length, then false.
    truth : array of whole numbers of shape (T,) or (B, T), optional
        True labels, whose loss is added to the scores.
    loss : {"hamming", "normalised"}, number or array of shape (K, K), default="hamming"
        The number of wrong labels, their share, a number for each wrong label, or a table of costs by
        true label (row) and label (column), with zeros on the diagonal.
    n_jobs : int, default=-1
        Threads among which the chains of a batch are divided; −1 means all cores. The result does not
        depend on it.

    Returns
    -------
    Decoded
        ``labels``, whole numbers of shape (T,) or (B, T), and ``score``, a number or an array of shape
        (B,), which includes the loss if there is a truth.

    Raises
    ------
    ValueError
        If a shape is wrong, if a number is NaN or +inf, or if all labellings are forbidden.

    Examples
    --------
    >>> from maxmargin.decode import viterbi
    >>> labels, score = viterbi([[2, 0], [0, 0.5], [3, 0]], [[0, -1], [-1, 0]])
    >>> labels.tolist(), float(score)
    ([0, 0, 0], 5.0)
    >>> viterbi([[2, 0], [0, 0.5], [3, 0]], truth=[0, 0, 0], loss=4).labels.tolist()
    [1, 1, 1]
    """
    return ranked_chains(
        None, scores, transitions, start=start, end=end, lengths=lengths, mask=mask, truth=truth,
        loss=loss, n_jobs=n_jobs,
    )  # fmt: skip


def ranked_chains(
    answers: int | None,
    scores: Any,
    transitions: Any = None,
    *,
    start: Any = None,
    end: Any = None,
    lengths: Any = None,
    mask: Any = None,
    truth: Any = None,
    loss: Loss = "hamming",
    n_jobs: int | None = -1,
) -> Decoded:
    batch = Batch("scores", scores, "T", "K")
    matrices, per_step = _transitions(batch, transitions)

    def ends(name: str, value: Any) -> Any:
        if value is None:
            return None
        shapes = {(batch.width,), batch.shape(batch.width)}
        return exactly(name, numbers(name, value), *sorted(shapes))

    table, is_share = batch.loss(loss, truth)
    labels, score, _ = native.decode_chains(
        batch.scores,
        matrices,
        per_step,
        ends("start", start),
        ends("end", end),
        batch.lengths(lengths, mask),
        batch.truth(truth),
        table,
        is_share,
        answers or 1,
        threads(n_jobs),
        batch.is_batch,
    )
    return Decoded(batch.outputs(labels, answers), batch.scored(score, answers))


def _transitions(batch: Batch, transitions: Any) -> tuple[Any, bool]:
    """Transition matrices, and whether there is one for each step."""
    if transitions is None:
        return None, False
    matrices = numbers("transitions", transitions)
    matrix = (batch.width, batch.width)
    steps = (max(batch.places - 1, 0), *matrix)
    shared, own, per_step = matrix, batch.shape(*matrix), batch.shape(*steps)
    exactly("transitions", matrices, *dict.fromkeys([shared, own, per_step]))
    return matrices, matrices.ndim == len(per_step)
