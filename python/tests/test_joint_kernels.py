"""Joint kernels, and slack rescaling of structures that are written in Python, against all outputs."""

import itertools

import numpy as np
import pytest

from maxmargin import JointKernelSVM, StructuredSVM


class Bits:
    """Three bits, each with a score of its own, and a score for neighbours that agree."""

    n_features = 7

    def outputs(self, x):
        return list(itertools.product((0, 1), repeat=3))

    def features(self, x, y):
        phi = np.zeros(7)
        for at, bit in enumerate(y):
            phi[2 * bit : 2 * bit + 2] += x[at]
            phi[4 + bit] += 1.0
        phi[6] = sum(a == b for a, b in itertools.pairwise(y))
        return phi

    def loss(self, y, y_hat):
        wrong = sum(a != b for a, b in zip(y, y_hat, strict=True))
        return wrong * wrong / 9.0

    def decode(self, x, y, w, loss_augmented):
        def value(output):
            extra = self.loss(y, output) if loss_augmented else 0.0
            return float(w @ self.features(x, output)) + extra

        return max(self.outputs(x), key=value)

    def kernel(self, x, y, x2, y2):
        return float(self.features(x, y) @ self.features(x2, y2))


class Curved(Bits):
    """The same outputs, compared by the square of an inner product."""

    def kernel(self, x, y, x2, y2):
        return (1.0 + super().kernel(x, y, x2, y2)) ** 2

    def kernel_table(self, pairs, others):
        a, b = (np.array([self.features(*pair) for pair in own]) for own in (pairs, others))
        return (1.0 + a @ b.T) ** 2


def data(count=6, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(3, 2)) for _ in range(count)]
    return X, [tuple(int(row[0] + 0.5 * row[1] > 0) for row in x) for x in X]


def slack_objective(structure, X, y, w, lam):
    """λ/2 ‖w‖² + mean max L·(1 − ⟨w, ψ⟩) over all outputs."""

    def hinge(x, own):
        ahead = lambda out: w @ (structure.features(x, own) - structure.features(x, out))  # noqa: E731
        return max(structure.loss(own, out) * (1.0 - ahead(out)) for out in structure.outputs(x))

    return 0.5 * lam * w @ w + np.mean([hinge(x, own) for x, own in zip(X, y, strict=True)])


@pytest.mark.parametrize("lam", [0.5, 0.05])
def test_slack_rescaling_by_search_proves_what_all_outputs_show(lam):
    X, y = data()
    model = StructuredSVM(Bits(), lam=lam, tol=1e-4, rescaling="slack").fit(X, y)
    c, rng = model.certificate_, np.random.default_rng(1)
    assert c.quality == "heuristic" and c.problem == "structured SVM with slack rescaling"
    true = slack_objective(Bits(), X, y, model.coef_, lam)
    assert c.primal - 1e-9 <= true <= c.primal + c.missed + 1e-9
    assert c.proven_gap == c.gap + c.missed
    # No weights are better than the bound, and none by more than what is proven.
    for scale in (0.01, 0.1, 1.0):
        for _ in range(50):
            other = model.coef_ + scale * rng.normal(size=7)
            objective = slack_objective(Bits(), X, y, other, lam)
            assert objective >= c.dual - 1e-9 and objective >= true - c.proven_gap - 1e-9
    assert model.verify(X, y) == []
    margin = StructuredSVM(Bits(), lam=lam, tol=1e-4).fit(X, y)
    assert true <= slack_objective(Bits(), X, y, margin.coef_, lam) + c.proven_gap


def test_slack_rescaling_is_refused_where_it_has_no_meaning():
    X, y = data()
    with pytest.raises(ValueError, match="known are 'margin' and 'slack'"):
        StructuredSVM(Bits(), rescaling="both").fit(X, y)
    relaxed = Bits()
    relaxed.quality = "upper-bound"
    with pytest.raises(ValueError, match="a search needs corners that are outputs"):
        StructuredSVM(relaxed, rescaling="slack").fit(X, y)
    model = StructuredSVM(Bits(), lam=0.5, rescaling="slack").fit(X, y)
    with pytest.raises(ValueError, match="slack rescaling"):
        model.objective(X, y)


