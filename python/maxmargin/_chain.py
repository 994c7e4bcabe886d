"""Sequences of labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._attributes import AttributeNames
from ._base import BaseSVM, Prepared, read_only, total
from ._chain_predict import PredictsSequences
from ._class_weight import class_weights
from ._columns import FromColumns, is_columns
from ._inputs import Sequences, split_labels
from ._kernels import kernel_part, restore_kernel, set_support, weighted_names
from ._labels import Labels, as_classes, loaded_classes
from ._settings import group_bounds, number, rescaling_name
from ._types import (
    Cache,
    Callback,
    ClassWeight,
    Direction,
    Kernel,
    Lam,
    Measure,
    OnInterrupt,
    Order,
    Rescaling,
    Solver,
)
from .io import SequenceFile

GROUPS = ("emission", "transition", "bias", "first", "last")


class ChainSVM(PredictsSequences, FromColumns, AttributeNames, BaseSVM):
    """Labels sequences: tagging, chunking, handwriting.

    The score of a labelling is a sum over tokens and their attributes, and over pairs of neighbours.
    Training minimises λ/2 ‖w‖² plus the mean structured hinge loss with Hamming loss, and ends with a
    proof of how far the result is from the optimum.

    Parameters
    ----------
    lam : float, "scale", "auto" or "1/n", default="scale"
        Regularization strength λ. ``"scale"`` fits the scale of features and losses, without a search;
        ``"auto"`` goes outwards from there to the one with the least error on the data given to ``fit``
        as ``validation``, or on parts of the examples that are held out for that alone; ``"1/n"`` is that
        of the papers.
    C : float, optional
        The same as in scikit-learn's linear SVMs: λ = 1/(C n).
    measure : str, optional
        What ``lam="auto"`` chooses λ by: ``"error"`` (of labels) or ``"subset"`` (of whole examples) for
        all models, ``"chunk-f1"`` for sequences, ``"micro-f1"`` for sets of labels, ``"aer"`` for
        matchings, ``"iou"`` for graphs, ``"pdj"`` for trees. By default the measure of the task.
    tol : float or str, default="1%"
        Training stops when the duality gap is at most this, or this share of the objective.
    max_passes : int, default=1000
        Training stops after so many passes over the data at the latest.
    solver : {"auto", "bcfw", "fw", "ssg", "adagrad", "perceptron", "n-slack", "1-slack", "eg"}, \
