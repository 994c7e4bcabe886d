"""
Several labels at once
======================

Labels that go together, or never do, have a weight of their own. The regularization path gives good
weights for every λ, and the best of them on data held out.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import MultilabelSVM, regularization_path

X, Y = make_multilabel_classification(n_samples=200, n_classes=5, n_labels=2, random_state=0)
X = StandardScaler().fit_transform(X)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)

# %%
# All pairs, a tree of pairs, or none.
for pairs in ("complete", "tree", "none"):
    model = MultilabelSVM(lam=0.01, pairs=pairs).fit(X_train, Y_train)
    print(f"{pairs:>8} pairs: {model.score(X_test, Y_test):.3f} of the labels are right")

# %%
# λ by the path.
path = regularization_path(MultilabelSVM(pairs="tree"), X_train, Y_train, 0.1, lambda_min=1e-2)
scores = path.scores(X_test, Y_test)
best = path.best(X_test, Y_test)
print(
    f"{len(path)} breakpoints; the best λ is {best.lam:.4g} with {best.score(X_test, Y_test):.3f}"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
path.plot(ax=left, scores=scores)
best.plot_weights(ax=right, top=12)
figure.savefig("multilabel.png")
