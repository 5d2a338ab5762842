"""Workers that have no clone: the wheel and the extra alone, the image, and the manifests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from host_bridge.drive.lockstep.campaign import spec
from host_bridge.drive.lockstep.campaign.runners import processes
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.drive.lockstep.campaign.slurm_node import free_port
from tests.support import patience
from tests.support.evidence import every, some

ROOT = Path(processes.__file__).resolve().parents[5]
HERE = Path(processes.__file__).with_name("containers")
INSTALLS_S, ANSWERS_S = 900, 300
CASES = """\
[campaign]
title = "Elsewhere"
repetitions = 6
[case]
vehicle = "nigel"
duration_s = 1.0
[factors]
fault = ["none", "runstop@2s"]
[oracles]
no_stop = true
"""


def test_a_wheel_has_the_hash_of_its_tree(tmp_path, monkeypatch):
    for name in ("firmware", "sim_mock", "hardware", "host_bridge"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__*__"))
    for file in ROOT.glob("host_bridge/**/__init__.py"):
        copy = tmp_path / file.relative_to(ROOT)
        if copy.parent.is_dir():
            shutil.copy(file, copy)
    monkeypatch.setattr(spec, "_ROOT", tmp_path)
    whole = spec.code_hash.__wrapped__()
    shutil.rmtree(tmp_path / "host_bridge" / "api")  # a wheel has it as the package tandem
    assert spec.code_hash.__wrapped__() == whole
    (tmp_path / "host_bridge" / "core" / "more.py").write_text("", encoding="utf-8")
    assert spec.code_hash.__wrapped__() != whole


def pip(python, *words, cwd=ROOT):
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=INSTALLS_S,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"its packages cannot be had: {done.stderr.strip()[-200:]}")


@contextmanager
def dask(python, *words, cwd):
    log = (cwd / f"{words[0]}.log").open("wb")
    environment = {name: it for name, it in os.environ.items() if name != "PYTHONPATH"}
    with (
        log,
        subprocess.Popen(
            [python, "-m", "dask", *words, "--no-dashboard"],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as child,
    ):
        try:
            yield cwd / f"{words[0]}.log"
        finally:
            child.terminate()


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)  # a fresh environment of some 500 MB: minutes
@pytest.mark.timeout(2 * INSTALLS_S + ANSWERS_S)
def test_a_worker_needs_the_wheel_and_the_extra_alone(tmp_path):
    pip(sys.executable, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ".")
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    pip(python, "install", "-q", f"{wheel}[campaign]", cwd=tmp_path)
    rows = {}
    port = free_port()
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", str(port))
    worker = ("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--host", "127.0.0.1")
    with (
        dask(python, *scheduler, cwd=tmp_path),
        dask(python, *worker, cwd=tmp_path) as log,
    ):
        patience.until(lambda: b"Registered to" in log.read_bytes(), "a worker is there", ANSWERS_S)
        for name, on in (("here", "processes"), ("there", f"dask://127.0.0.1:{port}")):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "campaign.toml").write_text(CASES, encoding="utf-8")
            done = tandem("campaign", "run", str(folder), "--on", on, within_s=ANSWERS_S)
            assert done.returncode == 0, done.stderr
            lines = some((folder / "rows.jsonl").read_text().splitlines())
            rows[name] = {it["case_id"]: it["result_hash"] for it in map(json.loads, lines)}
    assert rows["there"] == rows["here"]


@pytest.mark.process
@pytest.mark.exhaustive(as_a_whole=True)  # an image of some 500 MB: minutes
@pytest.mark.timeout(2 * INSTALLS_S)
def test_the_image_is_built_and_its_worker_starts():
    engine = next(filter(shutil.which, ("podman", "docker")), None)
    if (
        engine is None
        or subprocess.run([engine, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no container engine answers on this machine")
    tag = "tandem-worker:of-a-test"
    subprocess.run(
        [engine, "build", "-t", tag, "-f", HERE / "Containerfile", ROOT],
        check=True,
        timeout=INSTALLS_S,
    )
    try:
        says = "from host_bridge.drive.lockstep.campaign.spec import code_hash; print(code_hash())"
        done = subprocess.run(
            [engine, "run", "--rm", "--entrypoint", "/tandem/bin/python", tag, "-c", says],
            capture_output=True,
            text=True,
            timeout=ANSWERS_S,
            check=True,
        )
        assert done.stdout.strip() == spec.code_hash()
    finally:
        subprocess.run([engine, "rmi", tag], check=False, capture_output=True)


def test_the_image_copies_what_is_there():
    lines = (HERE / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    names = [
        name
        for each in copied
        for name in each
        if not name.startswith("--from") and "/" not in name
    ]
    assert every((ROOT / name).exists() for name in names)
    assert {"firmware", "hardware", "host_bridge", "sim_mock"} <= set(names)


def test_the_parts_of_the_manifests_name_each_other():
    text = (HERE / "kubernetes.yaml").read_text(encoding="utf-8")
    parts = list(yaml.safe_load_all(text))
    assert "NEVER RUN" in text
    assert {part["kind"] for part in parts} == {
        "Namespace",
        "NetworkPolicy",
        "Service",
        "Deployment",
    }
    (space,) = (part["metadata"]["name"] for part in parts if part["kind"] == "Namespace")
    assert every(
        part["metadata"]["namespace"] == space for part in parts if part["kind"] != "Namespace"
    )
    deployments = {p["metadata"]["name"]: p["spec"] for p in parts if p["kind"] == "Deployment"}
    for it in deployments.values():
        assert it["selector"]["matchLabels"] == it["template"]["metadata"]["labels"]
    (service,) = (part for part in parts if part["kind"] == "Service")
    (scheduler,) = deployments["scheduler"]["template"]["spec"]["containers"]
    assert service["spec"]["selector"] == deployments["scheduler"]["template"]["metadata"]["labels"]
    (port,) = service["spec"]["ports"]
    assert port["targetPort"] == scheduler["ports"][0]["containerPort"]
    (worker,) = deployments["worker"]["template"]["spec"]["containers"]
    assert worker["args"] == [f"tcp://{service['metadata']['name']}:{port['port']}"]
