"""The samples in Python of README.md and of docs/: they run, and print what the pages show.

A block of text right after a block of Python is what it prints. UPDATE_DOCS=1 writes what is printed into
the pages instead. The blocks of a page share their names and a folder with the files of docs/samples, in
which the commands that the page shows before them have been run too.
"""

import contextlib
import io
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import warnings

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SAMPLES = ROOT / "docs" / "samples"
#: A sample, and what it prints if the page says so; or commands.
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "```python" in path.read_text(encoding="utf-8")
]


def commands(block):
    """The commands of a block that make what Python then reads: models, and files by here-documents."""
    found = re.findall(r"^\$ (maxmargin train [^\n]*|cat > .*?^EOF)$", block, re.M | re.S)
    return [re.sub(r"^maxmargin", os.environ.get("MAXMARGIN", "maxmargin"), line) for line in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_samples_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    folder = tmp_path / "samples"
    shutil.copytree(SAMPLES, folder)
    monkeypatch.chdir(folder)
    text = page.read_text(encoding="utf-8")
    if "maxmargin.torch import" in text:
        pytest.importorskip("torch", reason="PyTorch is not installed: see python/test-torch")
    names: dict = {}
    changes = []
    for block in BLOCK.finditer(text):
        language, code, shown = block.groups()
        if language == "console":
            marked = text[: block.start()].rstrip().endswith("-->")
            for command in [] if marked else commands(code):
                subprocess.run(command, shell=True, check=True, capture_output=True)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, str(page), "exec"), names)
        if printed.getvalue() != (shown or ""):
            changes.append((block, code, printed.getvalue()))
    if "UPDATE_DOCS" not in os.environ:
        assert not changes, "\n".join(printed for _, _, printed in changes)
    for block, code, printed in reversed(changes):
        shown = f"\n```text\n{printed}```\n" if printed else ""
        text = text[: block.start()] + f"```python\n{code}```\n{shown}" + text[block.end() :]
        page.write_text(text, encoding="utf-8")


def test_the_samples_are_what_their_program_writes(tmp_path):
    runpy.run_path(str(SAMPLES / "make.py"))["make"](tmp_path)
    for written in sorted(tmp_path.iterdir()):
        assert written.read_bytes() == (SAMPLES / written.name).read_bytes(), written.name
