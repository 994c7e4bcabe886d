"""A user's script, for type checkers only: tests hold it against mypy and pyright. It is never run.

Lines that end in ``# wrong`` must be errors, and no others may be. Of estimators mypy knows less than pyright: their
parent is scikit-learn's, which has no types.
"""

from typing import Any

import numpy as np

import maxmargin
from maxmargin import ChainSVM, MulticlassSVM, StructuredSVM, regularization_path
from maxmargin.compat.sklearn_crfsuite import CRF

X: list[list[dict[str, Any]]] = [[{"word": "cat"}]]
y: list[list[str]] = [["N"]]

chain: ChainSVM = ChainSVM(lam="scale", solver="auto", order="gap", cache="on").fit(X, y)
gap: float = chain.certificate_.gap
weights: np.ndarray = chain.coef_
again: ChainSVM = ChainSVM.load("model")
more: ChainSVM = again.partial_fit(X, y)
pruned: maxmargin.Pruning = more.prune(X, y, cost="1%")
cost: float = pruned.cost
rows: MulticlassSVM = MulticlassSVM(C=1.0, class_weight="balanced").fit([[1.0]], ["a"])

path = regularization_path(MulticlassSVM(), [[1.0]], ["a"])
best: MulticlassSVM = path.best([[1.0]], ["a"])
bound: float = path.certificate_at(0.1).gap

loaded = maxmargin.load("model")
if isinstance(loaded, ChainSVM):
    tables: list[np.ndarray] = loaded.predict_marginals(X)

tags: list[list[str]] = CRF(c2=0.1).fit(X, y).predict(X)


class Sign:
    """A structure of one's own."""

    def decode(self, x: np.ndarray, y: int | None, w: np.ndarray, loss_augmented: bool) -> int:
        return 1

    def features(self, x: np.ndarray, y: int) -> np.ndarray:
        return y * x

    def loss(self, y: int, y_hat: int) -> float:
        return float(y != y_hat)


class NoLoss:
    """Half a structure."""

    def decode(self, x: np.ndarray, y: int | None, w: np.ndarray, loss_augmented: bool) -> int:
        return 1


StructuredSVM(Sign(), lam=0.1)
StructuredSVM(NoLoss(), lam=0.1)  # wrong
ChainSVM(lam="scales")  # wrong
ChainSVM(solver="simplex")  # wrong
ChainSVM(order="random")  # wrong
ChainSVM(on_interrupt="ignore")  # wrong
MulticlassSVM(class_weight="even")  # wrong
MulticlassSVM(rescaling="both")  # wrong
other: ChainSVM = path.best([[1.0]], ["a"])  # wrong, says pyright
short: str = chain.certificate_.gap  # wrong
