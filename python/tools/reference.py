"""Writes the reference of the package, docs/reference/python.md, from its docstrings.

    python python/tools/reference.py docs/reference/python.md

The package must be installed; a test makes sure that the file is up to date.
"""

import inspect
import sys

import maxmargin
from maxmargin import decode, distributed, io
from maxmargin._base import BaseSVM
from maxmargin.compat import pycrfsuite, sklearn_crfsuite

HEAD = """# The Python package, item by item

Made from the docstrings by `python/tools/reference.py`; the guide is
[Work in Python](../how-to/python.md).
"""

#: What estimators have from scikit-learn is described there.
INHERITED = {
    "get_params",
    "set_params",
    "get_metadata_routing",
    "set_fit_request",
    "set_score_request",
}
INHERITED |= {"set_predict_request", "set_decision_function_request", "set_predict_nbest_request"}


def signature(item):
    """A signature without types, which docstrings tell."""
    try:
        found = inspect.signature(item)
    except (TypeError, ValueError):
        return "()"
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def methods(cls):
    """The public methods of a class that have something to say, in the order of their names."""
    for name, method in inspect.getmembers(cls, callable):
        ours = (getattr(method, "__module__", "") or "").startswith("maxmargin")
        told = (
            method.__qualname__.startswith(("BaseSVM.", "PartialFit.", "Trained."))
            and cls is not BaseSVM
        )
        if (
            not (name.startswith("_") or told or name in INHERITED)
            and ours
            and inspect.getdoc(method)
        ):
            yield name, method


def describe(name, item, level):
    """An item, and its methods if it is a class."""
    lines = [
        f"{'#' * level} `{name}{signature(item)}`",
        "",
        "```text",
        inspect.getdoc(item),
        "```",
        "",
    ]
    if inspect.isclass(item) and not issubclass(item, BaseException):
        for method_name, method in methods(item):
            lines += describe(f"{name}.{method_name}", method, level + 1)
    return lines


def page():
    """The whole reference."""
    lines = [HEAD, "## What all estimators have", ""]
    for name, method in methods(BaseSVM):
        lines += describe(name, method, 3)
    parts = {
        "maxmargin": (maxmargin, sorted(set(maxmargin.__all__) - {"__version__", "io"})),
        "maxmargin.decode": (decode, decode.__all__),
        "maxmargin.distributed": (distributed, distributed.__all__),
        "maxmargin.io": (io, sorted(set(io.__all__) - set(maxmargin.__all__))),
        "maxmargin.compat.pycrfsuite": (pycrfsuite, ["ItemSequence", "Tagger", "Trainer"]),
        "maxmargin.compat.sklearn_crfsuite": (sklearn_crfsuite, ["CRF"]),
    }
    for title, (module, names) in parts.items():
        lines += [f"## {title}", ""]
        for name in names:
            item = getattr(module, name)
            if callable(item):
                lines += describe(name, item, 3)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
