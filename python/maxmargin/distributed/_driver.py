"""The loop of a training on a cluster: the same for every engine.

A round broadcasts the weights, lets every shard propose, and commits the best mixture of what was proposed. If a
worker is lost, the round is given up: late commits of this round are refused, the worker starts again from its
checkpoint, and the weights are added up anew. Whatever each shard has committed by then is a point of the problem, so
the only trace is that the dual may have fallen.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _maxmargin as native
from ._backend import Backend, ClusterError, WorkerLost
from ._passes import Passes
from ._worker import aligned, pack, size_of

logger = logging.getLogger("maxmargin")

#: How often a lost worker is asked whether it is there again, and how long to wait in between.
ATTEMPTS = 300
PAUSE = 0.2

COLUMNS = [
    "passes",
    "visits",
    "oracle_calls",
    "effective_passes",
    "seconds",
    "oracle_seconds",
    "gap_seconds",
    "dual",
    "iterate_dual",
    "average_dual",
    "primal",
    "gap",
    "validation",
    "step_mean",
    "step_zero",
    "step_full",
]


class _Lost(Exception):
    """Shards whose workers have gone."""

    def __init__(self, shards: list[int], last: WorkerLost) -> None:
        super().__init__(str(last))
        self.shards = shards


@dataclass
class Outcome:
    """The result of a training."""

    lam: float
    weights: np.ndarray
    duals: list[Any]
    certificate: dict[str, Any]
    status: str
    columns: dict[str, np.ndarray]
    #: What happened in each round, for reports.
    rounds: list[dict[str, Any]]
    totals: tuple[int, int, float]


class Mean:
    """The average of the weights of all rounds.

    ``"uniform"`` counts all rounds the same. ``"weighted"`` counts round t about t³ times, so that early rounds are
    soon forgotten. Weights of rounds swing about the optimum, and their average is nearer to it: on OCR-large in 16
    shards, its gap after 20 rounds is 0.21 of the objective, and that of the last weights 0.35.

    >>> mean = Mean("uniform")
    >>> for w in ([0.0, 2.0], [2.0, 0.0]):
    ...     mean.add(np.array(w))
    >>> mean.value.tolist()
    [1.0, 1.0]
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.rounds = 0
        self.value: np.ndarray | None = None

    def add(self, w: np.ndarray) -> None:
        """Adds the weights of a round."""
        if self.rule == "none":
            return
        self.rounds += 1
        share = 1.0 / self.rounds if self.rule == "uniform" else 4.0 / (self.rounds + 3.0)
        self.value = w.copy() if self.value is None else self.value + share * (w - self.value)


