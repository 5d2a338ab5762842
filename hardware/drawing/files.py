"""The picture files: each holds the digest of its source data, and no date or tool version.

So a test can tell without graphviz whether a picture is current.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, PngImagePlugin

from hardware.drawing.guide import draw_guide, guide_names, guide_source
from hardware.drawing.harness import FOLDER, SHEETS, Harness, harness_names, load_harness
from hardware.drawing.off_delay import CIRCUIT as OFF_DELAY
from hardware.drawing.pictures import Sheet, sheet
from hardware.drawing.runstop import CIRCUIT as RUNSTOP

PICTURES = FOLDER / "pictures"
KEY = "drawn-from"
CIRCUITS = {circuit.name: circuit for circuit in (RUNSTOP, OFF_DELAY)}
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_DIGEST = re.compile(rf"<!-- {KEY} ([0-9a-f]{{64}}) -->")


@dataclass(frozen=True)
class Picture:
    """A picture to be drawn; ``sheet`` is WireViz's input, None for a circuit or a guide's picture.

    ``folder`` is the part of ``PICTURES`` and ``kind`` the file's name in it without its ending;
    ``source`` is the text whose digest the files hold.
    """

    folder: str
    kind: str
    source: str
    sheet: Sheet | None

    @property
    def name(self) -> str:
        return f"{self.folder}_{self.kind}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def paths(self) -> tuple[Path, Path]:
        return self.paths_in(PICTURES)

    def paths_in(self, folder: Path) -> tuple[Path, Path]:
        """Return its SVG and PNG below another folder than Tandem's own."""
        path = folder / self.folder / self.kind
        return path.with_suffix(".svg"), path.with_suffix(".png")


def pictures() -> Iterator[Picture]:
    """Yield all pictures that should exist; a sheet without wires has none."""
    for name in harness_names():
        yield from harness_pictures(load_harness(name))
    others = [(circuit.name, circuit.source()) for circuit in CIRCUITS.values()]
    others += [(name, guide_source(name)) for name in guide_names()]
    for name, source in others:
        folder, _, kind = name.partition("_")
        yield Picture(folder, kind, json.dumps(source, sort_keys=True), None)


def harness_pictures(harness: Harness) -> Iterator[Picture]:
    """Yield the sheets of a harness that have wires."""
    for kind in SHEETS:
        drawn = sheet(harness, kind)
        if drawn["connections"]:
            yield Picture(harness.name, kind, json.dumps(drawn, sort_keys=True), drawn)


def write(picture: Picture, folder: Path = PICTURES) -> None:
    """Draw and write it. Raises graphviz's ExecutableNotFound where ``dot`` is missing."""
    svg, png = _drawn(picture)
    svg_path, png_path = picture.paths_in(folder)
    svg_path.parent.mkdir(parents=True, exist_ok=True)
    svg_path.write_text(_marked(svg, picture.digest), encoding="utf-8")
    marks = PngImagePlugin.PngInfo()
    marks.add_text(KEY, picture.digest)
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(64).save(png_path, optimize=True, pnginfo=marks)


def digests(picture: Picture) -> tuple[str, str]:
    """Return the digests in its SVG and PNG; empty if a file or its digest is missing."""
    svg_path, png_path = picture.paths
    if not (svg_path.is_file() and png_path.is_file()):
        return "", ""
    found = _DIGEST.search(svg_path.read_text(encoding="utf-8"))
    with Image.open(png_path) as image:
        return found[1] if found else "", image.info.get(KEY, "")


def stray() -> list[str]:
    """Return the files that belong to no picture, by their paths in ``PICTURES``."""
    wanted = {path for picture in pictures() for path in picture.paths}
    there = {path for path in PICTURES.rglob("*") if path.is_file()}
    return sorted(path.relative_to(PICTURES).as_posix() for path in there - wanted)


def _drawn(picture: Picture) -> tuple[str, bytes]:
    if picture.name in guide_names():
        return draw_guide(picture.name)
    if picture.sheet is None:
        draw = CIRCUITS[picture.name].draw
        return draw("svg").get_imagedata("svg").decode(), draw("matplotlib").get_imagedata("png")
    from wireviz.wireviz import parse  # slow to import, and a test of digests does not need it

    svg, png = parse(picture.sheet, return_types=("svg", "png"), output_name="", output_dir=".")
    return svg, png


def _marked(svg: str, digest: str) -> str:
    """Return the SVG with the digest, without the comments of its tools, which name versions."""
    head, begin, body = _COMMENT.sub("", svg).partition("<svg")
    return f"{head}{begin}{body.rstrip()}\n<!-- {KEY} {digest} -->\n"