def test_a_heuristic_inside_a_search_proves_nothing():
    heuristic = Bits()
    heuristic.quality = "heuristic"
    X, y = data()
    c = StructuredSVM(heuristic, lam=0.5, rescaling="slack").fit(X, y).certificate_
    assert c.missed is None and c.proven_gap == float("inf")


def test_a_linear_joint_kernel_is_the_model_of_its_features():
    X, y = data()
    joint = JointKernelSVM(Bits(), lam=0.1, tol=1e-6).fit(X, y)
    plain = StructuredSVM(Bits(), lam=0.1, tol=1e-6).fit(X, y)
    a, b = joint.certificate_, plain.certificate_
    assert a.quality == "exact" and abs(a.primal - b.primal) <= a.gap + b.gap + 1e-9
    w = sum(weight * Bits().features(x, own) for _, x, own, weight in joint.support_)
    assert np.linalg.norm(w - plain.coef_) <= 2 * np.sqrt(2 * (a.gap + b.gap) / 0.1)
    assert joint.predict(X) == plain.predict(X)
    assert joint.decision_function(X) == pytest.approx(
        [w @ Bits().features(x, own) for x, own in zip(X, joint.predict(X), strict=True)]
    )
    assert joint.verify(X, y) == []


def test_the_objective_is_that_of_all_outputs():
    (X, y), lam = data(), 0.05
    model = JointKernelSVM(Curved(), lam=lam, tol=1e-5).fit(X, y)
    pairs = [(x, out) for x in X for out in Curved().outputs(x)]
    table = Curved().kernel_table(pairs, pairs)
    own = np.array([[Curved.kernel(Curved(), *a, *b) for b in pairs[:9]] for a in pairs[:9]])
    assert own == pytest.approx(table[:9, :9])
    scores = table @ model.coef_
    hinges = []
    for i, truth in enumerate(y):
        mine = range(8 * i, 8 * i + 8)
        right = next(scores[at] for at in mine if pairs[at][1] == truth)
        hinges.append(max(Curved().loss(truth, pairs[at][1]) + scores[at] - right for at in mine))
    objective = 0.5 * lam * model.coef_ @ table @ model.coef_ + np.mean(hinges)
    c = model.certificate_
    assert objective == pytest.approx(c.primal, rel=1e-9) and c.gap <= 1e-5
    # At most one output besides the truths joins with each step.
    wrong = [pair for pair in model.support_ if pair[2] != y[pair[0]]]
    assert len(wrong) <= model.totals_["visits"]
    assert model.verify(X, y) == []
    assert model.verify(X, [y[1], *y[1:]]) != []


def test_what_is_no_kernel_is_refused():
    X, y = data()

    class Lopsided(Bits):
        def kernel(self, x, y, x2, y2):
            return super().kernel(x, y, x2, y2) + (0.1 if y < y2 else 0.0)

    class Negative(Bits):
        def kernel(self, x, y, x2, y2):
            return -super().kernel(x, y, x2, y2)

    for structure, text in [
        (Lopsided(), "not symmetric"),
        (Negative(), "not positive semi-definite"),
    ]:
        with pytest.raises(ValueError, match=text):
            JointKernelSVM(structure, lam=0.1).fit(X, y)
    with pytest.raises(TypeError, match="no method outputs"):
        JointKernelSVM(object(), lam=0.1).fit(X, y)
    with pytest.raises(ValueError, match='lam="auto"'):
        JointKernelSVM(Bits(), lam="auto").fit(X, y)


def test_a_truth_that_is_no_candidate_is_added():
    class Few(Bits):
        def outputs(self, x):
            return [(0, 0, 0), (1, 1, 1)]

    X, y = data()
    model = JointKernelSVM(Few(), lam=0.1).fit(X, y)
    assert all(found in Few().outputs(None) for found in model.predict(X))
    added = sum(own not in Few().outputs(None) for own in y)
    assert len(model.coef_) == 2 * len(X) + added


class Spelled:
    """A type of one's own."""

    def __init__(self, bits):
        self.bits = bits

    def __eq__(self, other):
        return self.bits == other.bits


class Wrapped(Curved):
    def outputs(self, x):
        return [Spelled(bits) for bits in super().outputs(x)]

    def features(self, x, y):
        return super().features(x, y.bits)

    def loss(self, y, y_hat):
        return super().loss(y.bits, y_hat.bits)


