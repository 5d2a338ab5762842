"""The way into hardware in the loop, of a car that tests have made."""

from firmware.boards.simulated.hitl_entry import Door


def door_of(app):
    return Door(app.receiver, app.supervisor, app.actions, app.output_stage, app.board.board_id)
