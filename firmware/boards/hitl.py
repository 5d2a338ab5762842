"""Hardware in the loop: a board whose peripherals are a plant, at the far end of its link.

``start`` puts it in the place of the real board, which gets no beat any more: its guard has let
everything fall. Nothing leads back but a reset. The plant is ``sim_mock/hitl``.
"""

from firmware.boards.entropy import Entropy
from firmware.boards.virtual import CHANNELS, VirtualBoard
from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.protocol.codec import Message, copy, encode_into
from firmware.protocol.frame import FrameWriter, crc_table
from firmware.protocol.plant import (
    CHUNK,
    PlantBegin,
    PlantImage,
    PlantOutputs,
    PlantReadings,
    PlantWires,
    hitl_id,
)

if TYPE_CHECKING:
    from firmware.boards.contract import Starts
    from firmware.boards.link import Link
    from firmware.core.receiver import Routes

# A plant that says nothing for so long is gone: the runstop loop opens. As for a remote runstop;
# a host's Python that does something else in between takes a hundred at times.
SILENT_US = 250_000
_IMAGE_SIZE = 4096
_BEGIN_EVERY = 100  # steps
_PART = CHUNK // 3


class HitlBoard(VirtualBoard):
    """Of the chip ``chip_id``. Its configuration comes from the plant and is kept in memory only;
    once a new one ``is_loaded``, ``start`` makes the car anew on it."""

    def __init__(self, chip_id: bytes, link: "Link", starts: "Starts") -> None:
        super().__init__(hitl_id(chip_id), b"", 0)
        self.link = link
        self.failed_starts = starts.failed
        self.is_loaded = False
        self._starts = starts
        self._entropy = Entropy()
        self._writer = FrameWriter(crc_table())
        self._outputs = PlantOutputs()
        self._begin = PlantBegin()
        self._channels = tuple(["channel_%d" % i for i in range(CHANNELS)])
        self._incoming = bytearray(_IMAGE_SIZE)
        self._incoming_size = 0
        self._total = 0
        self._token = 0
        self._steps = 0
        self._is_new = False
        self._is_fed = False
        self._fed_us = 0
        self._now_us = 0

    def routes(self) -> "Routes":
        return (
            (PlantReadings(), self._take_readings),
            (PlantWires(), self._take_wires),
            (PlantImage(), self._take_image),
        )

    # --- what the plant says

    def _take_readings(self, message: PlantReadings, now_us: int) -> None:
        for name in message.numbers:
            setattr(self, name, getattr(message, name))
        self._is_fed = True
        self._fed_us = now_us

    def _take_wires(self, message: PlantWires, now_us: int) -> None:
        """Late ones are of outputs that the program has changed meanwhile: they say nothing."""
        if message.time_us != self._outputs.time_us:
            return
        for i in range(CHANNELS):
            self.read_back[i] = getattr(message, self._channels[i])

    def _take_image(self, message: PlantImage, now_us: int) -> None:
        if message.at == 0:
            self._incoming_size = 0
        is_next = message.at == self._incoming_size and message.total <= _IMAGE_SIZE - CHUNK
        if self.enable or self.is_loaded or not is_next:
            return
        at = message.at
        copy(message.data_0, 0, self._incoming, at, _PART)  # no loop: a tuple would allocate
        copy(message.data_1, 0, self._incoming, at + _PART, _PART)
        copy(message.data_2, 0, self._incoming, at + 2 * _PART, _PART)
        self._incoming_size = at + CHUNK
        if self._incoming_size >= message.total:
            self._total = message.total
            self._token = message.token
            self.is_loaded = True

    # --- the contract

    def begin(self, fallbacks: "list[int]", beat_us: int) -> None:
        super().begin(fallbacks, beat_us)
        for i in range(CHANNELS):
            setattr(self._begin, self._channels[i], fallbacks[i])
        self._begin.beat_us = beat_us
        self._say(self._begin)

    def open_heap(self) -> None:
        micropython.heap_unlock()  # start.py locks it

    def close_heap(self) -> None:
        micropython.heap_lock()

    def mark_healthy(self) -> None:
        self.is_healthy = True  # between steps: it writes to flash

    def read(self, now_us: int) -> None:
        self._now_us = now_us
        if self._is_new:  # the silence while it began is its own
            self._is_new = False
            self._fed_us = now_us
        if self._is_fed and elapsed_us(now_us, self._fed_us) > SILENT_US:
            self._is_fed = False
        if not self._is_fed:
            self.runstop_closed = self.enable_contact = 0
        for i in range(CHANNELS):  # unless the plant says otherwise on this step
            self.read_back[i] = self.values[i]

    def receive_into(self, buffer: bytearray) -> int:
        return self.link.receive_into(buffer)

    def transmit(self, data: bytearray, size: int) -> bool:
        return self.link.transmit(data, size)

    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        super().write(values, enable, lights)
        outputs = self._outputs
        outputs.time_us = self._now_us
        outputs.enable = 1 if enable else 0
        outputs.lights = lights
        for i in range(CHANNELS):
            setattr(outputs, self._channels[i], values[i])
        self._say(outputs)
        self._steps += 1
        if self._steps == _BEGIN_EVERY:
            self._steps = 0
            self._say(self._begin)

    def _say(self, message: Message) -> None:
        writer = self._writer
        self.link.transmit(writer.out, writer.wrap(encode_into(message, writer.payload)))

    def entropy(self) -> int:
        return self._entropy.draw()

    # --- before each step, and while none is due

    def idle(self, may_move: bool) -> bool:
        """Pump the link; what allocates or writes to flash waits until the car may not move.
        True if it did such a thing, which takes longer than a beat."""
        self.link.pump()
        if may_move:
            return False
        did = self._entropy.refill()
        if self.is_healthy:
            self.is_healthy = False
            self._starts.mark_healthy()
            did = True
        return did

    def take_image(self) -> None:
        """What was loaded is what is stored."""
        self.is_loaded = False
        self._is_new = True
        self._begin.token = self._token
        self.image = bytes(self._incoming[: self._total])
