"""What the site does with links that leave docs/, as to sources and measurements.

On GitHub they lead to the file. The site has only the documents, so the words stay and the link goes. A file
that is not there is an error.
"""

import logging
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
log = logging.getLogger("mkdocs.hooks.links")


def on_page_markdown(markdown, page, **_):
    """Takes out the links that leave docs/."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def replace(match):
        target = match[3]
        if not target or "://" in target or match[1]:
            return match[0]
        path = (folder / target).resolve()
        if path.is_relative_to(ROOT / "docs"):
            return match[0]
        if not path.exists():
            log.warning("%s: no file %s", page.file.src_uri, target)
        return match[2]

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)
