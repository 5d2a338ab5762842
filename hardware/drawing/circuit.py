"""A circuit as tables of parts between points, and its drawing with schemdraw; y goes up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from hardware.drawing.harness import FOLDER
from host_bridge.core.files import Key, TableSchema, number, read_table

if TYPE_CHECKING:  # a tool of development: a user's harness is drawn without it
    import schemdraw

At: TypeAlias = tuple[float, float]
Values: TypeAlias = Mapping[str, tuple[float, str]]

_KINDS = {
    "resistor": "Resistor",
    "capacitor": "Capacitor",
    "diode": "Diode",
    "zener": "Zener",
    "box": "RBox",
    "fuse": "FuseIEC",
    "contact": "Switch",
    "wire": "Line",
}
_VALUE_MAX = 1e9  # above any resistor's ohms
_VALUES = TableSchema(
    "parts list of a circuit",
    (Key("ref", "text"), number("value", 0.0, _VALUE_MAX, None), Key("unit", "text")),
    rows="parts",
    has_gaps=True,
)
_GATE_SCALE = 1.6


@dataclass(frozen=True)
class Circuit:
    """One sheet of a circuit.

    ``symbols`` are kind, label, from, to, side of the label; ``gates`` are placed by their output,
    with their name so far above it; ``button`` is that of the loop, from and to; ``selector`` is
    the pole of a changeover contact.
    """

    name: str
    parts: tuple[str, ...]  # parts lists, below hardware/bom
    symbols: tuple[tuple[str, str, At, At, str], ...]
    grounds: tuple[At, ...]
    dots: tuple[At, ...]
    transistors: tuple[tuple[str, At], ...]  # by their gate
    terminals: tuple[tuple[str, At, str], ...]
    texts: tuple[tuple[str, At], ...]
    button: tuple[At, At]
    selector: At | None = None
    supply: At = (0.0, 0.0)
    gates: tuple[tuple[str, At, float], ...] = ()

    def source(self) -> list[object]:
        """Return all data that it is drawn from."""
        tables = [self.symbols, self.grounds, self.dots, self.transistors, self.terminals]
        parts: list[object] = [self.read_values(), *tables, self.texts]
        return [*parts, self.gates, self.button, self.supply] if self.gates else parts

    def read_values(self) -> dict[str, tuple[float, str]]:
        """Return value and unit by ref, of the parts that have one."""
        found: dict[str, tuple[float, str]] = {}
        for parts in self.parts:
            rows = [row.values for row in read_table(FOLDER / "bom" / f"{parts}.csv", _VALUES).rows]
            found |= {
                row["ref"]: (row["value"], row["unit"]) for row in rows if row["value"] is not None
            }
        return found

    def draw(self, backend: Literal["svg", "matplotlib"]) -> schemdraw.Drawing:
        """Return the whole sheet; its SVG is schemdraw's own, its PNG matplotlib's."""
        import schemdraw
        from schemdraw import elements as elm

        schemdraw.use(backend)
        drawing = schemdraw.Drawing(show=False, fontsize=12, margin=0.5)
        self._draw_symbols(drawing, self.read_values())
        self._draw_points(drawing)
        for text, at in self.texts:
            drawing += elm.Label().at(at).label(text, halign="left", valign="bottom")
        return drawing

    def _draw_symbols(self, drawing: schemdraw.Drawing, values: Values) -> None:
        from schemdraw import elements as elm
        from schemdraw import logic

        for kind, ref, start, end, side in self.symbols:
            symbol = getattr(elm, _KINDS[kind])().at(start).to(end)
            drawing += symbol.label(_label(ref, values), loc=side) if ref else symbol
        for ref, gate in self.transistors:
            drawing += elm.NFet().reverse().anchor("gate").at(gate)
            drawing += elm.Label().at((gate[0] + 1.6, gate[1])).label(ref, halign="left")
        for ref, out, above in self.gates:
            drawing += logic.SchmittNand().scale(_GATE_SCALE).anchor("out").at(out).right()
            drawing += elm.Label().at((out[0] - 1.5, out[1] + above)).label(ref)
        drawing += elm.Button(nc=True).at(self.button[0]).to(self.button[1])
        if self.selector:
            drawing += elm.SwitchSpdt().anchor("a").at(self.selector).right()

    def _draw_points(self, drawing: schemdraw.Drawing) -> None:
        from schemdraw import elements as elm

        for at in self.grounds:
            drawing += elm.Ground().at(at)
        for at in self.dots:
            drawing += elm.Dot().at(at)
        for name, at, side in self.terminals:
            drawing += elm.Dot(open=True).at(at).label(name, loc=side)
        drawing += elm.Dot(open=True).at(self.supply).label("5V", loc="top")


def _label(ref: str, values: Values) -> str:
    """Return ``R2`` and under it ``22 kΩ``; only the ref if its value is not drawn."""
    value, unit = values.get(ref, (0.0, ""))
    if unit == "ohm":
        for least, prefix in ((1e6, "M"), (1e3, "k")):
            if value >= least:
                return f"{ref}\n{value / least:g} {prefix}Ω"
        return f"{ref}\n{value:g} Ω"
    if unit == "uF":
        return f"{ref}\n{value:g} µF" if value >= 0.1 else f"{ref}\n{value * 1000:g} nF"
    return ref
