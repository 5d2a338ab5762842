"""The stop sockets: every car on the machine is found, whoever serves it, whatever lies there."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from firmware.protocol.messages import Bind, Identify, Identity, Status, Stop, StopSeen
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.endpoints import folders
from host_bridge.sharing.stop import stop_endpoint, stop_sockets
from host_bridge.sharing.stop.stop_endpoint import StopEndpoint
from host_bridge.sharing.stop.stop_sockets import StopSocket, file_name
from tests.host_bridge.cli.programs import TANDEM, serving
from tests.host_bridge.sharing.desk import owner_and_car, run, runtime_folder
from tests.host_bridge.sharing.desk import until as soon
from tests.host_bridge.sharing.stop.connected import connect_all
from tests.support import patience

ROOT = Path(__file__).parents[4]
as_root = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv"), reason="only root can be another login"
)
NOBODY = 65_534
NAME = b"somebody".ljust(16, b"\0")


@pytest.fixture(autouse=True)
def shared(monkeypatch):
    """A folder that all logins share, as /tmp is, and a private one."""
    with runtime_folder(monkeypatch), tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        os.chmod(folder, 0o1777)
        monkeypatch.setenv(folders.STOP_FOLDER_VARIABLE, folder)
        yield Path(folder)


def as_login(words, uid):
    """A command line by which root runs a command as another login.

    It may still look into the folders of the interpreter, which can be root's own; it may write,
    and so connect, where that login may.
    """
    if uid is None:
        return words
    who = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    looks = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", *who, *looks, *words]


def environment(env):
    """This one, and nothing else of ours."""
    shared = os.environ[folders.STOP_FOLDER_VARIABLE]
    own = {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {"PATH": os.environ["PATH"], folders.STOP_FOLDER_VARIABLE: shared, **own, **env}


def tandem_as(words, env, uid=None):
    """Run a command to its end with this environment, as this login."""
    return patience.run(
        as_login([*TANDEM, *words], uid), env=environment(env), cwd="/", text=True, within_s=20
    )


@contextmanager
def serving_as(words, env, uid=None):
    """``tandem serve``, likewise, from when it says that it does."""
    process = subprocess.Popen(
        as_login([*TANDEM, "serve", *words], uid),
        env=environment(env),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert "is served as" in line, process.communicate()
        yield process
    finally:
        process.terminate()
        patience.communicate(process, 10)


@contextmanager
def folder_of(uid):
    """A login's own folder."""
    path = tempfile.mkdtemp(prefix="own-")
    os.chown(path, uid, uid)
    try:
        yield path
    finally:
        shutil.rmtree(path)


# --- every environment, every login


@pytest.mark.process(drives=True)
def test_serve_without_a_session_folder_is_stopped_by_who_has_one(tmp_path):
    with folder_of(os.getuid()) as one, folder_of(os.getuid()) as two:
        cron = {"TMPDIR": one, "HOME": "/"}
        terminal = {"TMPDIR": two, "XDG_RUNTIME_DIR": two, "HOME": two}
        with serving_as(["--car", "sim://nigel", "--name", "car"], cron):
            stopped = tandem_as(["stop"], terminal)
            assert stopped.returncode == 0, stopped.stderr
            assert stopped.stdout.startswith("car: ")
        with serving_as(["--car", "sim://nigel", "--name", "car"], terminal):
            stopped = tandem_as(["stop", "car", "--json"], cron)
            assert stopped.returncode == 0, stopped.stderr


@pytest.mark.process(drives=True)
@as_root
@pytest.mark.parametrize(("server", "stopper"), [(NOBODY, 0), (0, NOBODY), (NOBODY, 2)])
def test_one_login_stops_what_another_serves(server, stopper):
    with folder_of(server) as one, folder_of(stopper) as two:
        own = {"TMPDIR": one, "HOME": one, "TANDEM_DATA_DIR": one}
        with serving_as(["--car", "sim://nigel", "--name", "car", "--fleet", "red"], own, server):
            for words in ([], ["car"], ["--fleet", "red"], ["sim://nigel"]):
                stopped = tandem_as(["stop", *words], {"TMPDIR": two, "HOME": two}, stopper)
                assert stopped.returncode == 0, stopped.stderr
                assert stopped.stdout.startswith("car (of "), stopped.stdout
                assert "acknowledged" in stopped.stdout


