"""Types, as a user's type checker sees them."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
from typing import get_args

import pytest

import maxmargin
from maxmargin import ChainSVM, _types

SCRIPT = pathlib.Path(__file__).with_name("typed_script.py")


def wrong_lines(*marks):
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    return [at for at, line in enumerate(lines, 1) if line.endswith(marks)]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_finds_what_is_wrong_in_a_script_and_nothing_else(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    result = subprocess.run(
        [*command, f"--cache-dir={tmp_path}", str(SCRIPT)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    found = re.findall(r"typed_script\.py:(\d+): error: (.*)", result.stdout)
    assert sorted({int(line) for line, _ in found}) == wrong_lines("# wrong"), (
        result.stdout + result.stderr
    )


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_what_is_wrong_in_a_script_and_nothing_else(tmp_path):
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pyright",
            "--outputjson",
            "--pythonpath",
            sys.executable,
            str(SCRIPT),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    if not result.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright does not run here: {result.stderr[-200:]}")
    found = json.loads(result.stdout)["generalDiagnostics"]
    errors = {own["range"]["start"]["line"] + 1 for own in found if own["severity"] == "error"}
    assert sorted(errors) == wrong_lines("# wrong", "# wrong, says pyright"), found


@pytest.mark.parametrize(
    ("name", "literal"),
    [("solver", "Solver"), ("order", "Order"), ("direction", "Direction"), ("cache", "Cache")],
)
def test_names_are_those_that_the_native_half_knows(name, literal):
    names = get_args(getattr(_types, literal))
    with pytest.raises(ValueError) as refused:
        ChainSVM(options={name: "no such name"}).fit([[["a"], ["b"]]], [["x", "y"]])
    message = str(refused.value)
    for own in names:
        assert own in message, message
    known = re.search(r"(?:expected|known are|one of) (.*)", message)
    assert known is not None, message
    assert set(re.findall(r"[a-z0-9-]{2,}", known.group(1))) - {"one", "of", "and", "or"} == set(
        names
    )


def test_the_package_is_typed():
    assert pathlib.Path(maxmargin.__file__).with_name("py.typed").exists()
