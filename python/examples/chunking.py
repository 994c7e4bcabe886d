"""
Chunking sentences
==================

Sentences in CoNLL-2000's format are cut into chunks. Here a few of them are made up; with the real
files the program is the same.
"""

import pathlib
import random

import maxmargin
from maxmargin import ChainSVM
from maxmargin.io import chunk_f1

# %%
# A little grammar stands in for a corpus.
NOUNS, VERBS, ADJECTIVES = (
    ["cat", "dog", "bird"],
    ["sees", "likes", "eats"],
    ["old", "quick", "red"],
)
random.seed(0)


def noun_phrase():
    words = [("the", "DT", "B-NP")]
    words += [(random.choice(ADJECTIVES), "JJ", "I-NP") for _ in range(random.randrange(3))]
    return [*words, (random.choice(NOUNS), "NN", "I-NP")]


def sentence():
    verb = (random.choice(VERBS), "VBZ", "B-VP")
    return [*noun_phrase(), verb, *noun_phrase(), (".", ".", "O")]


text = "\n\n".join("\n".join(map(" ".join, sentence())) for _ in range(60)) + "\n"
pathlib.Path("chunks.txt").write_text(text)

# %%
# Reading makes CRFsuite's attributes: words and tags nearby, and pairs of them.
X, y = maxmargin.read_sequences("chunks.txt", format="conll")
print(len(X), "sentences;", len(X[0][0]), "attributes of the first word")
model = ChainSVM(C=1.0).fit(X[:40], y[:40])
precision, recall, f1 = chunk_f1(y[40:], model.predict(X[40:], rules="bio"))
print(f"chunk F1 {f1:.3f}")

# %%
# A tag that is known stays, and the rest is labelled around it.
known = ["B-NP"] + ["?"] * (len(X[0]) - 1)
print(model.predict(X[:1], fixed=[known], open_label="?")[0])
model.plot_weights().figure.savefig("chunking.png")
