"""Sequences of items as CRFsuite takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: What an item may be as it is; anything else becomes a list.
PLAIN = (dict, list, tuple, set, frozenset)


def tokens_of(xseq: Any) -> list[Any]:
    """A sequence as estimators take it: a list of dictionaries or lists of attributes.

    >>> tokens_of([{"a": 1.0}, {"b": 2.0}.keys()])
    [{'a': 1.0}, ['b']]
    """
    if isinstance(xseq, ItemSequence):
        return xseq.items()
    return [item if isinstance(item, PLAIN) else _plain(item) for item in xseq]


def _plain(item: Any) -> Any:
    if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
        raise TypeError(
            f"the item {item!r} is a {type(item).__name__}; an item is a dictionary or a list of attributes"
        )
    return dict(item) if isinstance(item, Mapping) else list(item)


def labels_of(yseq: Any) -> list[Any]:
    """The labels of a sequence; bytes become texts."""
    return [label.decode() if isinstance(label, bytes) else label for label in yseq]


class ItemSequence:
    """The items of one sequence, put together once.

    Parameters
    ----------
    pyseq : iterable
        Items: dictionaries of attributes, whose values are numbers, truth values, texts, or again dictionaries,
        lists or sets; or lists of attributes.

    Examples
    --------
    >>> from maxmargin.compat.pycrfsuite import ItemSequence
    >>> ItemSequence([["foo"], {"bar": {"baz": 1}, "word": "cat"}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0, 'word:cat': 1.0}]
    """

    def __init__(self, pyseq: Iterable[Any]) -> None:
        self._items: list[dict[str, float]] = [dict(_flat(item)) for item in tokens_of(pyseq)]

    def items(self) -> list[dict[str, float]]:
        """The attributes of each item with their values."""
        return [dict(item) for item in self._items]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def _flat(item: Any, prefix: str = "") -> Iterable[tuple[str, float]]:
    if not isinstance(item, Mapping):
        for name in sorted(item) if isinstance(item, (set, frozenset)) else item:
            yield prefix + _text(name), 1.0
        return
    for key, value in item.items():
        name = prefix + _text(key)
        if isinstance(value, (str, bytes)):
            yield f"{name}:{_text(value)}", 1.0
        elif isinstance(value, (Mapping, list, tuple, set, frozenset)):
            yield from _flat(value, f"{name}:")
        else:
            yield name, float(value)


def _text(name: Any) -> str:
    if isinstance(name, bytes):
        return name.decode(errors="backslashreplace")
    if not isinstance(name, str):
        raise TypeError(f"the name {name!r} is a {type(name).__name__}, not a text")
    return name
