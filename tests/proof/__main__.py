"""Search all sequences of what may be said to a car, for one that breaks a promise: `make proof`.

Exit code 0 if each alphabet was searched to its fixed point and kept all promises; 1 if a promise
was broken (the shortest way there is written to a file); 2 for a wrong use; 3 if nothing was broken
and a search did not end: that is no proof.

examples:
  make proof                                   all alphabets, each to its end
  make proof ARGS="--list"                     which there are
  make proof ARGS="actions box --seconds 60"   two of them, for a minute each at most
  make proof ARGS="actions --fault 'row 1'"    one with a fault planted: it has to be found
  python -m tests.proof replay proof-out/actions-1.json
"""

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.proof import replay
from tests.proof.alphabets import ALL, BY_NAME, paired
from tests.proof.car import faults
from tests.proof.car.machine import Alphabet
from tests.proof.rules import PROMISES
from tests.proof.search import Result, Search, search

OK, BROKEN, WRONG_USE, NO_PROOF = 0, 1, 2, 3


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="ALPHABET", help="which; all by default")
    parser.add_argument(
        "--list", action="store_true", help="show alphabets and faults, search none"
    )
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    parser.add_argument("--seconds", type=float, default=0.0, help="at most, for each alphabet")
    parser.add_argument("--depth", type=int, default=0, help="at most; then it is no proof")
    pairs = "all pairs of them as well, each to this depth"
    parser.add_argument("--pairs", metavar="DEPTH", type=int, default=0, help=pairs)
    parser.add_argument("--fault", default="", help="plant this fault first")
    parser.add_argument("--out", type=Path, default=Path("proof-out"), help="for counterexamples")
    return parser.parse_args(words)


def _show_list() -> None:
    for alphabet in ALL:
        many = len(alphabet.words)
        print(f"{alphabet.name:18} {many:2} words, {len(alphabet.inputs)} inputs: {alphabet.says}")
    print("faults to plant:")
    for fault in faults.ALL:
        print(f"  {fault.name:18} {fault.says} (in {fault.alphabet})")


def _chosen(options: argparse.Namespace) -> list[Alphabet]:
    unknown = [name for name in options.names if name not in BY_NAME]
    if unknown:
        raise SystemExit(f"no alphabet {unknown[0]!r}; there are: {', '.join(BY_NAME)}")
    return [BY_NAME[name] for name in options.names] or list(ALL)


def _stops(seconds: float, depth: int) -> Callable[[Result], str]:
    def stops(result: Result) -> str:
        if seconds and result.seconds > seconds:
            return f"{seconds:g} s are over"
        return f"depth {depth} was asked for" if depth and result.depth >= depth else ""

    return stops


def _progress(result: Result) -> None:
    """One line on a terminal; elsewhere, in a log, a line for each fifth depth."""
    is_live = sys.stderr.isatty()
    if not is_live and result.depth % 5:
        return
    begin, end = ("\r", "") if is_live else ("", "\n")
    words = f"{begin}{result.alphabet}: depth {result.depth}, {result.states} states, "
    print(
        f"{words}{result.edges} edges, {result.seconds:.0f} s ",
        end=end,
        file=sys.stderr,
        flush=True,
    )


def _write(made: Search, folder: Path, fault: str) -> list[str]:
    """The counterexamples, a file each."""
    paths = []
    for number, found in enumerate(made.result.found, 1):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{made.result.alphabet.replace(' ', '-')}-{number}.json"
        path.write_text(json.dumps(replay.as_file(made.explorer, found, fault), indent=1))
        paths.append(str(path))
    return paths


def _show(result: Result, paths: Sequence[str]) -> None:
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    print(
        f"{result.alphabet:18} {result.states:7} states {result.edges:8} edges "
        f"{result.seconds:6.1f} s  {result.verdict}; {len(result.evidence)} promises tested"
    )
    for found, path in zip(result.found, paths, strict=True):
        print(f"    BROKEN: {found.promise}")
        for edge in found.steps:
            print(f"        {edge.words}")
        print(f"    again: python -m tests.proof replay {path}")
    sys.stdout.flush()


def _as_json(result: Result, paths: Sequence[str]) -> dict[str, object]:
    return {
        "alphabet": result.alphabet, "states": result.states, "edges": result.edges,
        "seconds": round(result.seconds, 1), "fixed_point": result.is_fixed_point,
        "verdict": result.verdict, "depth": result.depth, "evidence": result.evidence,
        "ways": sorted(result.ways), "refusals": sorted(result.refusals),
        "broken": [found.promise for found in result.found], "files": list(paths),
    }  # fmt: skip


def _searched(options: argparse.Namespace) -> list[Result]:
    """Search one after the other; Ctrl-C ends with what was found so far."""
    results, rows = [], []
    todo = [(alphabet, options.depth) for alphabet in _chosen(options)]
    if options.pairs:
        pairs = itertools.combinations([alphabet for alphabet, _ in todo], 2)
        todo += [(paired(one, other), options.pairs) for one, other in pairs]
    plant = faults.plant_of(options.fault)
    for alphabet, depth in todo:
        try:
            made_search = search(
                alphabet, plant, says=_progress, stops_at=_stops(options.seconds, depth),
                is_first_enough=bool(options.fault),
            )  # fmt: skip
        except KeyboardInterrupt:  # before its first state
            results.append(Result(alphabet.name, why="interrupted"))
            break
        result = made_search.result
        paths = _write(made_search, options.out, options.fault)
        results.append(result)
        rows.append(_as_json(result, paths))
        if not options.json:
            _show(result, paths)
        if result.why == "interrupted":
            break
    if options.json:
        print(json.dumps(rows, indent=1))
    return results


def _concluded(results: Sequence[Result], says: Callable[[str], None]) -> int:
    broken = [result.alphabet for result in results if result.found]
    open_ones = [result.alphabet for result in results if not result.is_fixed_point]
    if broken:
        says(f"BROKEN in {', '.join(broken)}")
        return BROKEN
    if open_ones or not results:
        says(f"not a proof: no fixed point in {', '.join(open_ones)}; nothing was broken so far")
        return NO_PROOF
    tested = {promise for result in results for promise in result.evidence}
    if len(results) == len(ALL) and tested != set(PROMISES):
        says(f"not a proof: never put to the test: {', '.join(set(PROMISES) - tested)}")
        return NO_PROOF
    says(f"{len(results)} alphabets, each searched to its fixed point: all promises were kept")
    return OK


def _replay(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proof replay")
    parser.add_argument("file", type=Path, help="a counterexample that the search wrote")
    try:
        return OK if replay.replay(replay.read(parser.parse_args(words).file), print) else BROKEN
    except replay.Unreadable as why:
        print(why, file=sys.stderr)
        return WRONG_USE


def main(words: Sequence[str]) -> int:
    if words[:1] == ["replay"]:
        return _replay(words[1:])
    options = _arguments(words)
    if options.list:
        _show_list()
        return OK
    if options.fault and options.fault not in faults.BY_NAME:
        print(f"no fault {options.fault!r}; --list shows them", file=sys.stderr)
        return WRONG_USE
    results = _searched(options)
    return _concluded(results, lambda text: print(text, file=sys.stderr if options.json else None))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
