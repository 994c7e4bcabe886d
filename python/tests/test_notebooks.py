"""What notebooks show."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_iris

from maxmargin import (
    ChainSVM,
    MulticlassSVM,
    StructuredSVM,
    compare_runs,
    regularization_path,
)
from maxmargin._html import curves


class Balanced(HTMLParser):
    """Reads HTML of which every element is closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def model():
    X, y = load_iris(return_X_y=True)
    return MulticlassSVM(lam=0.01, options={"gap_every": 1}).fit(X, y)


def test_certificates_and_runs(model):
    page = Balanced(model.certificate_._repr_html_())
    assert f"{model.certificate_.primal:.6g}" in page.texts and "exact" in page.texts
    page = Balanced(model.run_._repr_html_())
    assert {"table", "svg", "polyline"} <= page.tags and "converged" in page.texts
    assert model.run_.certificate == model.certificate_


def test_comparisons(model):
    X, y = load_iris(return_X_y=True)
    plain = MulticlassSVM(lam=0.01, order="uniform").fit(X, y)
    found = compare_runs({"<auto>": model, "uniform": plain}, x="passes")
    page = Balanced(found._repr_html_())
    assert {"<auto>", "uniform"} <= set(page.texts) and "svg" in page.tags
    assert len(found) == 2 and found["uniform"].status == plain.status_
    assert repr(found).splitlines()[0].startswith("run") and "uniform" in repr(found)
    with pytest.raises(ValueError, match="no column 'weeks'"):
        compare_runs({"a": model}, x="weeks")


def test_reports(model, tmp_path):
    report = model.report("Iris & more")
    assert "Iris &amp; more" in report.html
    shown = report._repr_html_()
    assert Balanced(shown).tags == {"iframe"} and "srcdoc" in shown
    report.save(tmp_path / "page.html")
    model.to_report(tmp_path / "same.html", "Iris & more")
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert written == report.html == (tmp_path / "same.html").read_text(encoding="utf-8")
    assert "save it" in repr(report)


def test_paths_and_prunings(sequences):
    X, y = load_iris(return_X_y=True)
    path = regularization_path(MulticlassSVM(), X, y, epsilon=0.2, lambda_min=0.01)
    assert str(len(path)) in Balanced(path._repr_html_()).texts
    X, y = sequences
    found = ChainSVM(lam=0.05).fit(X, y).prune(X, y)
    assert str(found.kept) in Balanced(found._repr_html_()).texts


def test_structures_of_your_own():
    class Sign:
        def decode(self, x, y, w, loss_augmented):
            scores = {s: s * float(x @ w) + (loss_augmented and s != y) for s in (-1, 1)}
            return max(scores, key=scores.get)

        def features(self, x, y):
            return y * x

        def loss(self, y, y_hat):
            return float(y != y_hat)

    X = [np.array([1.0]), np.array([-1.0])]
    model = StructuredSVM(Sign(), lam=0.1).fit(X, [1, -1])
    assert "StructuredSVM of Sign" in model.report().html
    assert "svg" in Balanced(model.run_._repr_html_()).tags or model.n_iter_ < 10


def test_a_picture_of_nothing_is_nothing():
    assert curves("gap", "x", [("a", [1.0], [float("nan")])]) == ""
    assert "polyline" in curves("gap", "x", [("a", [1.0], [2.0])])
