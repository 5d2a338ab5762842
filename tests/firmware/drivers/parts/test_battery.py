"""The battery by ADC and by INA, told apart from the USB plug."""

import bench as bench_module
import machine
import pytest

from firmware.drivers.parts.battery_adc import BatteryAdc
from firmware.drivers.parts.battery_ina import INA219, INA226, BatteryIna
from tests.firmware.drivers.parts.sensor_peers import InaPeer

bench = bench_module.bench
SILENCE_US = 200_000
FULL_MV = 9900  # 3300 mV by a divider of three
USB_PIN = 24
KINDS = pytest.mark.parametrize(("number", "kind"), [(219, INA219), (226, INA226)])


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


def adc_battery(mv, usb=None):
    bench.voltages[26] = mv * 65_535 // FULL_MV
    pin = None if usb is None else machine.Pin(USB_PIN, machine.Pin.IN)
    bench.level(USB_PIN, usb or 0)
    battery = BatteryAdc(machine.ADC(machine.Pin(26)), FULL_MV, 3000, pin)
    battery.step(0)
    return battery


@pytest.mark.parametrize("mv", [3010, 6600, 7400, 8400, 9900])
def test_the_voltage_is_that_at_the_pack(mv):
    assert abs(adc_battery(mv).mv - mv) <= 5


@pytest.mark.parametrize(
    ("mv", "usb", "told_mv"),
    [
        (4900, 1, 0),  # the plug's own voltage: nothing is known of a pack
        (4900, 0, 4900),  # a pack of one cell's booster, no plug
        (4900, None, 4900),
        (7400, 1, 7400),  # above what USB can give
        (3500, 1, 3500),
        (2900, 0, 0),  # no pack
        (0, 1, 0),
    ],
)
def test_the_usb_plug_is_no_pack(mv, usb, told_mv):
    battery = adc_battery(mv, usb)
    assert abs(battery.mv - told_mv) <= (5 if told_mv else 0)
    assert battery.is_on_usb == bool(usb)


def test_one_bad_reading_moves_the_average_little_and_a_lasting_one_wholly():
    battery = adc_battery(8000)
    bench.voltages[26] = 4000 * 65_535 // FULL_MV
    battery.step(0)
    assert 7400 < battery.mv < 7600
    for _ in range(60):
        battery.step(0)
    assert abs(battery.mv - 4000) <= 10


def test_before_it_was_read_the_adc_tells_no_pack():
    bench.voltages[26] = 60_000
    battery = BatteryAdc(machine.ADC(0), 16_000, 3000, None)
    assert (battery.mv, battery.is_on_usb) == (0, False)


@pytest.mark.parametrize("full_mv", [0, 16_001])
def test_a_divider_that_cannot_be_is_refused(full_mv):
    with pytest.raises(ValueError, match="divider"):
        BatteryAdc(machine.ADC(0), full_mv, 3000, None)


def ina(number, kind, shunt_mohm=10):
    peer = InaPeer(number, shunt_mohm)
    i2c = machine.I2C(1, scl=machine.Pin(3), sda=machine.Pin(2))
    bench.buses[1][0x40] = peer
    return peer, BatteryIna(i2c, 0x40, kind, shunt_mohm, SILENCE_US)


@KINDS
@pytest.mark.parametrize(
    ("volts", "amps", "charging"), [(7.4, 3.0, False), (12.6, -0.5, True), (0.0, -0.02, False)]
)
def test_voltage_and_current_are_those_of_the_pack(number, kind, volts, amps, charging):
    peer, battery = ina(number, kind)
    peer.volts, peer.amps = volts, amps
    battery.step(0)
    assert abs(battery.mv - volts * 1000) <= 4
    assert abs(battery.current_ma - amps * 1000) <= 1
    assert battery.is_charging == charging
    assert battery.freshness.is_fresh


@KINDS
def test_before_it_was_read_an_ina_tells_nothing(number, kind):
    _, battery = ina(number, kind, shunt_mohm=1)
    assert (battery.mv, battery.current_ma, battery.is_charging) == (0, 0, False)
    assert not battery.freshness.is_fresh


@KINDS
def test_a_silent_ina_is_noticed(number, kind):
    peer, battery = ina(number, kind)
    battery.step(0)
    peer.fails = 2
    battery.step(200_000)
    assert battery.freshness.is_fresh
    battery.step(200_001)
    assert not battery.freshness.is_fresh
    assert battery.errors == 2


@pytest.mark.parametrize(("number", "kind"), [(219, INA226), (226, INA219)])
def test_the_other_kind_is_refused(number, kind):
    with pytest.raises(ValueError, match="other kind"):
        ina(number, kind)


def test_a_shunt_of_nothing_is_refused():
    with pytest.raises(ValueError, match="shunt"):
        ina(219, INA219, 0)
