"""Runs everything there is, in parts whose verdicts are kept: ``make nightly``, ``make studies``.

Called again it goes on where it was: after Ctrl-C, a kill, a reboot, hours that were over. A
verdict holds for the files as they lie there; where one of them changes all is to be run again (of
a study only where one changes that it depends on). What was cut, was not measured or did not fit is
run, what passed or failed is told as it was; --again-failed runs what failed, too. Reports, logs
and verdicts are in .nightly/, or in $TANDEM_NIGHTLY_DIR.

exit codes: 0 all passed; 1 something failed; 75 nothing failed, but something was not measured, not
finished or not begun; 130 on Ctrl-C. (make itself ends with 2 for any of these but the first.)

examples:
  make nightly                                      everything, within ten hours
  make nightly ARGS="--hours 3"                     what fits into three; the rest the next time
  make nightly ARGS="--list"                        the parts, their hours and what is known of them
  make nightly ARGS="--only hardware safety"        these parts alone
  make nightly ARGS="--again-failed"                what failed once more, and what is left
  make nightly ARGS="--fresh"                       forget all verdicts, and begin
  make studies                                      what takes longer, where its code changed
  python -m tests.nightly --draw 4 --seed 7         four minutes, by lot, as .ci/run does
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.nightly import draw, keeping, report
from tests.nightly.keeping import Store
from tests.nightly.night import Night, exit_code, told
from tests.nightly.parts import NIGHT, ROOT, STUDIES, Part
from tests.nightly.running import Ended, run

_ENDLESS_H = 24.0 * 365  # a study takes what it takes


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.nightly", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--studies", action="store_true", help="the studies instead of the night")
    parser.add_argument("--hours", type=float, help="begin nothing that does not fit (10)")
    parser.add_argument("--only", nargs="+", metavar="PART", default=[], help="these parts")
    parser.add_argument("--list", action="store_true", help="show the parts, run none")
    parser.add_argument("--again-failed", action="store_true", help="run what failed again")
    parser.add_argument("--fresh", action="store_true", help="forget the verdicts of these parts")
    parser.add_argument("--draw", type=float, metavar="MINUTES", help="a part by lot, for CI")
    parser.add_argument("--seed", type=int, help="of the lot (by the commit)")
    parser.add_argument(
        "--leaves-out", metavar="EXPR", default="",
        help="draw from what these markers choose, instead of what make test leaves out",
    )  # fmt: skip
    return parser.parse_args(words)


def _says(text: str) -> None:
    print(text, end="", flush=True)


def _clock(night: Night, part: Part, seconds: float, expected_s: float) -> None:
    """On a terminal, how long it has been at it; a log needs no ticking."""
    if sys.stderr.isatty():
        rest = f"{night.rest_s() / 3600:.2f} h left of the night"
        words = f"{part.name}: {seconds / 60:.1f} of some {expected_s / 60:.0f} min, {rest}"
        print(f"\r{words:78}\r", end="", file=sys.stderr, flush=True)


def _chosen(parts: Sequence[Part], only: Sequence[str]) -> list[Part]:
    names = [part.name for part in parts]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise SystemExit(f"no part {unknown[0]!r}; there are: {', '.join(names)}")
    return [part for part in parts if not only or part.name in only]


def _nightly(options: argparse.Namespace, folder: Path) -> int:
    parts = _chosen(STUDIES if options.studies else NIGHT, options.only)
    store, commit = Store(folder), keeping.commit_of(ROOT)

    def runner(words: Sequence[str], part: Part, limit_s: float, expected_s: float) -> Ended:
        def says(seconds: float) -> None:
            _clock(night, part, seconds, expected_s)

        return run(words, store.log(part.name), limit_s, says, ROOT)

    night = Night(
        store, runner, time.time, lambda part: keeping.code_of(ROOT, part.sources), commit, _says,
        options.hours or (_ENDLESS_H if options.studies else 10.0), options.again_failed,
    )  # fmt: skip
    if options.fresh:
        for part in parts:
            store.forget(part.name)
    if options.list:
        return _listed(parts, night)
    verdicts = night.go(parts)
    _says(f"\n{report.written(verdicts, commit, folder, options.studies)}\n")
    _says(f"report: {folder / report.NAME}.md\n")
    return 130 if night.is_interrupted else exit_code(verdicts)


def _listed(parts: Sequence[Part], night: Night) -> int:
    for part in parts:
        last, code = night.store.get(part.name), night.code(part)
        is_kept = keeping.is_kept(last, part, code, False)
        known = f"{told(last)} on {last.when}, {last.commit[:12]}" if last and is_kept else ""
        hours = "  rest" if part.takes_the_rest else f"{night.expected_s(part) / 3600:6.2f}"
        _says(f"{hours} h  {part.name:26} {known}  {part.why}".rstrip() + "\n")
    total = sum(night.expected_s(part) for part in parts if not part.takes_the_rest) / 3600
    _says(f"{total:6.2f} h  in all\n")
    return 0


def _drawing(options: argparse.Namespace, folder: Path) -> int:
    store = Store(folder / "draw")
    expression = options.leaves_out or draw.left_out_of_test((ROOT / "Makefile").read_text())
    seed = int(keeping.commit_of(ROOT)[:8], 16) if options.seed is None else options.seed
    _says(f'drawing {options.draw:g} min by --seed {seed} from -m "{expression}"\n')
    begun_s = time.time()

    def runner(words: Sequence[str], file: str, limit_s: float) -> Ended:
        return run(words, store.log(file), limit_s, lambda _: None, ROOT)

    files = draw.collected(expression)
    minutes = options.draw - (time.time() - begun_s) / 60  # looking for them counts
    return draw.drawn(files, draw.known_s(folder), expression, minutes, seed, runner, time.time,
                      lambda text: _says(f"{text}\n"))  # fmt: skip


def main(words: Sequence[str]) -> int:
    """Run what was asked for; returns the exit code."""
    # In the background of a shell Ctrl-C is ignored; a terminate ends in order as well
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    options = _arguments(words)
    folder = Path(os.environ.get("TANDEM_NIGHTLY_DIR") or ROOT / ".nightly").resolve()
    folder = folder / "studies" if options.studies else folder
    try:
        return _drawing(options, folder) if options.draw else _nightly(options, folder)
    except RuntimeError as why:
        print(why, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nended", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
