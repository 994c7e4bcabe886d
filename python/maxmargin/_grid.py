"""Images as graphs of their pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._certificate import Certificate, Pruning
from ._graph import NodeLabels
from ._inputs import one_each
from ._pairwise import GraphSVM
from ._potts import PottsSVM
from ._types import ClassWeight, PathLike

#: What pairs of neighbouring labels are worth.
PAIRWISE = ("directional", "symmetric", "potts")


def grid_edges(shape: tuple[int, int], neighbours: int = 4) -> np.ndarray:
    """The edges between neighbouring pixels of an image, for :class:`GraphSVM`.

    Parameters
    ----------
    shape : tuple (height, width)
        The size of the image. Pixels are numbered row by row, as ``image.reshape(-1, features)`` has
        them.
    neighbours : {4, 8}, default=4
        Whether pixels that touch at a corner are neighbours, too.

    Returns
    -------
    ndarray of shape (edges, 3)
        For each edge its first pixel, its second one, and its direction: 0 to the right, 1 down, 2 down
        and right, 3 down and left. :class:`PottsSVM` takes the first two columns.

    Examples
    --------
    >>> from maxmargin import grid_edges
    >>> grid_edges((2, 2)).tolist()
    [[0, 1, 0], [2, 3, 0], [0, 2, 1], [1, 3, 1]]
    """
    if neighbours not in (4, 8):
        raise ValueError(f"neighbours is {neighbours!r}; it must be 4 or 8")
    height, width = (int(side) for side in shape)
    pixels = np.arange(height * width, dtype=np.int64).reshape(height, width)
    ends = [(pixels[:, :-1], pixels[:, 1:]), (pixels[:-1], pixels[1:])]
    if neighbours == 8:
        ends += [(pixels[:-1, :-1], pixels[1:, 1:]), (pixels[:-1, 1:], pixels[1:, :-1])]
    rows = [
        np.stack([a.ravel(), b.ravel(), np.full(a.size, direction)], axis=1)
        for direction, (a, b) in enumerate(ends)
    ]
    return np.concatenate(rows)


class GridSVM(BaseEstimator):
    """Labels the pixels of images, which are arrays.

    It makes a graph of each image and trains a :class:`GraphSVM` or a :class:`PottsSVM`, which is
    then its ``estimator_``. Features of edges, such as contrasts, need these classes themselves;
    :func:`grid_edges` has the edges.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, max_seconds, validation, patience, n_jobs, random_state, warm_start, \