@dataclass
class Driver:
    """A training on a cluster, from the start of the workers to the certificate.

    Parameters
    ----------
    backend : Backend
        The engine, whose workers are there.
    shards : int
        Their number.
    names : any
        What all shards have agreed on.
    settings_of : callable
        The settings of the estimator, given the total weight of all examples.
    rule : str
        How λ is found.
    tell : callable
        Is told of each round as a row of the history; ``False`` ends the training.
    """

    backend: Backend
    shards: int
    names: Any
    settings_of: Callable[[float], dict[str, Any]]
    rule: str
    tell: Callable[[dict[str, float]], Any]
    round: int = 0
    lam: float = 0.0
    losses: int = 0
    rounds: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> Outcome:
        """Trains until the gap is within the tolerance, or a limit is reached."""
        self.began = time.perf_counter()
        self._sent: tuple[int, np.ndarray] | None = None
        self._tag = 0
        self._rows: list[dict[str, float]] = []
        self._calls = 0
        local = self.backend.local_passes
        self._passes = Passes(None if local == "auto" else int(local))
        self._made = 0
        self._gaps: list[float] = []
        self._begin()
        self._recover(range(self.shards), begins=True)
        while True:
            status = None
            try:
                while status is None:
                    status = self._go_round()
            except KeyboardInterrupt:
                status = "interrupted"
                self._recover([])
            outcome = self._finish(status)
            if outcome is not None:
                return outcome

    # The start

    def _begin(self) -> None:
        seed = int(self.settings_of(1.0)["seed"]) if self.rule == "scale" else None
        about = self._stubbornly("about", self.names, seed)
        counts, dims, totals, squares, scales, bounds = zip(*about, strict=True)
        if len(set(dims)) > 1:
            raise ClusterError(f"shards have different numbers of features: {sorted(set(dims))}")
        self.n, self.total = sum(counts), float(sum(totals))
        self.settings = self.settings_of(self.total)
        self._mean = Mean(self.settings.get("average", "none"))
        if self.rule == "scale":
            # What the shards say, in the scale of all examples: λ is proportional to Σ cᵢ²/C².
            own = [
                total / self.total * scale * total**2 / square
                for total, scale, square in zip(totals, scales, squares, strict=True)
            ]
            self.lam = sum(own) * sum(squares) / self.total**2
        else:
            self.lam = float(self.settings.get("lambda", 1.0 / self.n))
        self.coordinator = native.Coordinator(self.lam, dims[0], bounds[0])
        # Rounds are averaged here, and not the steps of shards.
        self.local = json.dumps(self.settings | {"lambda": self.lam, "average": "none"})

    def _stubbornly(self, method: str, *arguments: Any) -> list[Any]:
        """Calls a method that needs no start on all workers, again and again until all of them have answered."""
        for _ in range(ATTEMPTS):
            try:
                return self._all(method, *arguments)
            except _Lost as lost:
                self._note_losses(lost)
                self._restart(lost.shards)
        raise ClusterError(f"workers were lost again and again before they could begin to {method}")

    # A round

    def _go_round(self) -> str | None:
        """Makes a round; returns the status if the training ends with it."""
        self.round += 1
        passes, begin = self._passes.next, time.perf_counter()
        about: dict[str, Any] = {"round": self.round, "passes": passes, "lost": []}
        try:
            # Let all shards propose, find the best mixture, and let them commit it.
            message = self._broadcast()
            answers = self._all("propose", self.round, message, passes)
            proposals = [proposal for proposal, _ in answers]
            before = self.coordinator.dual()
            # What each shard has read of the gap before it set to work, added up.
            gap = sum(reading[1] for _, reading, _ in proposals)
            each = self.coordinator.step([ways for ways, *_ in proposals])
            self._passes.note(self.coordinator.dual() - before, gap)
            self._gaps.append(gap)
            waits = self._all("commit", self.round, each=each)
            self._mean.add(self.coordinator.weights())
            # Keep what reports tell of the round.
            self._made += passes
            sent = self.shards * size_of(self._message)
            sent += sum(size_of(list(ways)) for ways, *_ in proposals)
            about |= {
                "shares": [sum(shares[:1]) for shares, _ in each],
                "corners": [sum(shares[1:2]) for shares, _ in each],
                "earlier": [sum(shares[2:]) for shares, _ in each],
                "gap_before": gap,
                "bytes": sent,
                "worker_seconds": [
                    own + wait for (_, own), wait in zip(answers, waits, strict=True)
                ],
            }
            self._calls = sum(calls for *_, calls in proposals)
            certificate = self._check() if self._is_due() else None
        except _Lost as lost:
            before = self.coordinator.dual()
            self._gaps.clear()
            self._recover(lost.shards)
            about |= {"lost": lost.shards, "dual_before": before}
            certificate = None
        # Report the round, and decide whether the training ends with it.
        about |= {"dual": self.coordinator.dual(), "seconds": time.perf_counter() - begin}
        about |= {"gap": certificate and certificate["gap"]}
        self.rounds.append(about)
        row = self._row(about, certificate)
        logger.info("round %d: dual %.6g, gap %s", self.round, row["dual"], about["gap"])
        goes_on = self.tell(row)
        if certificate is not None and certificate["gap"] <= self._tolerance(certificate["dual"]):
            return "converged"
        if goes_on is False:
            return "stopped"
        if self._made >= self.settings["max_passes"]:
            return "max-passes"
        if time.perf_counter() - self.began >= self.settings.get("max_seconds", np.inf):
            return "max-seconds"
        return None

    def _tolerance(self, dual: float) -> float:
        share = self.settings["relative_tolerance"]
        return max(self.settings["tolerance"], share / (1.0 - share) * max(dual, 0.0))

    def _is_due(self) -> bool:
        """Whether to make an exact pass for the gap: every few rounds, and when it seems to be small enough."""
        if self.round % self.backend.check_every == 0:
            return True
        # Gaps are known from before each round. The next one is likely to fall as the last one did.
        last = self._gaps[-1]
        fall = (
            min(last / self._gaps[-2], 1.0) if len(self._gaps) > 1 and self._gaps[-2] > 0 else 0.5
        )
        return last * fall <= self._tolerance(self.coordinator.dual())

    def _check(self) -> dict[str, Any]:
        """The certificate of the weights that the blocks of all shards add up to, or of the average of those of all
        rounds, if there is one with a smaller gap."""
        self._add_up(fence=0)
        self.weights: np.ndarray = self.coordinator.weights()
        mean, of_mean = self._mean.value, None
        if mean is not None:
            # Before the others, so that shards remember the gaps of the others.
            readings = self._all("check", self._broadcast(mean))
            of_mean = json.loads(self.coordinator.certificate(readings, mean))
        readings = self._all("check", self._broadcast())
        certificate: dict[str, Any] = json.loads(self.coordinator.certificate(readings))
        if mean is not None and of_mean is not None and of_mean["gap"] < certificate["gap"]:
            self.weights, certificate = mean, of_mean
        return certificate

    def _add_up(self, fence: int) -> int:
        """Adds up the weights of all shards; returns the latest round that one of them has committed."""
        states = self._all("state", fence)
        self.coordinator.add_up([(w, loss) for w, loss, _ in states])
        return max(round for *_, round in states)

    def _broadcast(self, w: np.ndarray | None = None) -> Any:
        self._tag += 1
        w = self.coordinator.sum() if w is None else w
        self._message = pack(self._tag, w, self._sent)
        self._sent = (self._tag, w)
        return self.backend.put(self._message)

    # The end

    def _finish(self, status: str) -> Outcome | None:
        """The result, or ``None`` if the loss of a worker has brought the gap above the tolerance again."""
        for _ in range(ATTEMPTS):
            try:
                certificate = self._check()
                duals = [native.Dual(*own) for own in self._all("dual", self.lam)]
                break
            except _Lost as lost:
                # The shard that has come back may be older, so it needs a new certificate.
                self._recover(lost.shards)
        else:
            raise ClusterError("workers were lost again and again at the end")
        converged = certificate["gap"] <= self._tolerance(certificate["dual"])
        if status == "converged" and not converged:
            return None
        status = "converged" if converged else status
        seconds = time.perf_counter() - self.began
        columns = {
            name: np.array([row[name] for row in self._rows], dtype=np.float64) for name in COLUMNS
        }
        totals = (self._made, self._calls, seconds)
        return Outcome(
            self.lam, self.weights, duals, certificate, status, columns, self.rounds, totals
        )

    def _row(self, about: dict[str, Any], certificate: dict[str, Any] | None) -> dict[str, float]:
        row = dict.fromkeys(COLUMNS, float("nan"))
        passes = self._made
        shares = about.get("shares", [])
        row |= {
            "passes": passes,
            "visits": passes * self.n,
            "oracle_calls": self._calls,
            "effective_passes": self._calls / self.n,
            "seconds": time.perf_counter() - self.began,
            "dual": about["dual"],
            "step_mean": float(np.mean(shares)) if len(shares) else 0.0,
            "step_zero": sum(share == 0.0 for share in shares),
            "step_full": sum(share == 1.0 for share in shares),
        }
        if certificate is not None:
            row |= {"primal": certificate["primal"], "gap": certificate["gap"]}
        self._rows.append(row)
        return row

    # Workers that come and go

    def _all(self, method: str, *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The answers of all workers to a call. Waits for all of them, even if one is lost."""
        tickets: list[Any] = []
        answers: list[Any] = []
        lost: list[int] = []
        last: WorkerLost | None = None
        for shard in range(self.shards):
            own = arguments if each is None else (*arguments, *each[shard])
            try:
                tickets.append(self.backend.call(shard, method, *own))
            except WorkerLost as error:
                tickets.append(None)
                lost.append(shard)
                last = error
        for shard, ticket in enumerate(tickets):
            if ticket is None:
                continue
            try:
                answers.append(aligned(self.backend.answer(ticket)))
            except WorkerLost as error:
                lost.append(shard)
                last = error
        if last is not None:
            raise _Lost(sorted(lost), last)
        return answers

    def _note_losses(self, lost: _Lost) -> None:
        self.losses += len(lost.shards)
        logger.warning("workers of the shards %s were lost: %s", lost.shards, lost)
        if self.losses > self.backend.max_losses:
            raise ClusterError(
                f"workers were lost {self.losses} times, more than max_losses={self.backend.max_losses}"
                f"; the last time: {lost}"
            )

    def _restart(self, shards: Sequence[int]) -> None:
        for shard in shards:
            try:
                self.backend.restart(shard)
            except WorkerLost:
                logger.info("the worker of shard %d is not there yet", shard)
        time.sleep(PAUSE)

    def _recover(self, shards: Sequence[int], begins: bool = False) -> None:
        """Gets all shards going again, and adds up what they have committed."""
        if not begins and shards:
            self._note_losses(_Lost(list(shards), WorkerLost("no answer")))
            self._restart(shards)
        self._sent = None
        for _ in range(ATTEMPTS):
            try:
                self._all("start", self.names, self.local, self.lam, self.total)
                self.round = max(self.round, self._add_up(fence=self.round + 1))
                self.coordinator.forget()
                return
            except _Lost as lost:
                self._restart(lost.shards)
        raise ClusterError(f"the workers of the shards {list(shards)} do not come back")
