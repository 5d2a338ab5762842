"""The runstop circuit: one board for all cars, and the use of its relay on each.

Values are those of ``hardware/bom/runstop_board.csv``. The tables list parts between two points; y
goes up.
"""

from __future__ import annotations

from hardware.drawing.circuit import At, Circuit

# kind, label, from, to, side of the label
SYMBOLS: tuple[tuple[str, str, At, At, str], ...] = (
    # 1 the pump
    ("wire", "", (0, 0), (1.5, 0), ""),
    ("resistor", "R9", (1.5, 0), (1.5, -2.2), "bottom"),
    ("resistor", "R1", (1.5, 0), (3.9, 0), "top"),
    ("capacitor", "C1", (3.9, 0), (5.9, 0), "top"),
    ("diode", "D1", (5.9, -2.2), (5.9, 0), "bottom"),
    ("diode", "D1", (5.9, 0), (8, 0), "top"),
    ("capacitor", "C2", (8, 0), (8, -2.2), "bottom"),
    ("wire", "", (8, 0), (10.3, 0), ""),
    ("resistor", "R2", (10.3, 0), (10.3, -2.2), "bottom"),
    ("wire", "", (10.3, 0), (11.6, 0), ""),
    # 2 the coil, and the loop that carries it
    ("wire", "", (12.97, 0.75), (12.97, 1.6), ""),
    ("box", "K1", (12.97, 1.6), (12.97, 4), "top"),
    ("wire", "", (12.97, 1.6), (14.6, 1.6), ""),
    ("diode", "D3", (14.6, 1.6), (14.6, 2.8), "bottom"),
    ("zener", "D4", (14.6, 4), (14.6, 2.8), "top"),
    ("wire", "", (14.6, 4), (12.97, 4), ""),
    ("wire", "", (12.97, 4), (12.97, 4.8), ""),
    ("wire", "", (12.97, 6.8), (12.97, 7.6), ""),
    # 3 the loop's pin
    ("wire", "", (12.97, 4), (9.8, 4), ""),
    ("resistor", "R3", (9.8, 4), (7.4, 4), "top"),
    ("resistor", "R4", (7.4, 4), (7.4, 1.8), "bottom"),
    ("wire", "", (7.4, 4), (4.8, 4), ""),
    ("capacitor", "C3", (4.8, 4), (4.8, 1.8), "bottom"),
    ("wire", "", (4.8, 4), (3.4, 4), ""),
    # 4 the read-back
    ("resistor", "R5", (19, 0), (21.4, 0), "top"),
    ("wire", "", (21.4, 0), (26.6, 0), ""),
    ("wire", "", (22.4, 0), (22.4, -0.6), ""),
    ("resistor", "R7", (17.4, -1.35), (19.8, -1.35), "top"),
    ("resistor", "R8", (19.8, -1.35), (19.8, -3.4), "bottom"),
    ("wire", "", (19.8, -1.35), (21.03, -1.35), ""),
    ("resistor", "R6", (24.8, 0), (24.8, -2.2), "bottom"),
    # 5 the drive rail
    ("contact", "K1  11-14", (17.4, 6), (19.8, 6), "top"),
    ("wire", "", (19.8, 6), (20.6, 6), ""),
    ("box", "K2 coil", (20.6, 6), (20.6, 3.8), "bottom"),
    ("wire", "", (23, 6), (24, 6), ""),
    ("wire", "", (24.76, 6.7), (25.4, 6.7), ""),
    ("wire", "", (25.4, 6.7), (25.4, 7.4), ""),
    ("fuse", "F3", (25.4, 7.4), (27.4, 7.4), "top"),
    ("wire", "", (27.4, 7.4), (27.4, 8.4), ""),
    ("wire", "", (27.4, 8.4), (28.6, 8.4), ""),
    ("box", "H1 lamp", (27.4, 7.4), (29.6, 7.4), "bottom"),
    ("wire", "", (29.6, 7.4), (29.6, 7), ""),
    ("wire", "", (24.76, 6), (30, 6), ""),
    ("contact", "K1  21-24", (22.6, 3.6), (25, 3.6), "top"),
    ("resistor", "R20", (25, 3.6), (27.4, 3.6), "top"),
    ("wire", "", (27.4, 3.6), (27.4, 6), ""),
    # 6 the kill input
    ("contact", "K1  11-14", (36, 6), (38.4, 6), "top"),
    ("wire", "", (38.4, 6), (40.4, 6), ""),
    ("resistor", "R21\n10 kΩ", (38.9, 6), (38.9, 3.8), "bottom"),
    ("contact", "K1  21-24", (36, 1.4), (38.4, 1.4), "top"),
    ("wire", "", (38.4, 1.4), (40.4, 1.4), ""),
)
GROUNDS: tuple[At, ...] = (
    *((1.5, -2.2), (5.9, -2.2), (8, -2.2), (10.3, -2.2), (12.97, -0.75), (7.4, 1.8), (4.8, 1.8)),
    *((19.8, -3.4), (22.4, -2.1), (24.8, -2.2), (20.6, 3.8), (29.6, 7), (38.9, 3.8)),
)
DOTS: tuple[At, ...] = (
    *((1.5, 0), (5.9, 0), (8, 0), (10.3, 0), (12.97, 1.6), (12.97, 4), (7.4, 4), (4.8, 4)),
    *((22.4, 0), (24.8, 0), (19.8, -1.35), (27.4, 7.4), (27.4, 6), (38.9, 6)),
)
TRANSISTORS: tuple[tuple[str, At], ...] = (("Q1", (11.6, 0)), ("Q2", (21.03, -1.35)))  # the gate
TERMINALS: tuple[tuple[str, At, str], ...] = (
    ("LIFE", (0, 0), "left"),
    ("LOOP", (3.4, 4), "left"),
    ("L-", (12.97, 4.8), "right"),
    ("L+", (12.97, 6.8), "right"),
    ("RB", (19, 0), "left"),
    ("NB", (17.4, -1.35), "left"),
    ("CONTACT", (26.6, 0), "right"),
    ("F2", (17.4, 6), "left"),
    ("S1", (23, 6), "left"),
    ("NB", (28.6, 8.4), "right"),
    ("drive rail", (30, 6), "right"),
    ("F2", (22.6, 3.6), "left"),
    ("VESC 3.3 V", (36, 6), "left"),
    ("VESC ADC2", (40.4, 6), "right"),
    ("5V", (36, 1.4), "left"),
    ("RB", (40.4, 1.4), "right"),
)
TEXTS: tuple[tuple[str, At], ...] = (
    ("1  Only a LIFE that toggles lifts the gate;\n    high or low for ever does not", (0, -4.6)),
    ("2  The loop, normally closed,\n    carries the coil of K1", (14.2, 7.0)),
    ("SB1, more of them in series", (7.6, 5.7)),
    ("3  An open loop reads low", (3.4, 6.6)),
    ("4  CONTACT is high while the enable is closed:\n    RB high, and 87a dead", (17.4, 1.9)),
    ("5  Nigel, F1TENTH with a plain ESC: K1 works K2 in the drive rail.", (17.4, 10.2)),
    ("    RB is wired to 5V. K1 21-24 and R20 (precharge): with an ESC only.", (17.4, 9.5)),
    ("30", (23.4, 6.2)),
    ("87a", (24.4, 7.0)),
    ("87", (24.9, 5.3)),
    ("6  F1TENTH with a VESC: K1 works its kill input", (34, 7.6)),
    (
        "    AutoRally: as 5; K2 is a contactor, and its\n    auxiliary contact joins 5V to RB",
        (34, -0.6),
    ),
)


CIRCUIT = Circuit(
    "runstop_circuit",
    ("runstop_board",),
    SYMBOLS,
    GROUNDS,
    DOTS,
    TRANSISTORS,
    TERMINALS,
    TEXTS,
    button=((12.97, 4.8), (12.97, 6.8)),
    selector=(24, 6),
    supply=(12.97, 7.6),
)
