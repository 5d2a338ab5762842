"""A car at work: what a step's cost is measured on, under whichever Python runs this."""

from firmware.app import App
from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol import codes, messages
from firmware.protocol.codec import copy, encode_into
from firmware.protocol.frame import FrameWriter, crc_table
from firmware.protocol.version import protocol_hash

STEP_US = 10_000
EPOCH = 4711
BOARD_ID = bytes(range(8))
TABLE = crc_table()


def image_of(sources, stop_sources, channels):
    """A car with so many sources, stop sources (all over the link) and output channels."""
    params = CheckedParams(TABLE)
    given = {
        "board_id": [BOARD_ID[2 * i] | BOARD_ID[2 * i + 1] << 8 for i in range(4)],
        "start_ms": [0],
        "source_mask": [255] * sources,
        "source_priority": [10 * i for i in range(sources)],
        "source_lease_ms": [120] * sources,
        "source_cap_mm_s": [300] * sources,
        "source_flags": [3] * sources,
        "blind_mm": [1000],
        "wheelbase_um": [500_000],
        "stop_source_kind": [codes.STOP_SOURCE_LINK] * stop_sources,
        "stop_source_need": [0] * 16 + [codes.REQUIRED] * stop_sources,
        "profile_cap_mm_s": [
            0,
            300,
            0,
        ],  # who offers a profile needs somebody who can stop it there
        "may_arm": [31],
        "channel_kind": [2] + [1] * (channels - 1),
        "channel_low": [1_000_000] * channels,
        "channel_neutral": [1_500_000] * channels,
        "channel_high": [2_000_000] * channels,
        "channel_curve": [1_500_000] * 72,
    }
    for name, values in given.items():
        at = params.index(name)
        params.values[at : at + len(values)] = values
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(image)


class QuickBoard(VirtualBoard):
    """Its line costs nothing, as a UART's or a USB port's driver in C nearly does."""

    def transmit(self, data, size):
        return True

    def receive_into(self, buffer):
        size = min(self.received_size - self._taken, len(buffer))
        copy(self.received, self._taken, buffer, 0, size)
        self._taken += size
        return size


class Scene:
    def __init__(self, image, sources, stop_sources, says):
        self.board = QuickBoard(BOARD_ID, image, 1)
        self.board.battery_mv = 12_000
        self.app = App(self.board)
        self.writer = FrameWriter(TABLE)
        self.now_us = 0
        self.sequence = 0
        self.sources, self.stop_sources, self.says = sources, stop_sources, says
        bind = messages.Bind()
        bind.epoch = EPOCH
        bind.protocol_hash[:] = protocol_hash(TABLE)
        self.heard = self.framed(bind)

    def framed(self, message):
        size = self.writer.wrap(encode_into(message, self.writer.payload))
        return bytes(self.writer.out[:size])

    def claim(self, source, again=0):
        claim = messages.Claim()
        claim.epoch, claim.source = EPOCH, source
        claim.sequence = self.sequence * self.times + again & 0xFFFF
        claim.mask, claim.deadman, claim.lease_ms = self.mask, self.deadman, 120
        claim.input_count = claim.sequence
        claim.speed_mm_s, claim.steer_urad = self.speed_mm_s, 10_000 * source
        claim.stamp_us = self.now_us
        return self.framed(claim)

    def alive(self, stop_source):
        alive = messages.Alive()
        alive.epoch, alive.stop_source, alive.sequence = EPOCH, stop_source, self.sequence
        alive.runs, alive.stamp_us = 1, self.now_us
        return self.framed(alive)

    speed_mm_s = 0
    mask, deadman = 255, codes.HELD
    first_source = 0
    times = 1  # that each source claims in a step

    def prepare(self):
        """The bytes and readings of the next step; not a part of what is measured."""
        self.now_us += STEP_US
        self.sequence = self.sequence + 1 & 0xFFFF
        session = self.app.sessions.slots[0]
        session.bound_us = session._sampled_bound_us = 100
        session._sampled_us = self.now_us
        if self.says:
            turn = self.sequence % 4  # a line carries four claims a step, not sixteen
            for source in range(self.sources):
                if self.sources <= 4 or source % 4 == turn:
                    for again in range(self.times):
                        self.heard += self.claim(self.first_source + source, again)
            for stop_source in range(self.stop_sources):
                if self.stop_sources <= 4 or stop_source % 4 == turn:
                    self.heard += self.alive(stop_source)
        board = self.board
        board.received[: len(self.heard)] = self.heard
        board.received_size = len(self.heard)
        board.enable_contact = int(board.enable)
        board.read_back[:] = board.values
        self.heard = b""

    def run(self, steps):
        for _ in range(steps):
            self.prepare()
            self.app.step(self.now_us)


