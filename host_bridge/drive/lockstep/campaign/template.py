"""The campaign file that ``tandem campaign new`` writes: a whole one, with every key explained."""

TEMPLATE = """\
[campaign]
title = "What does a bad link cost?"      # the question
# note = "the losses are invented"        # is printed in the report
seed = 1
repetitions = 5                           # of each cell; repetition r has one seed in all cells

[case]                                    # one drive
vehicle = "f1tenth"                       # a name of tandem vehicles, or ./FILE.toml
track = "corridor"                        # a track of tandem sim --list; or map = "FILE.yaml"
controller = "path:centre?law=stanley&laps=0"  # any computed --input; path:centre is of the track
duration_s = 10.0                         # from when the car may drive
speed_mps = 1.0                           # as --speed
# fault = "lossy_wire:share=0.3@3s"       # as of tandem sim, seconds from power-up
# start_x_m = 0.0                         # also start_y_m, start_yaw_deg, payload_kg
# vehicle_changes = { "sources.script.lease_s" = 0.1 }   # any key of the vehicle file

[factors]                                 # keys of [case]: all combinations of their levels
fault = ["none", "lossy_wire:share=0.3@3s", "lossy_wire:share=0.6@3s"]
speed_mps = { from = 1.0, to = 2.0, levels = 2 }

[oracles]                                 # a case fails if one of these does not hold
completed = true                          # it drove for duration_s and came to rest
no_stop = true                            # the car never stopped by itself
no_collision = true                       # it hit no wall
on_track = true                           # its centre never left the track

[limits]
wall_s = 60.0                             # for one case; beyond it is "not measured"

[report]
compare = "fault"                         # the first level against each other, on common seeds
confidence = 0.95
"""
