"""``tandem vehicles new``: its options, and its questions at a terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from host_bridge.config.new_vehicle.build import base_tables, open_questions
from host_bridge.config.new_vehicle.questions import (
    BY_NAME,
    LIKE,
    QUESTIONS,
    Answers,
    Question,
    Tables,
    read_answer,
    shown,
)
from host_bridge.core.errors import UsageFault, VehicleFileFault

_BASE = "f1tenth"  # offered first: most cars that are built by oneself are 1:10 with a plain ESC


def add_new_options(parser: argparse.ArgumentParser) -> None:
    """Declare one option for each question."""
    group = parser.add_argument_group(
        "new", "write the file of a car of your own; at a terminal it asks for what is not given"
    )
    for question in QUESTIONS:
        group.add_argument(
            question.option, metavar="ANSWER", help=f"{question.text} {question.hint}"
        )


def given_options(args: argparse.Namespace) -> list[str]:
    """Return the options of ``new`` that were given."""
    return [it.option for it in QUESTIONS if getattr(args, it.name) is not None]


def ask_answers(args: argparse.Namespace, path: Path) -> tuple[Answers, Tables, list[str]]:
    """Return the answers, the base's tables, and the names of answers taken over from the base.

    At a terminal it asks for each that no option gives. Elsewhere the base's are taken, and what
    has none is demanded. Raises UsageFault, VehicleFileFault.
    """
    is_asking = sys.stdin.isatty() and sys.stdout.isatty() and not args.json
    if is_asking:
        print("ENTER takes what stands in [brackets]; Ctrl-C ends, and nothing is written.")
    like, tables = _base(args, is_asking)
    answers: Answers = {LIKE: like}
    taken = []
    for question in open_questions(answers, tables):
        default = question.default(tables) if question.default else path.stem
        text = getattr(args, question.name)
        if text is not None:
            answers[question.name] = read_answer(question, text)
        elif is_asking:
            answers[question.name] = _asked(question, default)
        elif default is not None:
            answers[question.name] = default
            taken.append(question.name)
        else:
            raise _missing(question)
    _refuse_unused(args, answers)
    return answers, tables, taken


def _base(args: argparse.Namespace, is_asking: bool) -> tuple[str, Tables]:
    """Return the base, a name or an absolute path, and its tables."""
    question = BY_NAME[LIKE]
    if args.like is None and not is_asking:
        raise _missing(question)
    while True:
        given = args.like if args.like is not None else _asked(question, _BASE)
        like = str(read_answer(question, given))
        is_path = "/" in like or like.endswith(".toml")
        like = str(Path(like).absolute()) if is_path else like
        try:
            return like, base_tables(like)
        except VehicleFileFault as fault:
            if args.like is not None:
                raise
            print(f"  {fault}")


def _asked(question: Question, default: Any) -> Any:
    """Ask until the answer can be read; an empty one is the default."""
    print(f"\n{question.text}  ({question.hint})")
    while True:
        text = input("  > " if default is None else f"  [{shown(default)}] > ")
        if not text.strip() and default is not None:
            return default
        try:
            return read_answer(question, text)
        except UsageFault as fault:
            print(f"  {fault.what}\n    expected: {fault.expected}\n    got: {fault.got}")


def _missing(question: Question) -> UsageFault:
    return UsageFault(
        f"nobody can be asked: {question.text}",
        where=question.option,
        expected=f"{question.option} ANSWER, or a terminal",
        got="neither",
        remedy=question.hint,
    )


def _refuse_unused(args: argparse.Namespace, answers: Answers) -> None:
    """Refuse an option that does not concern this car: it would be ignored in silence."""
    for question in QUESTIONS:
        if getattr(args, question.name) is not None and question.name not in answers:
            raise UsageFault(
                f"{question.option} does not concern this car",
                where=question.option,
                expected=f"it is left out, with {answers[LIKE]} and these answers",
                got=str(getattr(args, question.name)),
                remedy=question.hint,
            )
