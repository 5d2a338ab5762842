"""The way into hardware in the loop, of a car that tests have made."""

from firmware.boards.simulated.hitl_entry import HitlEntry


def door_of(app):
    return HitlEntry(
        app.receiver, app.supervisor, app.actions, app.output_stage, app.board.board_id
    )
