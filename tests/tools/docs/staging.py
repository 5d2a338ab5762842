"""Lays out what Sphinx reads: the repository's own pages, at their own paths.

Text is changed in two places only: README.md becomes the start page, with the contents below it,
and a link to a folder leads to the folder's page. A link to any other file of the repository
leads to a copy of that file in the site.
"""

import os
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

from tests.tools.docs import contents

ROOT = Path(__file__).resolve().parents[3]
START = f"{contents.START}.md"
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def tracked(root: Path = ROOT) -> list[str]:
    """Paths of all files that git knows here, or would add."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True, timeout=60)
    return sorted(it for it in set(listed.stdout.splitlines()) if (root / it).is_file())


def lay_out(folder: Path, root: Path = ROOT) -> list[str]:
    """Write pages, and what they show or link to, below this folder; return the pages' paths."""
    shutil.rmtree(folder, ignore_errors=True)
    paths = tracked(root)
    pages = [path for path in paths if path.endswith(".md") and not path.startswith(".")]
    for page in pages:
        text = (root / page).read_text("utf-8")
        target = folder / (START if page == "README.md" else page)
        target.parent.mkdir(parents=True, exist_ok=True)
        changed = with_links_of_the_site(text, page, root)
        target.write_text(changed + (contents.toctrees() if page == "README.md" else ""), "utf-8")
        for linked in _linked_files(text, page, root):
            _copy(root / linked, folder / linked)
    return pages


def with_links_of_the_site(text: str, page: str, root: Path = ROOT) -> str:
    """Return a page's text with links to folders and to README.md as the site has them."""
    parts = _FENCE.split(text)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda it: _link(it[1], page, root), part)
        for part in parts
    )


def _link(link: str, page: str, root: Path) -> str:
    if "://" in link or link.startswith(("#", "mailto:")):
        return link
    path, mark, anchor = link.partition("#")
    here = posixpath.dirname(page)
    target = posixpath.normpath(posixpath.join(here, path))
    if (root / target / "README.md").is_file():
        target += "/README.md"
    if target in ("README.md", "./README.md"):
        target = START
    return os.path.relpath(target, here or ".") + mark + anchor


def _linked_files(text: str, page: str, root: Path) -> list[str]:
    prose = "".join(part for part in _FENCE.split(text) if not part.startswith("```"))
    here = posixpath.dirname(page)
    names = {it.partition("#")[0] for it in _LINK.findall(prose) if "://" not in it}
    paths = {posixpath.normpath(posixpath.join(here, name)) for name in names if name}
    return sorted(it for it in paths if (root / it).is_file() and not it.endswith(".md"))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