CASES = (
    # name, sources, stop sources, output channels, whether they speak and it drives
    ("stands by, nobody speaks", 1, 1, 2, False),
    ("drives: 1 source, 1 stop source, 2 channels, 100 Hz", 1, 1, 2, True),
    ("drives: 4 sources, 4 stop sources, 5 channels, 100 Hz", 4, 4, 5, True),
    ("drives: 16 sources, 16 stop sources, 8 channels, 25 Hz", 16, 16, 8, True),
)


def scene_of(case):
    name, sources, stop_sources, channels, drives = case
    image = image_of(sources, stop_sources, channels)
    scene = Scene(image, sources, stop_sources, drives)
    scene.run(20)
    if drives:
        begin_driving(scene, name)
    return scene


def begin_driving(scene, name):
    scene.app.stop_sources.profile = scene.app.actions.profile = codes.PROFILE_TRACK
    scene.app.supervisor.state = codes.HOLD  # arming is not what is measured here
    scene.app.arbiter.begin_from_neutral(scene.now_us)
    for source in scene.app.arbiter.sources:
        source.gate = 2
    scene.speed_mm_s = 0
    scene.run(8)
    assert scene.app.supervisor.state == codes.ACTIVE, (name, scene.app.runstop.bits)


MOST_SOURCES = 4  # that were driven with on a chip, each twice in a step where eight were heard


def scene_in(image, state, heard):
    """A car with this configuration that stands, drives or has stopped; each step hears so many."""
    scene = Scene(image, heard, 0, heard > 0 or state != "standing")
    scene.board.battery_mv = 60_000  # full, whichever it is
    scene.mask, scene.first_source = 3, 1  # steering and drive, which every source may claim
    if state == "standing":
        scene.deadman = 0
        scene.run(150)  # its time in neutral after power-up is over
        return scene
    scene.sources = min(max(heard, 1), MOST_SOURCES)
    scene.times = max(heard // MOST_SOURCES, 1)
    scene.deadman = 0
    scene.run(150)
    scene.deadman = codes.HELD
    begin_driving(scene, state)
    if state == "stopped":
        scene.heard = scene.framed(messages.Stop())
        scene.run(100)
        scene.says = heard > 0
        scene.run(20)
        assert scene.app.supervisor.state == codes.STOPPED, scene.app.supervisor.state
    return scene


def hear(app, now_us):
    app.receiver.step(now_us)
    app._hear_board(now_us)


# What App.step does, in its order; that they add up to it is a row of its own
PARTS = (
    ("read board and clocks", lambda app, now_us: app.begin(now_us)),
    ("hear", hear),
    ("arbitrate", lambda app, now_us: app.arbiter.step(now_us)),
    ("measure", lambda app, now_us: app._measure(now_us)),
    ("watch", lambda app, now_us: app.watch.step(now_us)),
    ("supervise", lambda app, now_us: app._supervise(now_us)),
    ("motion", lambda app, now_us: app.motion.step(now_us)),
    ("put out", lambda app, now_us: app._put_out(now_us)),
    ("report", lambda app, now_us: app._report(now_us)),
)
