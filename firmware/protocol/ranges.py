"""The ranges that fields have in common. Nothing reaches 2**30: small ints on every port."""

U8 = 255
U16 = 65535
TIME = (1 << 30) - 1  # us
WIDE = (1 << 30) - 1
STEER = 1_000_000  # urad; no car of ours steers a radian
SPEED = 30_000  # mm/s
AGE_MS = 1_000_000_000  # 11.6 days, where ages saturate
