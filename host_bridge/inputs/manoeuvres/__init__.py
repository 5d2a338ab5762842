"""Inputs that play commands: manoeuvres by name, and files of commands."""

from host_bridge.inputs.manoeuvres.csv_file import CsvManoeuvre
from host_bridge.inputs.manoeuvres.manoeuvre import Constant, Manoeuvre, ManoeuvreSequence, Slalom
from host_bridge.inputs.manoeuvres.player import MANOEUVRES, ManoeuvrePlayer, make_csv, make_script

__all__ = [
    "MANOEUVRES",
    "Constant",
    "CsvManoeuvre",
    "Manoeuvre",
    "ManoeuvrePlayer",
    "ManoeuvreSequence",
    "Slalom",
    "make_csv",
    "make_script",
]
