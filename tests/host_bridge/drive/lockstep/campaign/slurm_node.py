"""A Slurm of one node, of its own folder and ports: munged, slurmctld and slurmd, ended with it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support import patience

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
PATH = f"{os.environ['PATH']}:/usr/sbin"  # where Debian has the daemons
CORES = 4  # as it says, whatever the machine has: jobs of a test run beside each other
STARTS_S, ENDS_S = 30, 10
CONFIG = """\
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=localhost CPUs={cores} RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be none here; "" if there can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if absent:
        return f"no Slurm on this machine: apt-get install slurm-wlm munge has {', '.join(absent)}"
    return "" if os.geteuid() == 0 else "slurmd needs the rights of root"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start them; give what has to be in the environment of Slurm's commands."""
    for each in (folder, folder / "state", folder / "spool"):
        each.mkdir(exist_ok=True)
        each.chmod(0o700)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    config = folder / "slurm.conf"
    ports = {"control": free_port(), "node": free_port()}
    config.write_text(CONFIG.format(folder=folder, cores=CORES, **ports), encoding="utf-8")
    environment = {"SLURM_CONF": str(config), "PATH": PATH}
    words = [f"--{name}-file={folder / 'munge'}.{name}" for name in ("pid", "log", "seed")]
    munged = ["munged", "--force", "--foreground", f"--key-file={key}", *words]
    with ExitStack() as stack:
        for command in (
            [*munged, f"--socket={folder / 'munge.sock'}"],
            ["slurmctld", "-D", "-f", str(config)],
            ["slurmd", "-D", "-N", "localhost", "-f", str(config)],
        ):
            log = stack.enter_context((folder / f"{command[0]}.out").open("wb"))
            stack.enter_context(daemon(command, environment, log))
            if command[0] == "munged":
                patience.until(
                    (folder / "munge.sock").exists, within_s=STARTS_S, what="munged is there"
                )
        patience.until(
            lambda: "idle" in said(["sinfo", "-h", "-o", "%T"], environment),
            within_s=STARTS_S,
            what="the node is idle",
        )
        yield environment


@contextmanager
def daemon(command, environment, log):
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def said(command: list[str], environment: dict[str, str]) -> str:
    """What a command of Slurm's prints; nothing where it failed."""
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=STARTS_S,
        check=False,
    )
    return done.stdout
