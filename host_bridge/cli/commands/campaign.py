"""``tandem campaign``: computes thousands of drives of virtual cars, and judges them.

A campaign is a folder with a campaign.toml. Each case is one drive in virtual time by the car's own
program, decided by its spec alone: run again it gives the same bits.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from shlex import quote

from host_bridge.cli.arguments.arg_types import whole
from host_bridge.cli.commands import station
from host_bridge.core.errors import (
    INTERRUPTED,
    DataFileFault,
    NotHeldFault,
    NotShownFault,
    UsageFault,
)
from host_bridge.drive.lockstep.campaign import course
from host_bridge.drive.lockstep.campaign.case import Row, uri_of
from host_bridge.drive.lockstep.campaign.judging.analysis import Analysis
from host_bridge.drive.lockstep.campaign.judging.export import (
    CSV,
    PARQUET,
    write_csv,
    write_parquet,
)
from host_bridge.drive.lockstep.campaign.judging.progress import Progress
from host_bridge.drive.lockstep.campaign.judging.report import summary
from host_bridge.drive.lockstep.campaign.plan import Plan, read_plan
from host_bridge.drive.lockstep.campaign.rare.splitting import run_spec
from host_bridge.drive.lockstep.campaign.runners.clusters import LOCAL, SLURM_KEYS
from host_bridge.drive.lockstep.campaign.runners.keeping import log_of, write_log
from host_bridge.drive.lockstep.campaign.spec import (
    SPLITTING,
    Spec,
    case_id,
    code_hash,
    is_impure,
)
from host_bridge.drive.lockstep.campaign.store import FILE, folder_of, is_running
from host_bridge.drive.lockstep.campaign.template import TEMPLATE
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.sharing.services import Host
from sim_mock.runtime import compiled

EPILOG = """\
examples:
  tandem campaign new bad_link           write bad_link/campaign.toml, every key explained
  tandem campaign new study --from FILE.toml
  tandem campaign run bad_link           compute what is missing; again after Ctrl-C: it goes on
  tandem campaign run bad_link --on dask --workers 4
  tandem campaign run bad_link --on 'slurm?queue=short&walltime=02:00:00' --workers 32
  tandem campaign status bad_link        from any terminal, while it runs or later
  tandem campaign report bad_link        write report.html and table.tex
  tandem campaign show bad_link 3f0c     run one case again and compare all its bytes
  tandem campaign show bad_link 3f0c --station    and see its drive on the station's page
  tandem campaign export bad_link        rows.parquet, units in its columns; --csv: rows.csv

Rows are in rows.jsonl, one line of JSON for each case; a kill loses only the cases in hand. Whole
logs of failures, and of a sample of the others, are in logs/ once all cases are there.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.epilog = EPILOG
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, text, add_options in (
        ("new", "write a campaign's folder and file", _add_new),
        ("run", "compute the cases that are missing, and write the report", _add_run),
        ("resume", "the same as run", _add_run),
        ("status", "show how far it is", None),
        ("report", "write report.html and table.tex of what is there", None),
        ("show", "run one case again, and compare it with its row", _add_show),
        ("export", "write the rows as one table: Parquet, or CSV", _add_export),
    ):
        kind = kinds.add_parser(name, help=text, description=text)
        kind.add_argument(
            "folder", type=Path, metavar="FOLDER", help=f"the campaign's folder, or its {FILE}"
        )
        if add_options:
            add_options(kind)
        if name != "new":
            kind.add_argument("--json", action="store_true", help="print it as JSON")


def _add_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="a campaign's file to begin with (default: one with every key explained)",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=whole,
        metavar="N",
        help="case processes, or jobs, at once (default: one for each core here)",
    )
    parser.add_argument(
        "--on",
        default=course.HERE,
        metavar="RUNNER",
        help="processes (default), dask (a cluster of this machine), dask://HOST:PORT, or "
        f"slurm?KEY=VALUE&... (jobs of one core; {', '.join(SLURM_KEYS)})",
    )
    parser.add_argument(
        "--twice",
        choices=("some", "all"),
        default="some",
        help="run cases twice and compare: some of Python functions (default), or all",
    )


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("case", metavar="CASE", help="its id, or how that begins")
    parser.add_argument("--log", type=Path, metavar="FILE.mcap", help="write its whole log")
    parser.add_argument("--station", action="store_true", help="show its drive, with a time slider")
    parser.add_argument(
        "--port", type=whole, metavar="N", help="of --station (default: the station's own)"
    )


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--csv", action="store_true", help="write CSV instead of Parquet")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="default: rows.parquet or rows.csv"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code. Raises errors.TandemError."""
    args.folder = folder_of(args.folder)
    if args.what == "new":
        return _new(args.folder, args.source)
    plan = course.open_plan(args.folder)
    if args.what in ("run", "resume"):
        return _run(args, host)
    if args.what == "show":
        return _show(args, host)
    if args.what == "export":
        return _export(args, plan)
    if args.what == "report":
        found = course.write_report(args.folder, plan)
    else:
        found = course.analysis_of(args.folder, plan, course.newest_code(args.folder))
    figures = {**_figures(found), "is_running": is_running(args.folder)}
    lines = [summary(plan, found)]
    if args.what == "status":
        lines.append("It is running." if figures["is_running"] else "Nothing runs.")
    else:
        lines.append(str(args.folder / course.REPORT))
    print(json.dumps(figures) if args.json else "\n".join(lines))
    return 0


