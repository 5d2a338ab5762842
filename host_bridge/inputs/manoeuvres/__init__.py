"""Inputs that play commands: manoeuvres by name, and files of commands."""

from host_bridge.inputs.manoeuvres.csv_file import CsvFile
from host_bridge.inputs.manoeuvres.manoeuvre import Constant, InTurn, Manoeuvre, Slalom
from host_bridge.inputs.manoeuvres.player import MANOEUVRES, Player, make_csv, make_script

__all__ = [
    "MANOEUVRES",
    "Constant",
    "CsvFile",
    "InTurn",
    "Manoeuvre",
    "Player",
    "Slalom",
    "make_csv",
    "make_script",
]