backend, verbose, callback, options
        As in :class:`ChainSVM`.
    pairwise : {"directional", "symmetric", "potts"}, default="directional"
        What pairs of neighbouring labels are worth: a table of weights, labels × labels, for each
        direction; one symmetric table for all directions; or one number that neighbours pay if their
        labels differ.
    neighbours : {4, 8}, default=4
        Whether pixels that touch at a corner are neighbours, too.
    inference : str, default="auto"
        How labels are found, as in :class:`GraphSVM` or :class:`PottsSVM`. Two labels with
        ``"potts"`` are decoded exactly by a minimum cut, more of them by expansion moves; two labels
        with tables by roof duality, which bounds the objective from above; more of them by
        max-product messages, a heuristic, or in small images by linear programs.
        ``certificate_.quality`` says what the gap is worth.
    loss : {"normalised", "hamming", "balanced"}, default="normalised"
        The share of pixels that are wrong; their number (with tables only); or balanced over the
        labels of each image (with ``"potts"`` only).
    class_weight : dict or "balanced", optional
        What the pixels of a label count in the loss, as in :class:`GraphSVM`.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each.

    Attributes
    ----------
    estimator_ : GraphSVM or PottsSVM
        The model of the graphs.
    classes_, unary_coef_, intercept_, pairwise_coef_, coef_, certificate_, history_, status_, n_iter_
        Those of ``estimator_``.

    Examples
    --------
    An image is an array of height × width × features, its labels an array of height × width, or lists of
    labels of any hashable type:

    >>> import numpy as np
    >>> from maxmargin import GridSVM
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat([[0], [1]], [top, 6 - top], axis=0).repeat(6, axis=1) for top in (2, 3, 4)]
    >>> X = [(labels + rng.normal(scale=0.5, size=labels.shape))[:, :, None] for labels in y]
    >>> model = GridSVM(lam=0.01).fit(X, y)
    >>> model.predict(X)[0].shape, model.score(X, y) > 0.95
    ((6, 6), True)
    >>> model.pairwise_coef_.shape, model.certificate_.quality
    ((2, 1, 2, 2), 'upper-bound')
    """

    estimator_: Any

    def __init__(
        self,
        lam: float | str | None = "scale",
        *,
        C: float | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: str = "auto",
        pairwise: str = "directional",
        neighbours: int = 4,
        inference: str = "auto",
        loss: str = "normalised",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        given = locals()
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _estimator(self) -> NodeLabels:
        """The estimator for graphs, before it is fitted."""
        if self.pairwise not in PAIRWISE:
            raise ValueError(f"pairwise is {self.pairwise!r}; known are {list(PAIRWISE)}")
        own = {name: value for name, value in self.get_params().items() if name != "neighbours"}
        if own.pop("pairwise") == "potts":
            return PottsSVM(**own)
        symmetric = self.pairwise == "symmetric"
        return GraphSVM(**own, pairwise="symmetric" if symmetric else "directed")

    def _graphs(self, X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Images as graphs."""
        graphs = []
        for at, image in enumerate(X):
            image = np.asarray(image)
            if image.ndim == 2:
                image = image[:, :, None]
            if image.ndim != 3:
                raise ValueError(
                    f"image {at}: expected an array of height × width × features, found one of the "
                    f"shape {image.shape}"
                )
            edges = grid_edges(image.shape[:2], self.neighbours)
            if self.pairwise != "directional":
                edges = edges[:, :2]
            graphs.append((image.reshape(-1, image.shape[2]), edges))
        return graphs

    def _flat(self, X: Any, y: Any) -> list[Any]:
        """Labels pixel by pixel."""
        flat: list[Any] = []
        for at, (image, labels) in enumerate(
            zip(X, one_each("images", len(X), "y", y), strict=True)
        ):
            size = np.shape(image)[:2]
            if isinstance(labels, np.ndarray):
                if labels.shape != size:
                    raise ValueError(
                        f"image {at} has {size[0]} × {size[1]} pixels, and labels of the shape "
                        f"{labels.shape}"
                    )
                flat.append(labels.ravel())
                continue
            # Labels may be tuples, which NumPy would take for one dimension more.
            rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in labels]
            if (len(rows), *{len(row) for row in rows}) != size:
                raise ValueError(
                    f"image {at} has {size[0]} × {size[1]} pixels, and y has {len(rows)} rows of "
                    f"{sorted({len(row) for row in rows})} labels"
                )
            flat.append([label for row in rows for label in row])
        return flat

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> GridSVM:
        """Trains on labelled images.

        Parameters
        ----------
        X : list of arrays
            An array of height × width × features for each image, or of height × width if there is one
            feature. Images may have different sizes.
        y : list of arrays
            The labels of each image, height × width.
        sample_weight : array-like, optional
            A positive weight for each image.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        if y is None and self.backend is not None:
            from .distributed._fit import loaders_of

            parts = [_ImageLoader(self, load) for load in loaders_of(X)]
            self.estimator_ = self._estimator()
            self.estimator_.fit(parts, None, sample_weight, validation=validation)
            return self
        X = list(X)
        graphs, flat = self._graphs(X), self._flat(X, y)
        if validation is not None:
            own = list(validation[0])
            validation = (self._graphs(own), self._flat(own, validation[1]))
        keep = self.warm_start and hasattr(self, "estimator_")
        estimator = self.estimator_ if keep else self._estimator()
        self.estimator_ = estimator.set_params(**self._estimator().get_params())
        self.estimator_.fit(graphs, flat, sample_weight, validation=validation)
        return self

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None
    ) -> GridSVM:
        """Trains on these images and all that were given to ``partial_fit`` before, as in :class:`ChainSVM`."""
        X = list(X)
        graphs, flat = self._graphs(X), self._flat(X, y)
        estimator = getattr(self, "estimator_", None) or self._estimator()
        estimator = estimator.set_params(**self._estimator().get_params())
        self.estimator_ = estimator.partial_fit(graphs, flat, sample_weight, classes=classes)
        return self

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def predict(self, X: Any) -> list[np.ndarray]:
        """The labels of each image, height × width."""
        X = list(X)
        found = self._fitted().predict(self._graphs(X))
        return [labels.reshape(np.shape(image)[:2]) for labels, image in zip(found, X, strict=True)]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """For each image the scores of labels (height × width × labels), without those of pairs."""
        X = list(X)
        found = self._fitted().decision_function(self._graphs(X))
        return [
            scores.reshape(*np.shape(image)[:2], -1) for scores, image in zip(found, X, strict=True)
        ]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of pixels whose label is right."""
        X = list(X)
        return self._fitted().score(self._graphs(X), self._flat(X, y), sample_weight)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> list[str]:
        """Computes the certificate again, from the images it was trained on; an empty list if it holds."""
        X = list(X)
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._fitted().verify(self._graphs(X), self._flat(X, y), **extra)

    def prune(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        cost: float | str | None = None,
        keep: float | None = None,
        below: float | None = None,
    ) -> Pruning:
        """Sets small weights to zero, as :meth:`GraphSVM.prune` does."""
        X = list(X)
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        data = self._graphs(X), self._flat(X, y)
        return self._fitted().prune(*data, cost=cost, keep=keep, below=below, **extra)

    def to_report(self, path: PathLike, title: str | None = None) -> None:
        """Writes a self-contained HTML page about the training."""
        self._fitted().to_report(path, title)

    def save(self, path: PathLike, *, dual: bool = True) -> None:
        """Writes ``estimator_`` to a file; ``maxmargin.load`` reads it as a model of graphs."""
        self._fitted().save(path, dual=dual)

    @property
    def certificate_(self) -> Certificate:
        """What the training has proven."""
        return self._fitted().certificate_

    @property
    def classes_(self) -> np.ndarray:
        """The labels."""
        return self._fitted().classes_

    @property
    def coef_(self) -> np.ndarray:
        """All weights."""
        return self._fitted().coef_

    @property
    def unary_coef_(self) -> np.ndarray:
        """The weights of labels (labels × features)."""
        return self._fitted().unary_coef_

    @property
    def intercept_(self) -> np.ndarray:
        """The constants of labels."""
        return self._fitted().intercept_

    @property
    def pairwise_coef_(self) -> np.ndarray:
        """What pairs of neighbouring labels are worth, as in ``estimator_``."""
        return self._fitted().pairwise_coef_

    @property
    def history_(self) -> np.ndarray:
        """How the training went."""
        return self._fitted().history_

    @property
    def status_(self) -> str:
        """Why the training ended."""
        return self._fitted().status_

    @property
    def n_iter_(self) -> int:
        """Number of passes."""
        return self._fitted().n_iter_


class _ImageLoader:
    """Loads the images of a worker as graphs."""

    def __init__(self, grid: GridSVM, load: Any) -> None:
        self.form = {"neighbours": grid.neighbours, "pairwise": grid.pairwise}
        self.load = load

    def __call__(self) -> Any:
        from .distributed._loads import examples_of

        X, y, extra = examples_of(self.load())
        grid, X = GridSVM(**self.form), list(X)
        return grid._graphs(X), grid._flat(X, y), extra
