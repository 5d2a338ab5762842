"""The open-loop simulation of a drive: command queue, steering, plant, and a kinematic baseline."""
