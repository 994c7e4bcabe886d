"""Files of models of joint kernels: arrays of NumPy in a zip archive, and nothing that can be executed.

A file has the coefficients, the dual point with its certificate, and the pairs of inputs and outputs that have a
coefficient, if these are of plain types. The kernel itself is code and is not in the file.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zipfile
import zlib
from typing import Any

import numpy as np

#: What a file says that it is.
KIND = "maxmargin joint kernel 1"

#: The arrays of a file. Those of a dual point are missing if it was left out.
NEEDED = ("kind", "about", "parameters", "coefficients", "support", "pairs")
DUAL = ("ends", "parts", "masses", "losses")

#: What reading a damaged archive may raise.
BROKEN = (
    *(
        EOFError,
        LookupError,
        MemoryError,
        OSError,
        OverflowError,
        RuntimeError,
        TypeError,
        ValueError,
    ),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)


class NotPlain(TypeError):
    """A value of a type that files do not keep."""


def plain(value: Any) -> Any:
    """A value as JSON has it, such that :func:`original` makes the same value again.

    >>> plain(("a", 1)), original(plain(("a", 1)))
    ({'tuple': ['a', 1]}, ('a', 1))
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [plain(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [plain(item) for item in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: plain(item) for key, item in value.items()}}
    if type(value) is np.ndarray and value.dtype.kind in "biufU":
        return {"array": value.ravel().tolist(), "type": value.dtype.str, "shape": value.shape}
    raise NotPlain(type(value).__name__)


def original(value: Any) -> Any:
    """The value that :func:`plain` was given."""
    if isinstance(value, list):
        return [original(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(original(item) for item in value["tuple"])
    if "array" in value:
        dtype = np.dtype(str(value["type"]))
        if dtype.kind not in "biufU":
            raise ValueError(f"arrays of the type {dtype} are not known")
        return np.array(value["array"], dtype=dtype).reshape([int(n) for n in value["shape"]])
    return {key: original(item) for key, item in value["dict"].items()}


def write(path: Any, parts: dict[str, Any]) -> None:
    """Writes a file under a temporary name, and renames it."""
    path = os.fspath(path)
    texts = {name: json.dumps(parts[name]) for name in ("about", "parameters", "pairs")}
    whole = parts | texts | {"kind": KIND}
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in whole.items()}
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: Any) -> dict[str, Any]:
    """The parts of a file. Whatever is wrong with it is a ``ValueError`` that names it."""
    path = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        missing = [name for name in NEEDED if name not in parts]
        if missing or str(parts["kind"]) != KIND:
            raise ValueError("it is no file of JointKernelSVM, or one of another version")
        found = {name: json.loads(str(parts[name])) for name in ("about", "parameters", "pairs")}
        coefficients = numbers(parts, "coefficients", "f")
        support = numbers(parts, "support", "iu")
        if len(support) and not (support.min() >= 0 and support.max() < len(coefficients)):
            raise ValueError("it has coefficients of outputs that do not exist")
        found |= {"coefficients": coefficients, "support": support}
        history = {name: own for name, own in parts.items() if name.startswith("history.")}
        found["history"] = {name.removeprefix("history."): own for name, own in history.items()}
        if any(own.ndim != 1 or own.dtype.kind != "f" for own in history.values()):
            raise ValueError("its history is not what it should be")
        if all(name in parts for name in DUAL):
            kinds = ("iu", "iu", "f", "f")
            found["dual"] = [numbers(parts, *own) for own in zip(DUAL, kinds, strict=True)]
        return found
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path}: {error}") from None


def numbers(parts: dict[str, np.ndarray], name: str, kinds: str) -> np.ndarray:
    """An array of numbers in a row, all of them finite."""
    array = parts[name]
    if array.ndim != 1 or array.dtype.kind not in kinds or not np.isfinite(array).all():
        raise ValueError(f"its {name} are not what they should be")
    return array