@pytest.mark.process(drives=True)
@as_root
def test_another_login_can_stop_a_car_and_nothing_else():
    """The very bytes of a whole session: it is not even bound."""
    with folder_of(NOBODY) as one:
        own = {"TMPDIR": one, "HOME": one, "TANDEM_DATA_DIR": one}
        with serving_as(["--car", "sim://nigel", "--name", "car"], own, NOBODY):
            (it,) = connect_all()
            assert it.uid == NOBODY
            end = it.end
            end.setblocking(True)
            end.settimeout(0.5)
            sent = [wire.new(Bind, epoch=7, protocol_hash=wire.own_protocol_hash())]
            sent.append(wire.new(Identify, token=9, challenge=bytes(8)))
            for _ in range(5):
                end.sendall(b"".join(map(wire.encode, sent)))
                time.sleep(0.05)
            heard = kinds_heard(end)
            end.close()
    assert heard == {Identity}


def kinds_heard(end):
    decoder = wire.MessageDecoder()
    found = set()
    try:
        while data := end.recv(4096):
            found |= {type(message) for message in decoder.feed(data)}
    except (TimeoutError, BlockingIOError):
        pass
    return found


# --- what may lie there


@pytest.mark.process(drives=True)
def test_names_links_files_and_foreign_processes_hide_no_car(shared):
    """Whatever stands in the folder, the car is stopped as soon as without."""
    with serving("sim://nigel", "car"):
        other = shared / "other"
        (shared / file_name("file", "", "")).write_text("no socket")
        os.mkfifo(shared / file_name("fifo", "", ""))
        (shared / file_name("folder", "", "")).mkdir()
        (shared / file_name("dangling", "", "")).symlink_to("/nowhere")
        (shared / "tandem-stop.\x1b[2J.0.0.0").write_text("")
        (shared / "tandem-stop.x").write_text("")
        (shared / ("tandem-stop." + "n" * 60 + ".0.0.0")).write_text("")
        with listening(other) as heard:
            (shared / file_name("link", "", "")).symlink_to(other)
            with listening(shared / file_name("dead", "", "")):
                pass
            stopped = tandem_as(["stop"], {"TMPDIR": str(shared)})
            assert stopped.returncode == 0, stopped.stderr
            assert [line.split(":")[0] for line in stopped.stdout.splitlines()] == ["car"]
            assert heard == []


@contextmanager
def listening(path, backlog=8):
    """A program that lets everybody in, hears, and never answers."""
    heard = []
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.bind(str(path))
    end.listen(backlog)
    end.settimeout(0.05)
    is_over = threading.Event()

    def hear():
        kept = []
        while not is_over.is_set():
            try:
                kept.append(end.accept()[0])
                heard.append(path)
            except TimeoutError:
                pass

    thread = threading.Thread(target=hear)
    thread.start()
    try:
        yield heard
    finally:
        is_over.set()
        thread.join()
        end.close()


@pytest.mark.process(drives=True)
def test_sockets_that_hang_delay_no_other_cars_stop(shared):
    """Fifty that answer never, and one whose queue is full: the car is told at once, and its line
    is printed while the others are still waited for."""
    full = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    full.bind(str(shared / file_name("full", "", "")))
    full.listen(0)
    waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(3)]
    for end in waiting:
        end.setblocking(False)
        end.connect_ex(full.getsockname())
    hanging = []
    for n in range(50):
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.bind(str(shared / file_name(f"hanging{n}", "", "")))
        end.listen(8)
        hanging.append(end)
    with serving("sim://nigel", "car"):
        rows = json.loads(tandem_as(["stop", "--json"], {"TMPDIR": str(shared)}).stdout)
        stopped = tandem_as(["stop"], {"TMPDIR": str(shared)})
    for end in (full, *waiting, *hanging):
        end.close()
    assert rows[0]["name"] == "car"  # the first to be told of
    assert rows[0]["took_ms"] < 300
    assert len(rows) == 52
    assert [row["name"] for row in rows if row["is_seen"]] == ["car"]
    assert stopped.returncode == DeviceFault.exit_code
    assert stopped.stderr.count("NOT ACKNOWLEDGED") == 51
    assert stopped.stdout.startswith("car: ")


