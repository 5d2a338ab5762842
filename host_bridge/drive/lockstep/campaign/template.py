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
# link_loss = 0.1                         # once it may drive; also link_delay_ms, link_jitter_ms
# start_x_m = 0.0                         # also start_y_m, start_yaw_deg, payload_kg
# vehicle_changes = { "sources.script.lease_s" = 0.1 }   # any key of the vehicle file

[factors]                                 # keys of [case]: all combinations of their levels
fault = ["none", "lossy_wire:share=0.3@3s", "lossy_wire:share=0.6@3s"]
speed_mps = { from = 1.0, to = 2.0, levels = 2 }

# [uncertain]                             # sampled: one sample for each repetition, in all cells
# "vehicle_changes.plant.tyre.mu" = { low = 0.5, high = 1.05 }     # uniform
# payload_kg = { mean = 1.0, sd = 0.2, low = 0.0, high = 2.0 }     # normal, cut at both ends
# start_y_m = { median = 0.1, factor = 2.0, high = 0.5 }           # lognormal, cut at its high end
# [design]
# kind = "latin"          # grid (all cells) | list | latin | sobol | random | saltelli (indices) |
#                         # splitting (of a rare failure: level, chance; see KEYS.md)
# samples = 64            # instead of repetitions; of sobol and saltelli a power of 2
# cases = [{ speed_mps = 1.0 }, { speed_mps = 2.0 }]    # of list, instead of [factors]

[oracles]                                 # a case fails if one of these does not hold
completed = true                          # it drove for duration_s and came to rest
no_stop = true                            # the car never stopped by itself
no_collision = true                       # it hit no wall
on_track = true                           # its centre never left the track
# S1 = true                               # a promise of SAFETY.md; also S3, S4, S8
# no_spurious_stop = true                 # it never stopped, in cases without a fault
# rests_within_m = 2.0                    # from the last claim before a stop to standstill
# stops_within_m = 1.5                    # from when a stop was told to standstill
# path_error_within_m = 0.2               # the largest, of a path: controller
# laps_at_least = 1                       # over the line at its start
# distance_at_least_m = 5.0               # in truth

[keep]                                    # whole logs, for tandem station --log and tandem log
logs = "failures"                         # none | failures | all
sample = 0.01                             # of the others
most = 50                                 # logs, those of failures first

[limits]
wall_s = 60.0                             # for one case; beyond it is "not measured"

[report]
compare = "fault"                         # the first level against each other, on common seeds
confidence = 0.95
"""
