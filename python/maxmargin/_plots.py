"""Pictures, for those who have matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = {
    "effective_passes": "effective passes",
    "oracle_calls": "oracle calls",
    "passes": "passes",
    "seconds": "seconds",
}


def new_axes(ax: Any, figsize: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The axes that are given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'maxmargin[plot]'") from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def convergence(history: np.ndarray, ax: Any, x: str) -> Any:
    """The duality gap, and the validation error if there is one."""
    if x not in NAMES:
        raise ValueError(f"x is {x!r}; known are {sorted(NAMES)}")
    ax = new_axes(ax)
    known = ~np.isnan(history["gap"])
    rows = history[known]
    ax.plot(rows[x], np.maximum(rows["gap"], 1e-300), marker="o", markersize=3, label="duality gap")
    if not np.isnan(rows["validation"]).all():
        ax.plot(rows[x], rows["validation"], marker="s", markersize=3, label="validation error")
        ax.legend()
    ax.set_yscale("log")
    ax.set_xlabel(NAMES[x])
    ax.set_ylabel("duality gap")
    ax.grid(True, alpha=0.3)
    return ax


def weights(estimator: Any, ax: Any, top: int) -> Any:
    """A heat-map of pairs of labels where there is one, else bars of the largest weights."""
    groups = getattr(estimator, "weights_", {})
    pairs = groups.get("transition")
    if pairs is not None and pairs.size and pairs.shape[0] <= 64:
        return heatmap(pairs, [str(label) for label in estimator.classes_], ax)
    flat = estimator._model.weights() if hasattr(estimator, "_model") else estimator.coef_
    names = estimator._weight_names()
    flat = flat[: len(names)]  # messages of soft training have no names
    order = np.argsort(-np.abs(flat), kind="stable")[:top][::-1]
    ax = new_axes(ax, (6.0, 0.25 * len(order) + 1.0))
    colours = ["tab:red" if flat[at] < 0 else "tab:blue" for at in order]
    ax.barh([names[at] for at in order], flat[order], color=colours)
    ax.set_xlabel("weight")
    return ax


def heatmap(matrix: np.ndarray, labels: list[str], ax: Any) -> Any:
    """Weights of one label after another."""
    ax = new_axes(ax, (6.0, 5.0))
    most = float(np.abs(matrix).max()) or 1.0
    image = ax.imshow(matrix, cmap="RdBu", vmin=-most, vmax=most)
    ax.set_xticks(range(len(labels)), labels, rotation=90)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlabel("next label")
    ax.set_ylabel("label")
    ax.figure.colorbar(image, ax=ax, label="weight")
    return ax


def path(path: Any, ax: Any, scores: Any) -> Any:
    """Primal and dual over λ, and scores if there are any."""
    ax = new_axes(ax)
    points = path.breakpoints
    ax.plot(points["lambda"], points["primal"], label="primal", drawstyle="steps-post")
    ax.plot(points["lambda"], points["dual"], label="dual", drawstyle="steps-post")
    ax.set_xscale("log")
    ax.set_xlabel("λ")
    ax.set_ylabel("objective")
    if scores is not None:
        other = ax.twinx()
        other.plot(points["lambda"], scores, color="tab:green", label="score")
        other.set_ylabel("score")
        lines = [*ax.get_lines(), *other.get_lines()]
        other.legend(lines, [line.get_label() for line in lines])
    else:
        ax.legend()
    return ax
