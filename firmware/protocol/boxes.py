"""The messages between a runstop box and its car. A car without a key does not load them."""

from firmware.compat import micropython
from firmware.protocol.codec import Message
from firmware.protocol.ranges import U16, WIDE

const = micropython.const


class BoxWord(Message):
    """A runstop box's heartbeat, with the tag of core/stops/tag.py over all before it.

    It answers the car's newest ``challenge``, 0 while it knows of none, and says how long ago it
    heard it: so its age is told by the car's clock alone. Without ``BOX_RUNS`` it is a stop, from
    whomever, however old.
    """

    ID = 30
    FIELDS = (
        ("says", "u8", 0, 3, "BOX_ bits"),
        ("challenge", "u30", 0, WIDE, ""),
        ("epoch", "u30", 1, WIDE, ""),  # of the box: random at each of its starts
        ("sequence", "u30", 0, WIDE, ""),
        ("since_100us", "u16", 0, U16, "100 us since the challenge was heard"),
        ("tag", "b8", 0, 0, ""),
    )
    says: int
    challenge: int
    epoch: int
    sequence: int
    since_100us: int
    tag: bytearray


class BoxHeard(Message):
    """A car's challenge to its runstop box, with the newest word of that box that the car took.

    The tag of core/stops/tag.py is over the first 16 bytes.
    """

    ID = 47
    FIELDS = (
        ("counts", "u8", 0, 1, ""),  # on this box, now
        ("challenge", "u30", 1, WIDE, ""),
        ("epoch", "u30", 0, WIDE, ""),  # of the box whose word it was; 0: none yet
        ("sequence", "u30", 0, WIDE, ""),
        ("nonce", "u30", 0, WIDE, ""),  # of the car: random at each of its starts
        ("tag", "b8", 0, 0, ""),
    )
    counts: int
    challenge: int
    epoch: int
    sequence: int
    nonce: int
    tag: bytearray


BOXES = (BoxWord, BoxHeard)  # to the car, and from it

# Indices of their numbers in ``values``
BOX_SAYS = const(0)
BOX_CHALLENGE = const(1)
BOX_EPOCH = const(2)
BOX_SEQUENCE = const(3)
BOX_SINCE = const(4)
HEARD_COUNTS = const(0)
HEARD_CHALLENGE = const(1)
HEARD_EPOCH = const(2)
HEARD_SEQUENCE = const(3)
HEARD_NONCE = const(4)