def test_a_login_with_many_names_crowds_out_no_other(shared, monkeypatch):
    """Of 2000 of one login a hundred are asked, each other login's are, and its own."""
    owners = {file_name("many", "", ""): 1000 for _ in range(2000)}
    owners |= {file_name(f"car{uid}", "", ""): uid for uid in (1001, os.getuid())}
    for name in owners:
        (shared / name).touch()
    asked = []
    monkeypatch.setattr(stop_sockets, "_is_other", lambda entry: False)  # files stand for sockets
    monkeypatch.setattr(stop_sockets, "owner_of", lambda path: owners[os.path.basename(path)])
    monkeypatch.setattr(StopSocket, "connect", lambda it: asked.append(it.name))
    breaths = [it for it in stop_sockets.find_stop_sockets() if it is None]
    listed = 1 + 2002 // stop_sockets.LISTED_AT_ONCE  # one behind what the system says
    assert len(breaths) == listed + 2002 // stop_sockets.LOOKED_AT_ONCE
    assert {f"car{uid}" for uid in (1001, os.getuid())} <= set(asked)
    assert asked.count("many") <= stop_sockets.MOST // 4
    assert len(asked) <= stop_sockets.MOST


def test_a_login_s_share_is_a_quarter_of_what_is_left_one_at_least_and_its_own_is_all():
    share = stop_sockets.LoginQuota(16)
    taken = {uid: sum(share.take(uid) for _ in range(20)) for uid in (-1, 5, 6, 7, 8, 9)}
    assert taken == {-1: 4, 5: 3, 6: 2, 7: 1, 8: 1, 9: 1}
    assert sum(share.take(os.getuid()) for _ in range(20)) == 4


def test_a_place_that_was_taken_and_not_used_is_there_again():
    share, own = stop_sockets.LoginQuota(3), os.getuid()
    assert [share.take(own) for _ in range(4)] == [True, True, True, False]
    share.give_back(own)
    assert [share.take(own) for _ in range(2)] == [True, False]


def test_a_name_of_an_own_car_is_looked_at_first(shared, monkeypatch):
    """Whatever else is there, and from wherever else it is begun."""
    monkeypatch.setattr(stop_sockets, "listening_sockets", lambda prefix: [])
    for n in range(300):
        with listening_once(shared / file_name(f"other{n}", "", "")):
            pass
    with listening_once(shared / "car.sock"), listening_once(shared / file_name("car", "", "")):
        paths = [it for it in stop_sockets._public({"car"}) if it]
        assert os.path.basename(paths[0]).startswith("tandem-stop.car.")
        assert len(paths) == 301
        begins = {next(filter(None, stop_sockets._public(set()))) for _ in range(20)}
        assert len(begins) > 1


def test_whose_car_it_is_is_known_though_no_file_is_left_to_ask_it(shared, monkeypatch):
    def has_no_file(it, end):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(StopSocket, "_connect", has_no_file)
    private = Path(folders.private_folder())
    private.mkdir(parents=True, exist_ok=True)
    with listening_once(shared / file_name("car", "", "")), listening_once(private / "own.sock"):
        found = [it for it in stop_sockets.find_stop_sockets() if it]
    assert {(it.name, it.uid, it.fault) for it in found} == {
        ("car", os.getuid(), errno.EMFILE), ("own", os.getuid(), errno.EMFILE)
    }  # fmt: skip


@contextmanager
def listening_once(path):
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))
        end.listen()
        yield end


@as_root
def test_a_socket_that_another_login_listens_at_is_not_told(shared):
    """A second name for somebody's own socket: what a Stop means to that program nobody knows."""
    path = shared / "theirs"
    with listening(path) as heard:
        os.link(path, shared / file_name("car", "", ""))
        os.chown(path, NOBODY, NOBODY)  # of both names; who listens is root
        assert connect_all() == []
        assert len(heard) <= 1  # was looked at, and left without a word


def test_a_folder_in_which_others_could_remove_it_is_not_used(shared):
    shared.chmod(0o777)
    with pytest.raises(DeviceFault, match="nobody but this login could stop this car"):
        stop_endpoint._listen("car", "", "sim://nigel")
    shared.chmod(0o1777)
    end, path = stop_endpoint._listen("car", "", "sim://nigel")
    assert path.lstat().st_mode & 0o777 == 0o666
    end.close()