def test_a_file_has_the_model_and_its_proof(tmp_path):
    X, y = data()
    model = JointKernelSVM(Curved(), lam=0.05, tol=1e-4, random_state=3).fit(X, y)
    model.save(tmp_path / "model.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    again = JointKernelSVM.load(tmp_path / "model.npz", Curved())
    assert (again.coef_ == model.coef_).all() and again.predict(X) == model.predict(X)
    assert again.certificate_ == model.certificate_ and again.status_ == model.status_
    assert again.get_params()["lam"] == 0.05 and again.get_params()["tol"] == 1e-4
    for name in model.history_.dtype.names:
        np.testing.assert_array_equal(again.history_[name], model.history_[name])
    assert again.verify(X, y) == []
    assert again.verify(X, [y[1], *y[1:]]) != []
    again.save(tmp_path / "again.npz")
    assert JointKernelSVM.load(tmp_path / "again.npz", Curved()).verify(X, y) == []
    model.save(tmp_path / "small.npz", dual=False)
    small = JointKernelSVM.load(tmp_path / "small.npz", Curved())
    assert small.predict(X) == model.predict(X)
    with pytest.raises(ValueError, match="has no dual point"):
        small.verify(X, y)


def test_inputs_of_types_of_ones_own_come_from_the_examples_again(tmp_path):
    X, bits = data()
    y = [Spelled(own) for own in bits]
    file = tmp_path / "model.npz"
    model = JointKernelSVM(Wrapped(), lam=0.05).fit(X, y)
    model.save(file)
    with pytest.raises(ValueError, match="give load the training examples"):
        JointKernelSVM.load(file, Wrapped())
    again = JointKernelSVM.load(file, Wrapped(), X, y)
    assert again.predict(X) == model.predict(X) and again.verify(X, y) == []
    with pytest.raises(ValueError, match="trained on 48 outputs, not 8"):
        JointKernelSVM.load(file, Wrapped(), X[:1], y[:1])


def test_damaged_and_forged_files_are_refused_or_found_out(tmp_path):
    X, y = data()
    file, other = tmp_path / "model.npz", tmp_path / "other.npz"
    JointKernelSVM(Curved(), lam=0.05).fit(X, y).save(file)
    content = file.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        changed = bytearray(content)
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
        other.write_bytes(bytes(changed))
        # Archives have check sums, but not of everything: what is read all the same must be the model.
        try:
            again = JointKernelSVM.load(other, Curved())
        except ValueError as error:
            assert str(other) in str(error)
        else:
            assert again.verify(X, y) == []
    for cut in (0, 10, len(content) // 2, len(content) - 1):
        other.write_bytes(content[:cut])
        with pytest.raises(ValueError, match=r"other\.npz: "):
            JointKernelSVM.load(other, Curved())
    with np.load(file) as parts:
        arrays = dict(parts)
    for name, value, text in [
        ("kind", "maxmargin joint kernel 0", "another version"),
        ("support", arrays["support"] + 1000, "outputs that do not exist"),
        ("coefficients", arrays["coefficients"] * np.nan, "coefficients are not"),
        ("about", "{}", "certificate"),
        ("pairs", "[[0]]", "values to unpack"),
        ("ends", arrays["ends"] + np.uint64(2**62), "do not fit"),
        ("parameters", '{"unknown": 1}', "unknown"),
    ]:
        np.savez_compressed(other, **(arrays | {name: np.asarray(value)}))
        with pytest.raises(ValueError, match=text):
            JointKernelSVM.load(other, Curved())
    np.savez_compressed(other, **(arrays | {"coefficients": 1.1 * arrays["coefficients"]}))
    assert JointKernelSVM.load(other, Curved()).verify(X, y) != []
    arrays["kind"] = np.array([object()], dtype=object)
    np.savez_compressed(other, **arrays)
    with pytest.raises(ValueError, match="pickle"):
        JointKernelSVM.load(other, Curved())
    with pytest.raises(ValueError, match="load needs the structure"):
        JointKernelSVM.load(file)
    with pytest.raises(FileNotFoundError):
        JointKernelSVM.load(tmp_path / "nothing.npz", Curved())
