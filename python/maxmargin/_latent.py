"""Latent variables: outputs of which a part is never seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ._base import ConvergenceWarning
from ._certificate import Certificate
from ._settings import number, whole_number


@dataclass(frozen=True)
class Round:
    """A round of :class:`LatentSVM`.

    Attributes
    ----------
    objective : float
        The latent objective after the round.
    bound : float
        The convex objective that the round has minimised, at its weights. It is at least ``objective``.
    changed : int
        How many examples got other latent variables by the weights of the round.
    certificate : Certificate
        How far ``bound`` is from the least possible one.
    """

    objective: float
    bound: float
    changed: int
    certificate: Certificate


class LatentSVM(BaseEstimator):
    """Trains an estimator on outputs of which only a part is seen.

    An output z has a part that is seen, y, and a *latent* part, which no data show: to which kind of
    its class an example belongs, say, or the states of hidden nodes. With the loss of what is seen
    alone, it minimises

    λ/2 ‖w‖² + meanᵢ [ max_z (L(yᵢ, z) + ⟨w, φ(xᵢ, z)⟩) − max_{z seen as yᵢ} ⟨w, φ(xᵢ, z)⟩ ]

    by the concave-convex procedure: complete the outputs at the present weights, train on these, and
    repeat (Yu and Joachims, 2009). The objective is not convex, so what it ends at depends on where it
    begins; but every round is a convex problem with a certificate, and the objective never rises: a
    round that would raise it is taken back, and ends the training.

    Parameters
    ----------
    estimator : estimator
        What is trained in each round. It has ``fit(X, z)``, ``predict(X)``, ``complete(X, y)`` (the
        best outputs that are seen as y) and ``objective(X, z)``, and its loss looks at what is seen
        alone: :class:`GraphSVM` with ``visible``, or with hidden nodes of weight 0;
        :class:`StructuredSVM` with a structure that has a method ``complete(x, y, w)``.
    max_rounds : int, default=30
        Rounds at most.
    tol : float, default=0.01
        Stop when a round lowers the objective by less than this share of it.
    random_state : int, optional
        From what the first completion is drawn, where ``fit`` is given none.

    Attributes
    ----------
    estimator_ : estimator
        The estimator after the best round.
    certificate_ : Certificate
        That of the best round: of its convex problem, not of the latent one.
    rounds_ : list of Round
        All rounds that were kept.
    objective_ : float
        The latent objective.
    latent_ : list
        The completed outputs of the training data.

    Examples
    --------
    Points around 0 are "in", those on both sides are "out": no single weight can tell, but two states
    of "out" can, one for each side.

    >>> import numpy as np
    >>> from maxmargin import GraphSVM, LatentSVM
    >>> points = np.array([-3.0, -2.5, -0.5, 0.0, 0.4, 2.6, 3.1])
    >>> X = [(np.array([[x]]), []) for x in points]
    >>> y = [["out"], ["out"], ["in"], ["in"], ["in"], ["out"], ["out"]]
    >>> states = {"in": "in", "left": "out", "right": "out"}
    >>> first = [["left"], ["right"], ["in"], ["in"], ["in"], ["right"], ["right"]]
    >>> model = LatentSVM(GraphSVM(lam=0.01, visible=states)).fit(X, y, first)
    >>> [labels.tolist() for labels in model.predict(X)] == y
    True
    >>> [labels.tolist() for labels in model.predict_latent(X[:2])]
    [['left'], ['left']]
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_rounds: int = 30,
        tol: float = 0.01,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_rounds = max_rounds
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, first: Any = None, **extra: Any) -> LatentSVM:
        """Trains on outputs of which a part is seen.

        Parameters
        ----------
        X : list
            Inputs.
        y : list
            What is seen of the outputs, as ``estimator.complete`` takes it.
        first : list, optional
            Complete outputs to begin with. If there are none, ``estimator.draw(X, y, rng)`` draws them;
            :class:`GraphSVM` draws states at random.
        **extra
            More arguments of the estimator's ``fit``, such as ``node_weight``.

        Returns
        -------
        self
        """
        most, share = whole_number("max_rounds", self.max_rounds, 1), number("tol", self.tol)
        for method in ("complete", "objective"):
            if not callable(getattr(self.estimator, method, None)):
                raise TypeError(f"the estimator has no method {method}; see LatentSVM")
        X, y = list(X), list(y)
        latent = list(self._draw(X, y) if first is None else first)
        if not len(X) == len(y) == len(latent):
            raise ValueError(
                f"X has {len(X)} examples, y has {len(y)}, and {len(latent)} are completed"
            )
        self.rounds_: list[Round] = []
        self._keep(clone(self.estimator).fit(X, latent, **extra), X, y, latent, extra)
        for _ in range(most - 1):
            before = self.objective_
            if not self._train_again(X, y, extra):
                return self
            if before - self.objective_ <= share * abs(before):
                return self
        if most > 1:
            text = f"the objective still fell by more than tol={self.tol} after {most} rounds"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def _train_again(self, X: list[Any], y: list[Any], extra: dict[str, Any]) -> bool:
        """Makes a round from the present completion; returns whether it has lowered the objective."""
        before, latent = self.rounds_[-1], self.latent_
        if before.changed == 0:
            return False  # it would be the same convex problem again
        estimator = clone(self.estimator)
        if "lam" in estimator.get_params():
            # One objective for all rounds: rules such as "scale" may choose another λ in each of them.
            estimator.set_params(lam=before.certificate.lam)
            if estimator.get_params().get("C") is not None:
                estimator.set_params(C=None)
        estimator.fit(X, latent, **extra)
        if estimator.certificate_.primal > before.objective:
            return False  # it was not trained far enough to be of use
        self._keep(estimator, X, y, latent, extra)
        return True

    def _keep(
        self, estimator: Any, X: list[Any], y: list[Any], latent: list[Any], extra: dict[str, Any]
    ) -> None:
        """Takes over the estimator of a round, which was trained on ``latent``, and completes the outputs
        anew by its weights."""
        found = list(estimator.complete(X, y))
        changed = sum(not same(a, b) for a, b in zip(latent, found, strict=True))
        certificate = estimator.certificate_
        self.objective_ = float(estimator.objective(X, found, **extra))
        self.estimator_, self.latent_ = estimator, found
        self.rounds_.append(Round(self.objective_, certificate.primal, changed, certificate))

    def _draw(self, X: list[Any], y: list[Any]) -> Any:
        draw = getattr(self.estimator, "draw", None)
        if not callable(draw):
            raise ValueError("the estimator cannot draw a first completion; give one to fit")
        seed = 1 if self.random_state is None else self.random_state
        return draw(X, y, np.random.default_rng(seed))

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the best round."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.certificate_

    def predict_latent(self, X: Any) -> list[Any]:
        """The best complete outputs."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def predict(self, X: Any) -> list[Any]:
        """What is seen of the best outputs."""
        found = self.predict_latent(X)
        see = getattr(self.estimator_, "see", None)
        return [see(z) for z in found] if callable(see) else found

    def decision_function(self, X: Any) -> Any:
        """What the estimator's ``decision_function`` says: scores of complete outputs, or of states."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def partial_fit(self, X: Any, y: Any = None, **extra: Any) -> Any:
        """Not possible: each round completes all outputs anew, so that none of it can be kept."""
        raise NotImplementedError(
            "LatentSVM has no partial_fit: each round completes the outputs of all data anew; call fit with "
            "all of them"
        )

    def complete(self, X: Any, y: Any) -> list[Any]:
        """The best outputs that are seen as ``y``."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.complete(X, y)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> float:
        """The score of the estimator, of what is seen."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y, sample_weight, **extra)


def same(a: Any, b: Any) -> bool:
    """Whether two outputs are the same, of whatever type."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)
