"""Hardware in the loop: a board whose peripherals are a plant, at the far end of its link.

``start`` puts it in the place of the real board, which is stepped no more: its guard has cut
everything. Only a reset leads back. The plant is ``sim_mock/hitl``.
"""

from firmware.boards.simulated.virtual import CHANNELS, VirtualBoard
from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.protocol.codec import Message, copy, encode_into, encode_values_into
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
    from firmware.boards.between_steps import BetweenSteps
    from firmware.boards.link import Link
    from firmware.core.link.receiver import Receiver

# A plant that is silent for so long is gone: the runstop loop opens. The time is that of a remote
# runstop; a host's Python pauses for 100 ms at times.
SILENT_US = 250_000
_IMAGE_SIZE = 2_048  # a configuration has 1.8 kB; an RP2040 has no more room to spare
_BEGIN_EVERY = 100  # steps
_PART = CHUNK // 3


class HitlBoard(VirtualBoard):
    """The board in the loop, of the chip ``chip_id``.

    Its configuration comes from the plant and is kept in memory only; once a new one ``is_loaded``,
    ``start`` makes the car anew on it.
    """

    def __init__(
        self, chip_id: bytes, link: "Link", between_steps: "BetweenSteps", failed_starts: int
    ) -> None:
        super().__init__(hitl_id(chip_id), b"", 0)
        self.link = link
        self.failed_starts = failed_starts
        self.is_loaded = False
        self.between_steps = between_steps
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

    def be_heard_by(self, receiver: "Receiver") -> None:
        """Register the handlers of the plant's messages, by values where two come in each step."""
        receiver.route(((PlantImage(), self._take_image),))
        receiver.route_by_values(
            ((PlantReadings(), self._take_readings), (PlantWires(), self._take_wires))
        )

    # --- the plant's messages

    @micropython.native
    def _take_readings(self, message: PlantReadings, now_us: int) -> None:
        i, values, put = 0, message.values, setattr
        for name in message.numbers:
            put(self, name, values[i])
            i += 1
        self._is_fed = True
        self._fed_us = now_us

    @micropython.native
    def _take_wires(self, message: PlantWires, now_us: int) -> None:
        """Take the channels' read-back, unless it is of outputs that the program has changed."""
        values, read_back = message.values, self.read_back
        if values[0] != self._outputs.values[0]:  # the times
            return
        for i in range(CHANNELS):
            read_back[i] = values[i + 1]

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
        self.between_steps.is_healthy = True

    def read(self, now_us: int) -> None:
        self._now_us = now_us
        if self._is_new:  # the silence while the car was made is not the plant's
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

    @micropython.native
    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        super().write(values, enable, lights)
        fields = self._outputs.values  # in the order of its FIELDS
        fields[0] = self._now_us
        fields[1] = 1 if enable else 0
        fields[2] = lights
        for i in range(CHANNELS):
            fields[3 + i] = values[i]
        writer = self._writer
        size = writer.wrap(encode_values_into(self._outputs, writer.payload))
        self.link.transmit(writer.out, size)
        self._steps += 1
        if self._steps == _BEGIN_EVERY:
            self._steps = 0
            self._say(self._begin)

    def _say(self, message: Message) -> None:
        writer = self._writer
        self.link.transmit(writer.out, writer.wrap(encode_into(message, writer.payload)))

    def entropy(self) -> int:
        return self.between_steps.draw()

    def take_image(self) -> None:
        """Make the image that was loaded the stored one."""
        self.is_loaded = False
        self._is_new = True
        self._begin.token = self._token
        self.image = bytes(self._incoming[: self._total])
