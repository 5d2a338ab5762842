"""What is wrong with a harness: each rule gives sentences, none if it holds."""

import csv

from hardware.drawing.harness import BOARD, FOLDER

# Pins of contacts and fuses: what passes there supplies nothing in the part itself.
CONTACTS = {("K2", "30"), ("K2", "A1"), ("RS1", "11"), ("RS1", "21"), ("RS1", "NB"), ("F3", "out")}
PULL_DOWNS, RUNSTOP_BOARD = "RP1", "RS1"  # the former are drawn at the board's pins
SENSES = {("BV1", "VBUS")}  # measured, not a supply
LOGIC = {("D11", "VCC"), ("D12", "VCC")}  # milliamperes; the motors hang on VM


def wire_limits():
    with (FOLDER / "wiring" / "wires.csv").open(encoding="utf-8", newline="") as file:
        return {float(row["mm2"]): float(row["limit_a"]) for row in csv.DictReader(file)}


def parts(harness):
    """Every end is in the parts list, and every part of the list is wired."""
    ends = {end.ref for lead in harness.leads for end in (lead.source, lead.end)} | {PULL_DOWNS}
    yield from (
        f"{ref} is wired, and in no parts list" for ref in ends - set(harness.items) - {PULL_DOWNS}
    )
    yield from (f"{ref} is in the parts list, and not wired" for ref in set(harness.items) - ends)


def roles(harness):
    """What the board file wires is drawn, but what is on the board itself."""
    drawn = [lead.role for lead in harness.leads if lead.role]
    for role in harness.roles:
        if role.pin not in harness.board.reserved and role not in drawn:
            yield f"{role.key} is wired in the board file, and not drawn"
    if len(drawn) != len({role.key for role in drawn}):
        yield "a role is drawn twice"


def pull_downs(harness):
    """As many as the board file wants where the runstop board does not bring its own."""
    wanted = sum(
        lead.role.facts.acts and lead.role.part.values["pull_down_ohm"] > 0
        for lead in harness.leads
        if lead.role and lead.end.ref != RUNSTOP_BOARD
    )
    item = harness.items.get(PULL_DOWNS)
    listed = int(item.texts["qty"]) if item else 0
    if listed != wanted:
        yield f"{wanted} pull-downs are wanted, {listed} in the parts list"


def stops(harness, wanted):
    """Each stop source of the vehicle comes by a part that is wired."""
    yield from (f"{name} comes by no part" for name in wanted - set(harness.stops))
    yield from (f"{name} is no stop source" for name in set(harness.stops) - wanted)
    ends = {lead.end.ref for lead in harness.leads}
    yield from (
        f"{ref} of {name} is not wired" for name, ref in harness.stops.items() if ref not in ends
    )


def levels(harness):
    """No pin of the board sees more than its file says, and each input sees a high for a high."""
    board = harness.items[BOARD].limits
    for lead in harness.leads:
        if lead.role:
            part = harness.items[lead.end.ref].limits
            yield from _levels_at_pin(lead, part, board)
        elif lead.source.pin.startswith("out") and "in_v" in harness.items[lead.end.ref].limits:
            yield from _levels_between(lead, harness.items)


def _levels_at_pin(lead, part, board):
    if lead.role.facts.is_output:
        if part.get("in_v", 99.0) > board["out_v"]:
            yield f"{lead.end} does not take {board['out_v']} V for high: a level shifter"
        return
    most = lead.role.part.values.get("volts", board["out_v"])
    if part.get("out_v", 99.0) > most:
        yield f"{lead.end} puts out more than the {most} V of {lead.role.key}: a level shifter"
    if lead.role.facts.is_input and part.get("out_v", 0.0) < board["in_v"]:
        yield f"{lead.end} puts out less than the board takes for high"


def _levels_between(lead, items):
    out_v = items[lead.source.ref].limits.get("out_v")
    if out_v is not None and out_v < items[lead.end.ref].limits["in_v"]:
        yield f"{lead.end} does not take {out_v} V of {lead.source} for high"


def supplies(harness):
    """What is fed gets volts that it bears and that suffice."""
    for lead in harness.leads:
        part = harness.items[lead.end.ref].limits
        if lead.feed is None or (lead.end.ref, lead.end.pin) in CONTACTS | SENSES:
            continue
        if lead.feed.most_v > part.get("supply_max_v", lead.feed.most_v):
            yield f"{lead.end} does not bear {lead.feed.most_v} V of {lead.source}"
        if lead.feed.least_v < part.get("supply_min_v", lead.feed.least_v):
            yield f"{lead.end} does not run on {lead.feed.least_v} V of {lead.source}"


def fuses(harness):
    """No wire bears less than what its fuse or regulator lets through."""
    bears = wire_limits()
    for lead in harness.leads:
        if lead.feed and lead.feed.limit_a > bears[lead.mm2] and str(lead.source) != "B1.+":
            yield f"{lead.cable}: {lead.mm2} mm2 bears {bears[lead.mm2]} A of {lead.feed.limit_a} A"
        elif (
            lead.feed
            and harness.feeds["F1.out"].limit_a > bears[lead.mm2]
            and str(lead.source) == "B1.+"
        ):
            yield f"{lead.cable}: {lead.mm2} mm2 before the fuse is thinner than behind it"
    for ref in ("F1", "F2", "F3"):
        feed = harness.feeds.get(f"{ref}.out")
        if feed and feed.limit_a != harness.items[ref].limits["current_a"]:
            yield f"{ref} is a fuse of another size than its feed says"


def loads(harness):
    """What hangs on a feed does not take more than it gives."""
    for name, feed in harness.feeds.items():
        ends = {lead.end for lead in harness.leads if str(lead.source) == name}
        fed = {end.ref for end in ends if (end.ref, end.pin) not in CONTACTS | LOGIC}
        amperes = sum(_amperes(harness.items[ref]) for ref in fed)
        if amperes > feed.limit_a:
            yield f"{name} gives {feed.limit_a} A, and {amperes:.2f} A hang on it"


def _amperes(item):
    """A fuse's are its size, and a switch's what it bears: what flows there is counted behind."""
    is_passage = item.ref == "D1" or item.ref.startswith(("F", "S"))
    return 0.0 if is_passage else item.limits.get("current_a", 0.0)


RULES = (roles, pull_downs, levels, supplies, fuses, loads)
