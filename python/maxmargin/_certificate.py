"""What is proven of a model, and what pruning has cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._html import facts


@dataclass(frozen=True)
class Certificate:
    """A proof of how good a model is: no weights have an objective below ``dual``.

    Attributes
    ----------
    lam : float
        The regularization strength λ that was trained with.
    primal : float
        The objective λ/2 ‖w‖² + mean structured hinge loss of the weights.
    dual : float
        A lower bound of the objective of any weights.
    gap : float
        ``primal - dual``: how far from the optimum the weights can be at most.
    quality : str
        What the gap is a bound of: ``"exact"``, ``"upper-bound"`` (the problem was relaxed),
        ``"heuristic"`` (the true gap may be larger), ``"unfinished"`` (there was no time to compute all
        of it: the true gap may be larger), or ``"unproven"`` (it proves nothing).
    problem : str
        The problem that was solved: the structured SVM, its relaxation, or one with soft constraints.
    missed : float or None
        Where the quality is ``"heuristic"`` and it is known: how much decoding may have missed. The true objective of
        the weights then lies between ``primal`` and ``primal + missed``, and the true gap is at most ``gap + missed``.
    """

    lam: float
    primal: float
    dual: float
    gap: float
    quality: str = "exact"
    problem: str = "structured SVM with margin rescaling"
    missed: float | None = None

    @property
    def upper_bound(self) -> float:
        """What the true objective of the weights is proven to be at most: ``primal``, or ``primal + missed`` where
        decoding was a heuristic; infinite if nothing is proven."""
        if self.quality in ("exact", "upper-bound"):
            return self.primal
        if self.quality == "heuristic" and self.missed is not None:
            return self.primal + self.missed
        return float("inf")

    @property
    def proven_gap(self) -> float:
        """How far from the optimum of the problem itself the weights are proven to be at most: ``gap``, or
        ``gap + missed`` where decoding was a heuristic. It is infinite if nothing is proven of it, as with a
        relaxation, whose ``gap`` is about the relaxed problem."""
        if self.quality == "exact":
            return self.gap
        if self.quality == "heuristic" and self.missed is not None:
            return self.gap + self.missed
        return float("inf")

    @classmethod
    def _of(cls, meta: dict[str, Any], problem: str) -> Certificate:
        return cls(
            lam=meta["lambda"],
            primal=meta["primal"],
            dual=meta["dual"],
            gap=meta["gap"],
            quality=meta.get("quality", "exact"),
            problem=problem,
            missed=meta.get("missed"),
        )

    def _rows(self) -> list[tuple[str, str]]:
        """What notebooks show of it."""
        share = f" ({self.gap / abs(self.primal):.2%} of the objective)" if self.primal else ""
        objective = f"{self.primal:.6g}"
        if self.missed is not None:
            objective += f" to {self.upper_bound:.6g}"
        return [
            ("objective", objective),
            ("no weights below", f"{self.dual:.6g}"),
            ("gap", f"{self.gap:.4g}{share}"),
            ("worth", self.quality),
            ("λ", f"{self.lam:.4g}"),
            ("problem", self.problem),
        ]

    def _repr_html_(self) -> str:
        return facts("Certificate", self._rows())


@dataclass(frozen=True)
class Pruning:
    """What pruning has done to a model, and what it costs.

    Attributes
    ----------
    kept, zeroed : int
        How many weights are not zero, and how many became zero.
    below : float
        The weights that became zero were smaller than this.
    before, after : float
        The objective before and after.
    """

    kept: int
    zeroed: int
    below: float
    before: float
    after: float

    @property
    def cost(self) -> float:
        """By how much the objective has risen."""
        return self.after - self.before

    def _repr_html_(self) -> str:
        share = f" ({self.cost / abs(self.before):.2%})" if self.before else ""
        rows = [
            ("weights kept", str(self.kept)),
            ("weights set to zero", f"{self.zeroed}, below {self.below:.4g}"),
            ("objective before", f"{self.before:.6g}"),
            ("objective after", f"{self.after:.6g}"),
            ("cost", f"{self.cost:.4g}{share}"),
        ]
        return facts("Pruning", rows)