default="auto"
        The method; ``"auto"`` is right nearly always. Those after ``"fw"`` are there to compare with.
    order, direction, cache : str, optional
        Parts of the solver ``"bcfw"``, which is meant when one of them is given.
    loss : {"hamming", "normalised"}, default="hamming"
        The number of wrong labels, or that divided by the length of the sequence.
    label_weights : dict, optional
        What a mistake costs by true label; 1 for those that are not named.
    transition_scale : float or "auto", default="auto"
        The value of the constant features: transitions, biases, first and last labels. The larger it is, the less λ
        holds them back against attributes. ``"auto"`` follows the length of attributes (1 with a kernel); papers
        have 1. ``coef_`` and ``weights_`` are what is added to scores, that value included.
    standardise : bool or "auto", default="auto"
        Whether attributes are divided by their typical size before training; ``weights_`` stay in the units of
        ``X``. ``"auto"`` does so where a few attributes are so large that they hide others, and where all tokens
        have an attribute that lies far from 0, such as a year. Means of those far from 0 are subtracted before, if
        there are biases.
    class_weight : dict or "balanced", optional
        The same under scikit-learn's name; ``"balanced"`` gives n/(k count) to a label that occurs ``count`` times
        among n tokens with k labels.
    template : str, optional
        Makes attributes of tokens that are columns of text, such as ``("cat", "NN")``: ``"words"``
        looks at the words near by, their prefixes, suffixes and shapes, ``"words+pos"`` at parts of
        speech and other columns besides, ``"chunking"`` makes CRFsuite's attributes for chunking of
        words and parts of speech; anything else is the lines of a template in CRF++'s syntax. Faster
        than dictionaries made in Python. A :class:`SequenceFile` of columns has a template of its own
        if none is given here.
    without : sequence of str, default=()
        Groups of features to leave out: emission, transition, bias, first, last.
    kernel : {None, "linear", "poly", "rbf"}, default=None
        A kernel on tokens: ⟨a, b⟩, (gamma ⟨a, b⟩ + coef0)^degree, or exp(−gamma ‖a − b‖²).
    gamma : float or "scale", optional
        By default, and as ``"scale"``, 1/(d σ²), with the variance σ² of all d attributes.
    degree, coef0 : int and float, optional
        Of ``"poly"``; by default 3 and 1.
    kernel_bytes : int, optional
        Bytes that kernel values may take; by default a gigabyte.
    bounds : tuple or dict, optional
        Bounds ``(lower, upper)`` on all weights, or a dictionary of them by group:
        ``{"transition": (0, None)}``.
    max_seconds : float, optional
        Training stops after this time at the latest, counted from the call of ``fit``. The last
        pass, which computes the gap, is planned for; if it takes longer than planned, it is cut a
        second later.
    validation : float, optional
        The share of the data to hold out, to measure the error on while training.
    patience : int, optional
        Stop when the error on data held out has not improved in so many checks, and keep the best
        model. A tenth is held out unless ``validation`` says otherwise.
    n_jobs : int, optional
        Threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState, optional
        Seed of the order of examples; the same seed gives the same bits. By default 1.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last solution where the data are the same.
    backend : Backend, optional
        A cluster to train on, see :mod:`maxmargin.distributed`. By default, training happens here.
    verbose : int, default=0
        1 shows a progress bar (tqdm if installed), 2 a line for each gap, 3 for each pass.
    callback : callable, optional
        Called after each pass with a dictionary of figures; returning ``False`` stops the training.
    on_interrupt : {"raise", "keep"}, default="raise"
        What ctrl-C does. Either way the estimator has the model so far, with its true gap. ``"raise"`` then raises
        ``KeyboardInterrupt``, so that searches over parameters stop; ``"keep"`` warns.
    options : dict, optional
        Further settings under the names that the command line uses; unknown ones are refused.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters: outputs with a larger loss need a larger margin, or all outputs need the same
        margin and the loss multiplies what is missing. With ``"slack"``, the decoder is asked at several weights
        of the loss, and ``certificate_.missed`` bounds what that may have missed: the weights are within
        ``certificate_.proven_gap`` of the optimum.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray
        All weights, one after the other.
    attribute_names_ : list of str
        The names of the attributes: those given, or ``1``, ``2``, … for columns without names.
    weights_ : dict of ndarray
        The weights by group: ``emission`` (attributes × labels), ``transition`` (labels × labels),
        ``bias``, ``first``, ``last``; with a kernel, ``coefficients`` (inputs × labels) in place of
        the first.
    transition_scale_ : float
        The value that the features of all groups but the first have. λ holds back ``weights_`` of these
        groups divided by it.
    support_vectors_ : sparse matrix of shape (inputs, features)
        With a kernel only: the inputs that the model is a sum over.
    dual_coef_ : ndarray of shape (labels, inputs)
        With a kernel only: their coefficients.
    certificate_ : Certificate
        Primal, dual and gap.
    history_ : structured ndarray
        One row for each pass; what was not computed is NaN. Where corners are remembered, ``cache_hits`` and so on
        count how these have done.
    theory_ : dict or None
        With ``options={"diagnose": True}``: the constants of the rate theorems. ``history_`` then has the
        ``bound`` that a theorem gives, if one applies, and the ``pairwise_gap``.
    status_ : str
        Why training ended: ``"converged"``, ``"max-passes"``, ``"patience"``, ``"interrupted"``, …
    lam_curve_ : structured ndarray or None
        After ``lam="auto"``: every ``lam`` that was tried, and its ``error``.
    lam_source_ : dict
        Where λ comes from: its ``rule``, and what the rule has measured.
    n_iter_ : int
        Passes over the data.

    Examples
    --------
    Tokens are rows of numbers, dictionaries of attributes, or lists of attributes that are there:

    >>> from maxmargin import ChainSVM
    >>> X = [[{"word": "the"}, {"word": "cat", "length": 3}], [["word:cat"], ["word:the"]]]
    >>> y = [["DET", "N"], ["N", "DET"]]
    >>> tagger = ChainSVM(lam=0.01).fit(X, y)
    >>> tagger.predict([[{"word": "cat"}]])[0].tolist()
    ['N']
    >>> tagger.score(X, y)
    1.0

    Or columns of text, of which a template makes attributes:

    >>> X = [[("the", "DT"), ("cat", "NN")], [("cat", "NN"), ("purrs", "VBZ")]]
    >>> y = [["B-NP", "I-NP"], ["B-NP", "B-VP"]]
    >>> chunker = ChainSVM(lam=0.01, template="chunking").fit(X, y)
    >>> chunker.predict([[("the", "DT"), ("cat", "NN")]])[0].tolist()
    ['B-NP', 'I-NP']
    >>> chunker.attribute_names_[:3]
    ['w[0]=the', 'w[1]=cat', 'w[0]|w[1]=the|cat']

    With a kernel, whether two numbers have the same sign can be learned:

    >>> X = [[[1.0, 1.0], [-1.0, 1.0]], [[-1.0, -1.0], [1.0, -1.0]]]
    >>> y = [["same", "other"], ["same", "other"]]
    >>> kernel = ChainSVM(lam=0.01, kernel="rbf", gamma=0.5, without=["transition"]).fit(X, y)
    >>> kernel.score(X, y), kernel.support_vectors_.shape
    (1.0, (4, 2))
    """

    _kind: ClassVar[str] = "chain"
    _fewest_labels: ClassVar[int] = 2

    def __init__(
        self,
        lam: Lam = "scale",
        *,
        C: float | None = None,
        measure: Measure | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        loss: Literal["hamming", "normalised"] = "hamming",
        label_weights: Mapping[Any, float] | None = None,
        class_weight: ClassWeight = None,
        transition_scale: float | Literal["auto"] = "auto",
        standardise: bool | Literal["auto"] = "auto",
        template: str | None = None,
        without: Sequence[str] = (),
        kernel: Kernel | None = None,
        gamma: float | Literal["scale"] | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        kernel_bytes: int | None = None,
        bounds: Any = None,
        rescaling: Rescaling = "margin",
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        validation: Any = None,
    ) -> ChainSVM:
        """Trains on labelled sequences.

        Parameters
        ----------
        X : list
            One item per sequence: a matrix (NumPy, SciPy sparse, pandas) with a row per token, or a
            list of tokens, each a dictionary or a list of attributes. Or one matrix for all, with
            ``lengths``. Or a :class:`SequenceFile`, which needs no ``y``. On a cluster also a list of files, or
            a pattern such as ``"train/part-*.txt.gz"``; workers read them.
        y : list
            The labels of each sequence, of any hashable type; with ``lengths`` also one list for all.
        sample_weight : array-like, optional
            A positive weight for each sequence.
        lengths : array-like, optional
            The lengths of the sequences in one stacked matrix.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation, lengths=lengths)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        self._check_template()
        self._read_template = None
        lengths = extra.get("lengths")
        if isinstance(X, SequenceFile):
            return self._prepare_file(X, y, sample_weight)
        if is_columns(self.template, X):
            return self._prepare_columns(X, y, sample_weight, lengths)
        truth = split_labels(y, lengths)
        sequences = Sequences(X, lengths)
        if not len(sequences):
            raise ValueError("there are no sequences")
        weights, whole = total(sample_weight, len(sequences))
        labels = Labels(as_classes(chain(chain.from_iterable(truth), self._ahead())))
        if len(labels.classes) < self._fewest_labels:
            raise ValueError(f"there is nothing to learn from {len(labels.classes)} label")
        self._labels = labels
        self.classes_ = labels.classes
        attributes = self._new_attributes(sequences.width, sequences.names)
        names = labels.alphabet()
        data = sequences.fill(
            labels.encode_all(truth), names, attributes, grow=True, weights=weights
        )
        format = "crfsuite" if sequences.width is None or sequences.names else "svm-hmm"
        return Prepared(
            self._spec(len(attributes), data) | kernel_part(self, data, len(attributes)),
            data,
            names,
            attributes,
            format,
            whole,
            group_bounds(self.bounds),
        )

    def _spec(self, attributes: int, data: native.SequenceData | None = None) -> dict[str, Any]:
        if isinstance(self.without, str):
            raise ValueError(f"without is a list of groups; give [{self.without!r}]")
        unknown = set(self.without) - set(GROUPS)
        if unknown:
            raise ValueError(f"without: {sorted(unknown)} not known; there are {list(GROUPS)}")
        if self.loss not in ("normalised", "hamming"):
            raise ValueError(f"loss is {self.loss!r}; known are 'normalised' and 'hamming'")
        groups = {group: group not in self.without for group in GROUPS}
        groups["transition"] &= self._has_transitions()
        return {
            "kind": "chain",
            "rescaling": rescaling_name(self.rescaling),
            "shape": {
                "labels": len(self.classes_),
                "attributes": attributes,
                "groups": groups,
                "transition_scale": self._transition_scale(data),
            },
            "loss": {"normalised": self.loss == "normalised", "label_weights": self._costs(data)},
        }

    def _transition_scale(self, data: native.SequenceData | None) -> float:
        """The value of constant features; 1 where it would follow data that are not here."""
        if self.transition_scale != "auto":
            scale = number("transition_scale", self.transition_scale)
            if scale <= 0.0:
                raise ValueError(f"transition_scale is {scale}; it must be positive or 'auto'")
            return scale
        if data is None or self.kernel is not None or "emission" in self.without:
            return 1.0
        return data.transition_scale()

    def _fits_constants(self) -> bool:
        return bool(self.transition_scale == "auto")

    def _costs(self, data: native.SequenceData | None) -> list[float]:
        """What a mistake costs by true label; nothing if it is 1 for all."""
        if self.label_weights and self.class_weight is not None:
            raise ValueError("label_weights and class_weight say the same; give one of them")
        if self.label_weights:
            costs = [1.0] * len(self.classes_)
            for label, cost in self.label_weights.items():
                costs[int(self._labels.encode([label])[0])] = number("a label weight", cost)
            return costs
        if self.class_weight is None:
            return []
        numbers = np.empty(0, dtype=np.uint32)
        if data is not None:
            numbers = np.concatenate([np.asarray(own) for own in data.labels()])
        elif self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all data in one place; give the weights"
            )
        found = class_weights(self.class_weight, self._labels, numbers)
        return [] if found is None else found.tolist()

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.SequenceData:
        if isinstance(X, SequenceFile):
            return self._read_file(X, extra.get("labelled", False))
        lengths = extra.get("lengths")
        if is_columns(self.template, X):
            truth = None
            if y is not None or extra.get("labelled"):
                truth = split_labels(y)
            weights, _ = total(extra.get("sample_weight"), len(X))
            return self._column_examples(X, truth, weights)
        labels = None
        if y is not None or extra.get("labelled"):
            labels = self._labels.encode_all(split_labels(y, lengths), strict=False)
        sequences = Sequences(X, lengths)
        weights, _ = total(extra.get("sample_weight"), len(sequences))
        return self._fill(sequences, labels, weights)

    def _fill(
        self,
        sequences: Sequences,
        labels: tuple[np.ndarray, np.ndarray] | None = None,
        weights: np.ndarray | None = None,
    ) -> native.SequenceData:
        """Sequences for the fitted names."""
        data = sequences.fill(
            labels,
            self._labels.alphabet(),
            self._attributes(),
            grow=False,
            columns=self._columns_of(sequences.width, sequences.names),
            weights=weights,
        )
        self._check_known(data.unknown)
        return data

    @property
    def transition_scale_(self) -> float:
        """The value that the features of transitions, biases, first and last labels have."""
        check_is_fitted(self, "certificate_")
        shape = json.loads(self._model.meta())["spec"]["shape"]
        return float(shape.get("transition_scale", 1.0))

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        self._labels = Labels(loaded_classes(model.labels().list()))
        self.classes_ = self._labels.classes
        shape, loss = meta["spec"]["shape"], meta["spec"]["loss"]
        self.without = tuple(group for group in GROUPS if not shape["groups"][group])
        self.loss = "normalised" if loss["normalised"] else "hamming"
        self.transition_scale = shape.get("transition_scale", 1.0)
        restore_kernel(self, meta["spec"])
        self.__dict__.pop("_read_template", None)
        if meta.get("template"):
            built_in = meta["template"].get("built_in")
            lines = meta["template"]["lines"]
            self.template = built_in["name"] if built_in else "\n".join(lines)
        self._restore_attributes(model.attributes())

    def _set_weights(self) -> None:
        self.__dict__.pop("_weight_cache", None)
        set_support(self, len(self._attributes()) if self.kernel else 0)

    @property
    def coef_(self) -> np.ndarray:
        """What weights add to scores; copied out of the model when asked for, since there may be millions."""
        weights: np.ndarray | None = self.__dict__.get("_weight_cache")
        if weights is None:
            check_is_fitted(self, "certificate_")
            weights = self._weight_cache = self._model.weights()
        return read_only(weights)

    @coef_.setter
    def coef_(self, weights: np.ndarray) -> None:
        raise AttributeError("coef_ is read-only: the certificate is about these weights")

    @property
    def weights_(self) -> dict[str, np.ndarray]:
        """The weights by group, as views of all of them."""
        return self._groups(self.coef_)

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names: list[str] = []
        for group, start, stop, _ in self._model.groups():
            if start == stop:
                continue
            if group in ("emission", "coefficients"):
                names.extend(f"{a} → {label}" for a in weighted_names(self) for label in labels)
            elif group == "transition":
                names.extend(f"{a} → {b}" for a in labels for b in labels)
            else:
                names.extend(f"({group}) {label}" for label in labels)
        return names
