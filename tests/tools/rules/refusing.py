"""What rules of ``make check`` share: their files, tables of what is still left, their end."""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

PACKAGES = ("calibration", "firmware", "hardware", "host_bridge", "sim_mock")


def told(refusals: Sequence[str]) -> int:
    """Print each refusal; return the exit code, 1 if there is any."""
    for refusal in refusals:
        print(refusal)
    return 1 if refusals else 0


def tracked_files(root: Path, *patterns: str) -> list[str]:
    """List the files that git tracks below this folder, by their paths from it."""
    words = ["git", "ls-files", *patterns]
    return subprocess.run(
        words, cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def product_files(root: Path) -> list[Path]:
    """List the sources of the product below this folder. Raises ValueError if there is none."""
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    if not files:
        raise ValueError(f"{root}: no file of {', '.join(PACKAGES)}")
    return files


def refused_by_folder(
    root: Path,
    find: Callable[[str], Iterable[tuple[int, str]]],
    still: Mapping[str, int],
    left: str,
    skipped: tuple[str, ...] = (),
) -> list[str]:
    """List what ``find`` gives of each source of the product, as line and words.

    Of the folders in ``still`` it is counted only, and refused where the count is not the table's;
    ``left`` says what is counted, and whose table it is. Raises ValueError if there is no file.
    """
    found: list[str] = []
    counts: Counter[str] = Counter()
    for path in product_files(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(skipped):
            continue
        folder = path.relative_to(root).parent.as_posix()
        here = list(find(path.read_text(encoding="utf-8")))
        counts[folder] += len(here)
        if folder not in still:
            found += [f"{name}:{line}: {words}" for line, words in here]
    return found + [
        f"{folder}: {counts[folder]} {left} says {count}; it may only fall, and with them"
        for folder, count in still.items()
        if counts[folder] != count
    ]
