"""An F1TENTH with a plain ESC on a Pico, its host on a UART."""

BOARD = "pico"
VEHICLE = "f1tenth"
PORT = "rp2"
SAFE_LEVELS = ((2, 0), (3, 0), (4, 0), (25, 0))
CHANNELS = (
    ("pwm_pulse", 2, 50, 1_435_000),
    ("pio_pulse", 3, 0, 50, 1_500_000),
)
STANDBY = ()
RUNSTOP = 6
ENABLE = ("pio", 4, 1)
CONTACT = 7
CHARGER = 8
PIO_BASES = ()
ENCODERS = (("both", "pio_quadrature", 10, 4),)
I2C = (0, 21, 20, 400_000)
UARTS = (("link", 0, 0, 1, 921_600),)
LINK = "uart"
IMU = ("mpu", 0x68, (1, 2, 3))
BATTERY = ("adc", 26, 15_675, 3_000, None)
RC = ("pulses", (12, 13, 14, 15))
LIGHTS = None
LED = 25
BUZZER = None
VESC = None
