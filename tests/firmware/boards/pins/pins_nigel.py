"""Nigel on an RP2350B: four servos, four H-bridges, four quadratures, lights."""

BOARD = "an RP2350B"
VEHICLE = "nigel"
PORT = "rp2"
SAFE_LEVELS = tuple(
    [(pin, 0) for pins in (list(range(18)), (19, 42), list(range(34, 40))) for pin in pins]
)
CHANNELS = (
    ("pwm_pulse", 0, 50, 1_472_000),
    ("pwm_pulse", 1, 50, 1_472_000),
    ("pwm_pulse", 2, 50, 1_472_000),
    ("pwm_pulse", 3, 50, 1_472_000),
    ("bridge", 4, 8, 9),
    ("bridge", 5, 10, 11),
    ("bridge", 6, 12, 13),
    ("bridge", 7, 14, 15),
)
STANDBY = (16, 17)
RUNSTOP = 18
ENABLE = ("pio", 19, 0)
CONTACT = 20
CHARGER = None
PIO_BASES = ()
ENCODERS = (
    ("left", "pio_quadrature", 22, 4),
    ("right", "pio_quadrature", 24, 5),
    ("left", "pio_quadrature", 26, 6),
    ("right", "pio_quadrature", 28, 7),
)
I2C = (0, 33, 32, 400_000)
UARTS = (("link", 0, 44, 45, 921_600),)
LINK = "uart"
IMU = ("mpu", 0x68, (1, 2, 3))
BATTERY = ("adc", 40, 15_675, 3_000, None)
RC = None
LIGHTS = (36, 37, 38, 39, 34, 35)
LED = 42
BUZZER = None
VESC = None
