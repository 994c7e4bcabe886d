"""The laws that a structure has to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _maxmargin as native
from ._oracle import Adapter
from ._settings import bound_arrays, seed


class BrokenLaw(NamedTuple):
    """A law that a structure breaks, as :func:`check_structure` has found.

    Attributes
    ----------
    law : str
        Its name: ``"oracle"``, ``"decode"``, ``"repeatable"``, ``"only-truth"`` or ``"batch"``, see
        :func:`check_structure`; ``"truth-loss"`` if a true output has a loss; ``"finite"`` if
        features are not finite numbers.
    example : int
        The first example that shows it.
    examples : int
        The number of examples that do.
    message : str
        What is wrong with that example, in words and numbers.
    """

    law: str
    example: int
    examples: int
    message: str

    def __str__(self) -> str:
        more = f" (and in {self.examples - 1} more)" if self.examples > 1 else ""
        return f"{self.law}: example {self.example}: {self.message}{more}"


def check_structure(
    structure: Any,
    X: Any,
    y: Any,
    *,
    outputs: Sequence[Sequence[Any]] | None = None,
    bounds: Any = None,
    n_examples: int = 20,
    n_weights: int = 6,
    random_state: Any = None,
    raise_errors: bool = True,
) -> list[BrokenLaw]:
    """Looks for mistakes in a structure of your own, at w = 0 and at random weights.

    A certificate of :class:`StructuredSVM` is as true as what ``decode``, ``features`` and ``loss`` say
    of each other. With ψ(ŷ) = features(x, y) − features(x, ŷ), these are the laws:

    - ``oracle``: no known output ŷ has a larger value loss(y, ŷ) − ⟨w, ψ(ŷ)⟩ than the answer of
      ``decode(x, y, w, True)``. Known are the truth, every answer at any of the weights, and ``outputs``.
    - ``decode``: no known output but the truth has a larger score −⟨w, ψ(ŷ)⟩ than the answer of
      ``decode(x, None, w, False)``.
    - ``repeatable``: ``decode`` has one answer for an example and weights.
    - ``only-truth``: some answer is something else than the truth.
    - ``batch``: ``decode_batch``, where there is one, has the answers of ``decode``.

    So these mistakes are found: a ``decode`` that always returns the truth, forgets the loss, minimises,
    or maximises something else than the features say. A structure whose ``quality`` is ``"heuristic"``
    promises nothing about its answers. An output that ``decode`` misses at all weights is known only if
    ``outputs`` has it.

    Parameters
    ----------
    structure : object
        As in :class:`StructuredSVM`.
    X, y : sequences
        Inputs and outputs.
    outputs : sequence of sequences, optional
        For each example, other outputs that are known to be possible.
    bounds : tuple, optional
        ``(lower, upper)``, as in :class:`StructuredSVM`: weights are tried within these.
    n_examples : int, default=20
        How many examples to look at, spread over the data.
    n_weights : int, default=6
        How many random weight vectors to try, of several lengths; their negatives are tried too.
    random_state : int, RandomState instance, optional
        The seed of the weights.
    raise_errors : bool, default=True
        Whether broken laws are an exception. Otherwise they are returned.

    Returns
    -------
    list of BrokenLaw
        The broken laws; empty if there are none.

    Raises
    ------
    ValueError
        If a law is broken; the message lists all of them.
    OracleError
        If the structure raises an exception, or a loss is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import check_structure
    >>> class Sign:
    ...     n_features = 1
    ...     def decode(self, x, y, w, loss_augmented):
    ...         return max((-1, 1), key=lambda s: s * x * w[0] + (loss_augmented and s != y))
    ...     def features(self, x, y):
    ...         return {0: x * y}
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    >>> X, y = [0.5, -2.0, 1.5], [1, -1, -1]
    >>> check_structure(Sign(), X, y)
    []
    >>> class Forgetful(Sign):
    ...     def decode(self, x, y, w, loss_augmented):
    ...         return max((-1, 1), key=lambda s: s * x * w[0])
    >>> [broken.law for broken in check_structure(Forgetful(), X, y, raise_errors=False)]
    ['oracle']
    """
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} examples and y has {len(y)}")
    if not X:
        raise ValueError("there are no examples")
    if outputs is not None and len(outputs) != len(X):
        raise ValueError(f"X has {len(X)} examples and outputs has {len(outputs)}")
    for name, number in (("n_examples", n_examples), ("n_weights", n_weights)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1")
    broken = _broken_laws(
        Adapter(structure, X, y), outputs, bounds, n_examples, n_weights, seed(random_state)
    )
    if broken and raise_errors:
        laws = "a law" if len(broken) == 1 else f"{len(broken)} laws"
        lines = [f"the structure breaks {laws} (see check_structure):", *map(str, broken)]
        raise ValueError("\n- ".join(lines))
    return broken


def _broken_laws(
    adapter: Adapter, outputs: Any, bounds: Any, n_examples: int, n_weights: int, seed: int
) -> list[BrokenLaw]:
    truths, losses = adapter.truths_and_losses()
    wrong = [i for i, loss in enumerate(losses) if loss != 0.0]
    found = []
    if wrong:
        message = f"the true output has the loss {losses[wrong[0]]}, not 0"
        found.append(BrokenLaw("truth-loss", wrong[0], len(wrong), message))
    described = [
        [adapter.described(i, output) for output in known] for i, known in enumerate(outputs or [])
    ]
    others = native.check_structure(
        adapter,
        truths,
        adapter.dim,
        described,
        n_examples,
        n_weights,
        seed,
        bounds=bound_arrays(bounds, adapter.dim),
        quality=getattr(adapter.structure, "quality", "exact"),
    )
    found += [BrokenLaw(*law) for law in others]
    return found + _broken_batches(adapter, n_examples, seed)


def _broken_batches(adapter: Adapter, n_examples: int, seed: int) -> list[BrokenLaw]:
    """Whether ``decode_batch`` answers otherwise than ``decode``, at w = 0 and at random weights."""
    if not callable(getattr(adapter.structure, "decode_batch", None)):
        return []
    # NumPy takes seeds of 32 bits.
    rng = np.random.RandomState(seed % 2**32)
    last = min(n_examples, len(adapter.X))
    wrong = set()
    for w in (np.zeros(adapter.dim), rng.normal(size=adapter.dim)):
        together = adapter.corners(0, last, w)
        for i, (indices, values, loss) in enumerate(together):
            alone = adapter.corner(i, w, True)
            same = np.array_equal(indices, alone[0]) and np.array_equal(values, alone[1])
            if not same or loss != alone[2]:
                wrong.add(i)
    if not wrong:
        return []
    message = "decode_batch has another answer than decode"
    return [BrokenLaw("batch", min(wrong), len(wrong), message)]
