"""Makes the pictures of the documents: parts of report pages, seen by a browser without a window.

    python docs/pictures/make.py MAXMARGIN

MAXMARGIN is the program. It needs chromium and Pillow; `docs/build --pictures` has both at hand.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "samples"
#: Pictures larger than this make pages slow.
MOST_BYTES = 150_000

COMMANDS = {
    "demo": "demo --out demo",
    "recipes": "train recipes-train.txt --test recipes-test.txt --report recipes.html",
    "compare": "compare recipes-train.txt --test recipes-test.txt --methods auto,bcfw,bcfw+gap,ssg,1-slack "
    "--budget 40 --out compare",
    "shapes": "train shapes.txt:train --test shapes.txt:test --report shapes.html",
    "phrases": "train phrases.tsv:train --test phrases.tsv:test --links 2 --report phrases.html",
    "people": "train people.tsv:0..30 --test people.tsv:30..40 --max-passes 20 --report people.html",
}

#: The picture, the page, the headings of the sections to show (or all from the top), width and height at most.
PICTURES = [
    ("demo", "demo/report.html", ["On the test data", "Examples of the test"], 960, 800),
    ("report-top", "recipes.html", None, 960, 730),
    ("report-labels", "recipes.html", ["Labels one by one"], 900, 620),
    ("report-matrix", "recipes.html", ["What is taken for what"], 900, 760),
    ("report-examples", "recipes.html", ["Examples of the test"], 900, 660),
    ("report-convergence", "recipes.html", ["Convergence"], 900, 700),
    ("report-weights", "recipes.html", ["The heaviest weights"], 900, 640),
    ("compare", "compare/report.html", ["Convergence"], 900, 700),
    ("shapes", "shapes.html", ["Examples of the test"], 900, 560),
    ("phrases", "phrases.html", ["Examples of the test"], 900, 512),
    ("people", "people.html", ["Examples of the test"], 900, 578),
]

#: Pages that show a random sample of the test in place of the worst, and the script that chooses it.
SAMPLED = {"demo"}
SAMPLE = """<script>addEventListener("load", () => {
  for (const list of document.querySelectorAll("select"))
    for (const option of list.options)
      if (option.text.includes("random")) {
        list.value = option.value;
        list.dispatchEvent(new Event("change", { bubbles: true }));
      }
});</script>"""


def with_sections_only(page, headings):
    """The page with nothing but the sections under these headings."""
    text = page.read_text(encoding="utf-8")
    shown = [
        number
        for number, heading in re.findall(r'<h2 id="h(\d+)">([^<]*)', text)
        if any(heading.startswith(wanted) for wanted in headings)
    ]
    if len(shown) < len(headings):
        raise SystemExit(f"{page.name} has no sections {headings}")
    keep = "".join(f":not(#s{number})" for number in shown)
    style = f"<style>section{keep}, header, footer, nav {{ display: none !important }} main {{ padding-top: 0 }}</style>"
    if page.parent.name in SAMPLED:
        text = re.sub(r"<meta[^>]*Content-Security-Policy[^>]*>", "", text)
        style += SAMPLE
    part = page.with_name(f"part-{page.name}")
    part.write_text(text.replace("</head>", style + "</head>", 1), encoding="utf-8")
    return part


def photograph(page, to, width, height):
    """A picture of the page, without its empty margins."""
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb",
         f"--window-size={width},{height}", f"--screenshot={to}", page.as_uri()],
        check=True, stderr=subprocess.DEVNULL, timeout=120,
    )
    picture = Image.open(to).convert("RGB")
    ground = Image.new("RGB", picture.size, picture.getpixel((0, 0)))
    left, top, right, bottom = ImageChops.difference(picture, ground).getbbox()
    margin = 16
    box = (max(0, left - margin), max(0, top - margin), min(width, right + margin), min(height, bottom + margin))
    picture.crop(box).quantize(128, dither=Image.Dither.NONE).save(to, optimize=True)
    size = to.stat().st_size
    print(f"{to.name:<26} {size / 1000:6.1f} kB")
    if size > MOST_BYTES:
        raise SystemExit(f"{to} is larger than {MOST_BYTES} bytes")


def main(program, wanted):
    """Trains what there is to see, and takes the pictures (or those that are named)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for sample in SAMPLES.iterdir():
            (folder / sample.name).write_bytes(sample.read_bytes())
        needed = {page.split(".")[0].split("/")[0] for name, page, *_ in PICTURES if not wanted or name in wanted}
        for name in needed:
            subprocess.run([program, *COMMANDS[name].split(), "-q"], cwd=folder, check=True)
        for name, page, headings, width, height in PICTURES:
            if wanted and name not in wanted:
                continue
            page = folder / page
            page = with_sections_only(page, headings) if headings else page
            photograph(page, HERE / f"{name}.png", width, height)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
