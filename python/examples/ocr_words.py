"""
Reading handwritten words
=========================

Each letter is a picture of 16 × 8 pixels, each word a sequence of letters. A chain learns what
letters look like and which letters follow each other, and says how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin
from maxmargin import ChainSVM

# %%
# The data ship inside: 626 words to learn from, 6251 to test on. Pixels are attributes that are there
# or not.
X, y = maxmargin.read_sequences("ocr-small")
X_test, y_test = maxmargin.read_sequences("ocr-small:test")

# %%
# Training stops at a duality gap of 0.05: no weights whatsoever are better by more than that.
model = ChainSVM(lam=0.1, tol=0.05, n_jobs=-1, options={"gap_every": 2}).fit(X, y)
print(model.certificate_)
print(f"{model.score(X_test, y_test):.3f} of the letters are right")

# %%
# How it went, what follows what, and what an "a" looks like.
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
model.plot_convergence(ax=left)
model.plot_weights(ax=middle)
letter = model.weights_["emission"][:, model.classes_.tolist().index("a")]
picture = np.zeros((16, 8))
for name, weight in zip(model.attribute_names_, letter, strict=True):
    row, column = map(int, name[1:].split("_"))  # p3_1 and so on
    picture[row, column] = weight
right.imshow(picture, cmap="RdBu")
right.set_title("a")

# %%
# The letters it is least sure of.
labels, margins = model.predict_confidence(X_test[:1])[0]
for label, truth, margin in zip(labels, y_test[0], margins, strict=True):
    print(f"{label} (truly {truth}), ahead by {margin:.2f}")
figure.savefig("ocr_words.png")
