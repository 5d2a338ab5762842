"""The Dask clusters of a campaign: of this machine, one that is there already, or jobs of Slurm.

Where Dask listens beyond this process, both ends have keys of this run (TLS): nobody else may
give a worker code to run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.system.running import HeldInterrupts

LOCAL, SLURM = "dask", "slurm"
SCHEME = "dask://"
SLURM_KEYS = {  # of --on slurm?KEY=VALUE&...: what each is for sbatch or Dask
    "queue": "the partition",
    "account": "who pays",
    "walltime": "HH:MM:SS of a job",
    "memory": "of a job, as 2GB",
    "interface": "the network by which nodes reach this machine, as ib0",
    "directive": "one more line of #SBATCH, as --qos=low",
}
_JOB = {"walltime": "01:00:00", "memory": "2GB"}  # chosen: a case process takes 0.1 GB
_FAILURES = 20  # of workers under one task before Dask gives it up: killed ones are no fault of it
_ANSWERS_S = 10.0  # a scheduler that is there answers within a second
_SLURM_S = 60.0  # as long as Slurm's own commands wait for a busy controller
_LEAVES_S = 120  # before a job's end its worker takes no more cases: two batches of slow ones
_TLS = (
    "tls_ca_file",
    *(f"tls_{role}_{it}" for role in ("client", "scheduler", "worker") for it in ("key", "cert")),
)
_KEYS, _LOGS = ".keys", "slurm_logs"


@dataclass(frozen=True)
class ClusterChoice:
    """A place to run cases: ``dask``, ``dask://HOST:PORT``, or ``slurm`` with its options."""

    kind: str
    options: dict[str, str]


def read_place(text: str) -> ClusterChoice:
    """Read what follows ``--on``. Raises errors.UsageFault."""
    kind, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if kind != SLURM and (query or (kind != LOCAL and not kind.startswith(SCHEME))):
        raise UsageFault(
            "--on", expected=f"processes, {LOCAL}, {SCHEME}HOST:PORT or {SLURM}", got=text
        )
    for key in options:
        if key not in SLURM_KEYS:
            raise UsageFault(f"--on {SLURM}", expected=", ".join(SLURM_KEYS), got=key)
    return ClusterChoice(kind, options)


def open_client(place: ClusterChoice, workers: int, folder: Path, stack: ExitStack) -> Any:
    """Return a distributed.Client; it and a cluster of its own end with ``stack``.

    ``folder`` is seen by the nodes of Slurm, too. Raises errors.TandemError without Dask, without
    a scheduler, or if Slurm takes no job.
    """
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise UsageFault(
            "--on dask needs dask and distributed, which are not installed here",
            remedy="pip install 'tandem-cars[campaign]'",
        ) from None
    stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": _FAILURES}))
    address: Any = place.kind.replace(SCHEME, "tcp://")
    if place.kind == LOCAL:
        address = _of_this_machine(workers, stack)
    elif place.kind == SLURM:
        address = _of_slurm(place.options, workers, folder, stack)
    try:
        return stack.enter_context(Client(address, timeout=_ANSWERS_S))
    except (OSError, TimeoutError) as error:
        raise DeviceFault(
            "no Dask scheduler answers",
            where=place.kind,
            got=str(error),
            remedy="dask scheduler --host ADDRESS there, and dask worker for each core",
        ) from None


def _of_this_machine(workers: int, stack: ExitStack) -> Any:
    from distributed import LocalCluster

    return stack.enter_context(
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            security=True,  # keys of this run: other logins of the machine are kept out
            dashboard_address="127.0.0.1:0",  # else it would listen on every address
            worker_dashboard_address="127.0.0.1:0",
            silence_logs="ERROR",
        )
    )


def _of_slurm(options: dict[str, str], workers: int, folder: Path, stack: ExitStack) -> Any:
    """Return a cluster whose workers are jobs of one core each; lost ones are submitted again."""
    try:
        with HeldInterrupts():  # it replaces the handler of Ctrl-C as it is imported
            from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        raise UsageFault(
            f"--on {SLURM} needs dask-jobqueue, which is not installed here",
            remedy="pip install 'tandem-cars[campaign]'",
        ) from None
    if not shutil.which("sbatch"):
        raise UsageFault(
            "Slurm's sbatch is not on this machine",
            expected="a login node of the cluster",
            remedy="--on processes computes here",
        )
    keys = (folder / _KEYS).absolute()
    stack.callback(shutil.rmtree, keys, ignore_errors=True)
    job: dict[str, Any] = {**_JOB, **options}
    lifetime_s = max(_seconds(job["walltime"]) - _LEAVES_S, _LEAVES_S)
    extra = [job.pop("directive")] if "directive" in job else []
    cluster = stack.enter_context(
        SLURMCluster(
            cores=1,
            processes=1,
            python=sys.executable,
            job_extra_directives=extra,
            log_directory=str((folder / _LOGS).absolute()),
            protocol="tls://",
            security=_security(keys),
            scheduler_options={"dashboard": False},
            worker_extra_args=["--no-dashboard", "--lifetime", f"{lifetime_s}s"],
            silence_logs="ERROR",
            **job,
        )
    )
    _try(cluster.job_script())
    cluster.adapt(minimum=workers, maximum=workers)
    return cluster


def _security(folder: Path) -> Any:
    """Write keys of this run for this login alone, and return the distributed.Security of them."""
    from distributed.security import Security

    folder.mkdir(mode=0o700, exist_ok=True)
    made, files = Security.temporary(), {}
    for name in _TLS:
        path = folder / name
        path.touch(mode=0o600)
        path.write_text(getattr(made, name), encoding="ascii")
        files[name] = str(path)
    return Security(require_encryption=True, **files)


def _try(script: str) -> None:
    """Ask Slurm whether it would take this job: Dask goes on asking. Raises errors.DeviceFault."""
    done = subprocess.run(
        ["sbatch", "--test-only"],
        input=script,
        capture_output=True,
        text=True,
        timeout=_SLURM_S,
        check=False,
    )
    if done.returncode:
        raise DeviceFault(
            "Slurm takes no such job",
            where=f"--on {SLURM}",
            got=" ".join(done.stderr.split()),
            remedy=f"sinfo lists partitions; --on '{SLURM}?queue=NAME&account=NAME'",
        )


def _seconds(text: str) -> int:
    """Return a job's time of HH:MM:SS in s. Raises errors.UsageFault."""
    parts = text.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise UsageFault(f"--on {SLURM}: walltime", expected="HH:MM:SS", got=text)
    hours, minutes, seconds = map(int, parts)
    return (hours * 60 + minutes) * 60 + seconds
