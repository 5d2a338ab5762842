"""Builds the site: `make docs`.

Pages are the repository's own (`staging`), reference is made of the programs' tables and
docstrings, and every warning of Sphinx is an error, a broken link too. The pages that were built
are then read: none of them may load anything from another machine.

    python -m tests.tools.docs.build [FOLDER]
"""

import shutil
import sys
import time
from pathlib import Path

from tests.tools.docs import api_reference, commands_reference, offline, staging, tables_reference

HERE = Path(__file__).resolve().parent
BUILD = staging.ROOT / "build" / "docs"
MIB = 2**20


def build(folder: Path = BUILD) -> list[str]:
    """Build the site into ``folder / "site"``; return what is wrong with it."""
    from sphinx.cmd.build import main as sphinx

    source, site = folder / "source", folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    staging.lay_out(source)
    reference = source / "reference"
    commands_reference.write(reference / "commands")
    tables_reference.write(reference)
    api_reference.write(reference)
    words = ["-W", "--keep-going", "--quiet", "-j", "2", "-E", "-c", str(HERE)]
    if sphinx([*words, "-d", str(folder / "doctrees"), str(source), str(site)]):
        return ["Sphinx warned of what stands above"]
    broken = [f"leads nowhere: {it}" for it in offline.broken_links_of(site)]
    return broken + [f"loaded from elsewhere: {it}" for it in offline.requests_of(site)]


def main(words: list[str]) -> int:
    began = time.monotonic()
    folder = Path(words[0]).resolve() if words else BUILD
    wrong = build(folder)
    for line in wrong:
        print(f"docs: {line}", file=sys.stderr)
    if wrong:
        return 1
    site = folder / "site"
    files = [path for path in site.rglob("*") if path.is_file()]
    pages = sum(path.suffix == ".html" for path in files)
    size = sum(path.stat().st_size for path in files) / MIB
    took_s = time.monotonic() - began
    print(f"docs: {pages} pages, {size:.1f} MB, {took_s:.0f} s: open {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
