"""Keeps verdicts, a file each, written as soon as one is known; what they hold for is a hash."""

import hashlib
import json
import os
import re
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.nightly.parts import Part

PASSED, FAILED, NOT_MEASURED = "passed", "failed", "not measured"
NOT_FINISHED, NOT_BEGUN = "not finished", "not begun"


@dataclass(frozen=True)
class Verdict:
    """What came of a part, under which code, and what it takes to run that again."""

    part: str
    verdict: str
    hours: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""
    again: tuple[str, ...] = ()
    last: tuple[str, ...] = ()  # lines of its output
    command: tuple[str, ...] = ()
    code: str = ""
    commit: str = ""
    when: str = ""  # UTC
    is_whole: bool = True  # nothing is left that another run would go on with


class Store:
    """A folder with the verdict, the log and the test times of each part."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def log(self, name: str) -> Path:
        """Where the output of a part goes."""
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_]+', '-', name)}.log"

    def get(self, name: str) -> Verdict | None:
        """The last verdict, of any code; none where there is none, or none that can be read."""
        try:
            row = json.loads(self._file(name).read_text())
            tuples = {key: tuple(row[key]) for key in ("again", "last", "command")}
            return Verdict(**{**row, **tuples})
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def put(self, verdict: Verdict) -> None:
        """Keep it, whole or not at all."""
        file = self._file(verdict.part)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(asdict(verdict), indent=1))
        os.replace(new, file)

    def forget(self, name: str) -> None:
        """Drop the verdict of a part."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.log(name).with_suffix(".json")


def is_kept(verdict: Verdict | None, part: Part, code: str, again_failed: bool) -> bool:
    """A part need not be run again: it was judged, whole, by this command and this code."""
    if verdict is None or (verdict.command, verdict.code) != (part.command, code):
        return False
    judged = (PASSED,) if again_failed else (PASSED, FAILED)
    return verdict.is_whole and verdict.verdict in judged


def code_of(root: Path, globs: tuple[str, ...] = ()) -> str:
    """A hash of the files as they lie there: of all that git does not ignore, or of these."""
    names = _listed(root)
    if globs:
        wanted = {path.relative_to(root).as_posix() for glob in globs for path in root.glob(glob)}
        names = [name for name in names if name in wanted]
    if not names:
        raise ValueError(f"no file of {root} is named by {globs}: nothing to hash")
    digest = hashlib.sha256()
    for name in names:
        path = root / name
        content = path.read_bytes() if path.is_file() else b""  # deleted, not yet committed
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _listed(root: Path) -> list[str]:
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=root, capture_output=True, check=True, timeout=60)
    return sorted({*filter(None, done.stdout.decode().split("\0"))})


def commit_of(root: Path) -> str:
    """The commit that the files are of, or differ from."""
    words = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()