def _figures(found: Analysis) -> dict[str, object]:
    figures: dict[str, object] = {
        "outcomes": dict(found.outcomes),
        "missing": found.missing,
        "failed": found.overall.count,
        "judged": found.overall.total,
        "interval": [found.overall.low, found.overall.high],
        "at_most": found.overall.most,
    }
    if found.rare:
        it = found.rare
        figures["rare"] = {
            "share": it.share,
            "interval": [it.low, it.high],
            "replicates": it.replicates,
            "runs": it.runs,
            "virtual_s": it.virtual_s,
            "extinct": it.extinct,
            "cut": it.cut,
        }
    return figures


def _new(folder: Path, source: Path | None) -> int:
    file = folder / FILE
    text = TEMPLATE
    if source:
        read_plan(source)  # refused where its own lines can be named
        text = source.read_text(encoding="utf-8")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise DataFileFault.in_the_way(file) from None
    except OSError as error:
        raise DataFileFault.unwritable("the campaign", file, error) from None
    print(f"{file}: edit it, then: tandem campaign run {quote(str(folder))}")
    return 0


def _run(args: argparse.Namespace, host: Host) -> int:
    if args.workers is not None and args.workers < 1:
        raise UsageFault("--workers", expected="1 or more", got=str(args.workers))

    how = "" if compiled.is_built() else compiled.how_to_build()
    if how and args.on in (course.HERE, LOCAL):
        print(
            f"Cases run as plain Python; as machine code they take about half as long, with the "
            f"same bits: {how}",
            file=sys.stderr,
        )

    def tell(progress: Progress) -> None:
        text = json.dumps(progress.figures()) if args.json else progress.line()
        print(text, flush=True)

    is_whole = course.run_campaign(
        args.folder,
        host.vehicles,
        args.workers,
        tell,
        args.on,
        is_all_twice=args.twice == "all",
    )
    plan = course.open_plan(args.folder)
    found = course.analysis_of(args.folder, plan, code_hash())
    if not args.json:
        print(summary(plan, found), args.folder / course.REPORT, sep="\n")
    if not is_whole:
        again = f"tandem campaign run {quote(str(args.folder))}"
        print(f"interrupted; {again} goes on", file=sys.stderr)
        return INTERRUPTED
    if found.outcomes.get("not_measured"):
        raise NotShownFault(
            f"{found.outcomes['not_measured']} cases were not measured",
            where=str(args.folder),
            remedy="rows.jsonl says why; running it again tries them again",
        )
    return 0


def _export(args: argparse.Namespace, plan: Plan) -> int:
    if args.out:  # the folder's own table is made anew each time
        refuse_unwritable(args.out, "the table")
    code = course.newest_code(args.folder)
    rows = course.rows_of(args.folder, plan, code)
    path = args.out or args.folder / (CSV if args.csv else PARQUET)
    if args.csv:
        write_csv(rows, path)
    else:
        facts = {"title": plan.title, "note": plan.note, "code": code, "seed": str(plan.seed)}
        write_parquet(rows, path, facts)
    answer = {"file": str(path), "rows": len(rows), "missing": plan.count() - len(rows)}
    print(json.dumps(answer) if args.json else f"{path}: {len(rows)} of {plan.count()} cases")
    return 0


def _show(args: argparse.Namespace, host: Host) -> int:
    spec, before = course.spec_named(args.folder, course.open_plan(args.folder), args.case)
    id_ = case_id(spec)
    log = args.log
    if args.station and log is None:
        log = log_of(args.folder, id_)
    is_new = log is not None and (args.log is not None or not log.exists())
    if is_new and SPLITTING in spec:
        raise UsageFault("a replicate is many drives", remedy="show one of its branches")
    row = _shown_row(spec, host, log if is_new else None)
    is_same = None  # of what was not run before, or is impure
    if before is not None and not is_impure(spec):
        is_same = before.get("result_hash") == row["result_hash"]
    if args.json:
        print(json.dumps({**row, "is_same": is_same}))
    else:
        print(f"case {id_}: {row['outcome']} {row['why']}".rstrip())
        print(f"  {uri_of(spec)}")
        shown = {k: v for k, v in row.items() if k not in ("case_id", "spec", "ran", "oracles")}
        print("\n".join(f"  {key}: {value}" for key, value in shown.items()))
    if is_same is False and before is not None:
        raise NotHeldFault(
            "run again it is not the same",
            where=f"case {id_}",
            expected=f"{before.get('result_hash')} of code {before['code']}",
            got=f"{row['result_hash']} of code {code_hash()}",
            remedy="" if before["code"] == code_hash() else "this program is not the one it was",
        )
    if log is not None and not log.exists():
        raise NotShownFault("it never drove, so there is no log", where=f"case {id_}")
    return _on_station(log, args.port, host) if args.station else 0


def _shown_row(spec: Spec, host: Host, log: Path | None) -> Row:
    """Run a case, and write its log if there is to be one. Raises errors.DataFileFault."""
    if log is None:
        return run_spec(spec, host.vehicles)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileFault.unwritable("the log", log, error) from None
    return write_log(spec, host.vehicles, log)


def _on_station(log: Path, port: int | None, host: Host) -> int:
    parser = argparse.ArgumentParser(prog="tandem station")
    station.add_arguments(parser)
    words = ["--log", str(log), *([] if port is None else ["--port", str(port)])]
    print(f"tandem station --log {quote(str(log))}", file=sys.stderr)
    return station.run(parser.parse_args(words), host)
