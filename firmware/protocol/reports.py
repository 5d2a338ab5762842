"""The reports that a car sends in turn: slow things, for people and logs. See ``messages``."""

from firmware.protocol.codec import Message
from firmware.protocol.ranges import AGE_MS, U8, U16, WIDE

# The outputs of the eight channels, as rows of a message
CHANNEL_ROWS = (
    ("channel_0", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_1", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_2", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_3", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_4", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_5", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_6", "i31", -WIDE, WIDE, "ns or 1/10000"),
    ("channel_7", "i31", -WIDE, WIDE, "ns or 1/10000"),
)


class LinkCounters(Message):
    """The link's counters since start-up, modulo 2**30 but where it says otherwise."""

    ID = 41
    FIELDS = (
        ("good", "u30", 0, WIDE, "frames"),
        ("damaged", "u30", 0, WIDE, "frames"),
        ("oversized", "u16", 0, U16, "frames"),  # modulo 2**16
        ("unknown", "u30", 0, WIDE, "frames"),  # good frames of no message, or of the wrong size
        ("out_of_range", "u30", 0, WIDE, "frames"),
        ("claims_accepted", "u30", 0, WIDE, "claims"),
        ("claims_refused", "u30", 0, WIDE, "claims"),
        ("unsent", "u30", 0, WIDE, "frames"),  # telemetry the host did not read in time
    )
    good: int
    damaged: int
    oversized: int
    unknown: int
    out_of_range: int
    claims_accepted: int
    claims_refused: int
    unsent: int


class Inputs(Message):
    """The state of the board's inputs, of sources and stop sources, and of its steps' timing."""

    ID = 42
    FIELDS = (
        ("runstop_closed", "u8", 0, 1, ""),
        ("enable_contact", "u8", 0, 1, ""),
        # bit 0: a charger is connected; the others: PAIRING_, of it and its runstop box. Bytes are
        # dear on a slow line
        ("charger_pairing", "u8", 0, U8, "bits"),
        ("fresh", "u16", 0, U16, "bits, by place in the source table"),
        ("held", "u16", 0, U16, "bits"),
        ("engaged", "u16", 0, U16, "bits"),
        ("causes_present", "u16", 0, U16, "bits"),
        ("stop_fresh", "u16", 0, U16, "bits, by stop source"),
        ("stop_said", "u16", 0, U16, "bits"),
        ("rc_mode", "u8", 0, U8, "255: no signal"),
        ("imu_answers", "u8", 0, 1, ""),
        ("step_10us", "u16", 0, U16, "10 us"),  # the longest step since the last of these
        ("cause_age_ms", "u30", 0, AGE_MS, "ms since the first cause; saturates"),
        ("fault_age_ms", "u30", 0, AGE_MS, "ms since the first fault; saturates"),
        ("beat_100us", "u8", 0, U8, "100 us; from one step to the next, as configured"),
        ("takes_100us", "u8", 0, U8, "100 us; a step of late; saturates"),
        ("missed", "u16", 0, U16, "beats since start-up, modulo 2**16"),
        ("missed_lately", "u8", 0, 100, "of the last 100 beats"),
    )
    runstop_closed: int
    enable_contact: int
    charger_pairing: int
    fresh: int
    held: int
    engaged: int
    causes_present: int
    stop_fresh: int
    stop_said: int
    rc_mode: int
    imu_answers: int
    step_10us: int
    cause_age_ms: int
    fault_age_ms: int
    beat_100us: int
    takes_100us: int
    missed: int
    missed_lately: int


class Second(Message):
    """A time receiver's pulse: when a whole second began. Sent once for each."""

    ID = 45
    FIELDS = (("began_us", "u30", 0, WIDE, "us"),)  # board time
    began_us: int


class VescState(Message):
    """The VESC that drives a car: its report, and what it did alone when the drive was off last."""

    ID = 46
    FIELDS = (
        ("tells", "u8", 0, 1, ""),  # it has a status at all: older ones have not
        ("status", "u8", 0, U8, "bits: 0 timed out, 1 kill switch"),
        ("timeout_ms", "u16", 0, U16, "ms after the last command; 0: not yet"),
        ("brake_ma", "u30", 0, WIDE, "mA, the most while its wheel turned"),
    )
    tells: int
    status: int
    timeout_ms: int
    brake_ma: int


class Power(Message):
    ID = 43
    FIELDS = (
        ("battery_mv", "u16", 0, U16, "mV"),
        ("stage", "u8", 0, U8, "0 good, 1 low, 2 empty"),
        ("temperature_c", "i16", -300, 300, "degrees Celsius; 0 where there is no sensor"),
    )
    battery_mv: int
    stage: int
    temperature_c: int


class Outputs(Message):
    """The board's outputs by channel, pulses in ns or duties in 1/10000, and their sources."""

    ID = 44
    FIELDS = (
        (("enable", "u8", 0, 1, ""),)
        + CHANNEL_ROWS
        + (
            ("lights", "u8", 0, U8, "bits"),
            ("lights_source", "u8", 0, U8, ""),
            ("aux_1_source", "u8", 0, U8, ""),
            ("aux_2_source", "u8", 0, U8, ""),
            ("aux_3_source", "u8", 0, U8, ""),
            ("aux_4_source", "u8", 0, U8, ""),
            ("cap_mm_s", "u16", 0, U16, "mm/s; the lowest cap that binds whoever drives"),
        )
    )
    enable: int
    channel_0: int
    channel_1: int
    channel_2: int
    channel_3: int
    channel_4: int
    channel_5: int
    channel_6: int
    channel_7: int
    lights: int
    lights_source: int
    aux_1_source: int
    aux_2_source: int
    aux_3_source: int
    aux_4_source: int
    cap_mm_s: int