@pytest.mark.process(drives=True)
def test_what_a_killed_owner_left_behind_is_removed_by_the_next(shared):
    with serving("sim://nigel", "car") as owner:
        owner.kill()
        owner.wait()
    (left,) = shared.iterdir()
    assert connect_all() == []
    os.utime(left, (0, 0))
    with serving("sim://nigel", "car"):
        assert left not in list(shared.iterdir())
        assert len(connected_names()) == 1
    assert list(shared.iterdir()) == []


def connected_names():
    found = connect_all()
    for it in found:
        it.close()
    return [it.name for it in found]


@pytest.mark.process(drives=True)
def test_a_car_whose_stop_socket_was_removed_is_stopped_by_its_own_login(shared):
    with serving("sim://nigel", "car"):
        for path in shared.iterdir():
            path.unlink()
        assert connected_names() == ["car"]


@pytest.mark.process(drives=True)
def test_a_folder_of_another_login_in_the_environment_is_in_nobodys_way():
    """After su, XDG_RUNTIME_DIR is the other's."""
    with serving("sim://nigel", "car"):
        stopped = tandem_as(
            ["stop"], {"XDG_RUNTIME_DIR": "/proc/1/root/nowhere", "TMPDIR": "/nowhere"}
        )
    assert stopped.returncode == 0, stopped.stderr


# --- what passes by it


def stop(token=7):
    return wire.encode(wire.new(Stop, token=token, sender=4, sender_name=NAME))


def identify():
    return wire.encode(wire.new(Identify, token=9, challenge=bytes(8)))


def test_stop_and_identify_pass_and_nothing_else(shared):
    async def test():
        owner, car = await owner_and_car()
        endpoint = StopEndpoint("car", "", "sim://nigel")
        endpoint.open(owner)
        (it,) = connect_all()
        bind = wire.encode(wire.new(Bind, epoch=7, protocol_hash=bytes(4)))
        damaged = bytearray(stop(3))
        damaged[9] ^= 1
        it.end.send(bind + b"\xff" * 30 + bytes(damaged) + stop() + identify())
        await soon(lambda: car.data == stop() + identify())
        seen = wire.encode(wire.new(StopSeen, token=7, state=4, sender=4, sender_name=NAME))
        status = wire.encode(
            wire.new(
                Status, **dict.fromkeys(wire.LAYOUTS[Status].names, 0) | {"claim_crc": bytes(4)}
            )
        )
        car.transport.send(status + seen + status)
        await asyncio.sleep(0.05)
        assert it.end.recv(4096) == seen
        it.close()
        endpoint.close()
        assert list(shared.iterdir()) == []

    run(test())


def test_a_login_has_few_connections_and_none_lasts(shared, monkeypatch):
    async def test():
        monkeypatch.setattr(stop_endpoint, "LASTS_S", 0.2)
        owner, _ = await owner_and_car()
        endpoint = StopEndpoint("car", "", "sim://nigel")
        endpoint.open(owner)
        found = [connect_all()[0] for _ in range(2 * stop_endpoint.CONNECTIONS)]
        await soon(lambda: owner.clients == stop_endpoint.CONNECTIONS)
        await asyncio.sleep(0.05)
        newest, oldest = found[-1].end, found[0].end
        assert oldest.recv(10) == b""
        with pytest.raises(BlockingIOError):
            newest.recv(10)
        await soon(lambda: owner.clients == 0)
        assert newest.recv(10) == b""
        endpoint.close()
        for it in found:
            it.close()

    run(test())


def test_a_flood_by_the_stop_socket_is_thinned(shared):
    """A client that says nothing but Stops, as fast as it can, for 0.3 s."""

    async def test():
        owner, car = await owner_and_car()
        endpoint = StopEndpoint("car", "", "sim://nigel")
        endpoint.open(owner)
        flooding, other = connect_all()[0], connect_all()[0]
        loop = asyncio.get_running_loop()
        until_s = loop.time() + 0.3
        while loop.time() < until_s:
            with suppress(BlockingIOError):
                flooding.end.send((stop(1) + identify() + b"\xaa" * 100) * 20)
            await asyncio.sleep(0)
        passed = len([m for m in wire.MessageDecoder().feed(car.data) if isinstance(m, Stop)])
        asked = len([m for m in wire.MessageDecoder().feed(car.data) if isinstance(m, Identify)])
        assert 1 <= passed <= 40
        assert 1 <= asked <= 8
        car.data = b""
        other.end.send(stop(2))
        await soon(lambda: stop(2) in car.data, 0.1)
        endpoint.close()
        flooding.close()
        other.close()

    run(test())
