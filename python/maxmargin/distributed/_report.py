"""A page about the rounds of a training on a cluster."""

from __future__ import annotations

import html
import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .6rem;text-align:right}"
    "tr:nth-child(even){background:#f3f3f3}svg{width:100%;height:auto}"
    ".lost{color:#b00}"
)


def write_rounds(model: Any, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Writes a self-contained page about the rounds of a training on a cluster: dual and gap, the shares of
    proposals that were taken, the time of each worker, and which workers were lost.

    Parameters
    ----------
    model : estimator
        One that was fitted on a backend.
    path : path-like
        The page.
    title : str, optional
        Its title.
    """
    check_is_fitted(model, "certificate_")
    rounds = getattr(model, "rounds_", None)
    if not rounds:
        raise ValueError("the model was not trained in rounds; to_report writes a page about it")
    title = html.escape(title or f"{type(model).__name__} in {len(rounds)} rounds")
    c = model.certificate_
    sent = sum(about.get("bytes", 0) for about in rounds)
    lost = sum(len(about["lost"]) for about in rounds)
    told = (
        f"{model.status_}: primal {c.primal:.6g}, dual {c.dual:.6g}, gap {c.gap:.4g} ({c.quality}). "
        f"{sent / 1e6:.1f} MB were sent, and workers were lost {lost} times."
    )
    rows = "".join(map(_row, rounds))
    head = (
        "<th>round<th>passes<th>dual<th>gap before<th>gap<th>share, least to largest<th>of corners"
        "<th>seconds<th>by worker<th>MB<th>lost"
    )
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f"<style>{STYLE}</style><h1>{title}</h1><p>{html.escape(told)}</p>{_curve(rounds)}"
        f"<table><tr>{head}{rows}</table></html>\n"
    )
    temporary = f"{os.fspath(path)}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(temporary, path)


def _row(about: dict[str, Any]) -> str:
    shares = about.get("shares") or [0.0]
    workers = about.get("worker_seconds") or []
    gap = "" if about["gap"] is None else f"{about['gap']:.4g}"
    before = "" if "gap_before" not in about else f"{about['gap_before']:.4g}"
    corners = max(about.get("corners") or [0.0])
    each = " ".join(f"{seconds:.2f}" for seconds in workers)
    lost = ", ".join(map(str, about["lost"]))
    return (
        f"<tr><td>{about['round']}<td>{about['passes']}<td>{about['dual']:.6g}<td>{before}<td>{gap}"
        f"<td>{min(shares):.3f} to {max(shares):.3f}<td>{corners:.3f}<td>{about['seconds']:.2f}<td>{each}"
        f"<td>{about.get('bytes', 0) / 1e6:.2f}<td class=lost>{lost}"
    )


def _curve(rounds: list[dict[str, Any]]) -> str:
    """The dual by round as a line."""
    duals = [about["dual"] for about in rounds]
    low, high = min(duals), max(duals)
    span = (high - low) or 1.0
    width = max(1, len(duals) - 1)
    points = " ".join(
        f"{10 + 780 * at / width:.1f},{190 - 180 * (dual - low) / span:.1f}"
        for at, dual in enumerate(duals)
    )
    return (
        '<svg viewBox="0 0 800 200" role=img aria-label="dual by round">'
        f'<polyline fill=none stroke="#06c" stroke-width=2 points="{points}"/></svg>'
        f"<p>The dual by round, from {low:.6g} to {high:.6g}.</p>"
    )
