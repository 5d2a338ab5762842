"""The car's promises (firmware/core/SAFETY.md), on the complete program against its plant."""

import pytest

from firmware.protocol import codes, messages
from firmware.protocol.version import protocol_hash
from host_bridge.deploy.hil.host.small_host import HELD, RELEASED, ROS2, SEAT, TABLE, SmallHost
from sim_mock.world import TIME_MASK
from tests.firmware.core.desk import parameters_of
from tests.firmware.worlds import VEHICLES, world_of

CRUISE_MM_S = {"f1tenth": 2000, "nigel": 350}
MOST_MPS = {"f1tenth": 2.5, "nigel": 0.445}  # while an encoder lies
COUNTED = 1 << codes.CAUSE_SILENCE


@pytest.fixture(params=VEHICLES)
def host(request):
    return SmallHost(world_of(request.param))


@pytest.fixture
def cruising(host):
    """At speed, ACTIVE, straight ahead."""
    host.take_the_wheel()
    host.drive(2000, cruise(host))
    assert host.status.speed_mm_s == pytest.approx(cruise(host), rel=0.05)
    return host


def cruise(host) -> int:
    return CRUISE_MM_S[host.world.name]


def has_lost(host, why: int) -> bool:
    """Whether the car said that this host's source does not win the drive, and so why."""
    said = [
        b for _, code, a, b in host.events if (code, a) == (codes.EVENT_SOURCE_LOST, host.source)
    ]
    return any(b & 0xFF == why and b >> 8 & codes.DRIVE_BIT for b in said)


def outputs_are_neutral(host) -> bool:
    """No torque is asked for: what the drive channels show at rest before any arm."""
    at_rest = SmallHost(world_of(host.world.name))
    at_rest.rest(50)
    drive = slice(4, 8) if host.world.name == "nigel" else slice(1, 2)
    return list(host.world.values)[drive] == list(at_rest.world.values)[drive]


# --- refusal


def test_an_unarmed_car_does_not_move_whatever_is_claimed(host):
    host.connect()
    host.drive(100, deadman=RELEASED)
    host.drive(1000, cruise(host))
    assert host.state == codes.STANDBY
    assert not host.world.enable
    assert host.world.plant.truth.vx_mps == 0


def test_arming_is_refused_with_every_reason_at_once(host):
    host.world.runstop_closed = False
    host.world.charger = True
    host.connect()
    host.say(messages.Act, action=codes.ACTION_ARM, nonce=0, config_hash=b"\1\2\3\4")
    host.rest(20)
    refusals = host.latest["ActReply"].refusals
    for reason in (
        codes.REFUSED_STOP_CAUSE,
        codes.REFUSED_CAUSE_PRESENT,
        codes.REFUSED_CHARGER,
        codes.REFUSED_CONFIGURATION,
    ):
        assert refusals >> reason & 1


def test_one_frame_cannot_arm_a_car_nor_can_an_old_nonce(host):
    host.connect()
    config_hash = bytes(host.latest["Identity"].config_hash)
    ask = {"action": codes.ACTION_ARM, "config_hash": config_hash}
    host.say(messages.Act, nonce=0, **ask)
    host.rest(20)
    nonce = host.latest["ActReply"].nonce
    host.say(messages.Act, nonce=nonce ^ 1, **ask)
    host.rest(20)
    assert host.latest["ActReply"].refusals == 1 << codes.REFUSED_NONCE
    host.say(messages.Act, nonce=nonce, **ask)
    host.rest(20)
    assert host.state == codes.STANDBY


def test_a_held_deadman_that_was_never_released_moves_nothing(host):
    host.connect()
    assert host.act(codes.ACTION_ARM, deadman=HELD) == 0
    host.drive(500, cruise(host))
    assert host.state == codes.HOLD
    assert host.world.plant.truth.vx_mps == 0


def test_driving_begins_from_neutral_only(host):
    host.connect()
    host.drive(50, deadman=RELEASED)
    assert host.act(codes.ACTION_ARM) == 0
    host.drive(500, cruise(host))
    assert host.state == codes.HOLD
    assert has_lost(host, codes.LOST_NOT_NEUTRAL)
    host.drive(50, 0)
    assert host.state == codes.ACTIVE


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"epoch": 999}, codes.CLAIM_UNKNOWN_EPOCH),
        ({"source": 12}, codes.CLAIM_UNKNOWN_SOURCE),
        ({"lease_ms": 999}, codes.CLAIM_LEASE_TOO_LONG),
        ({"ahead_us": 200_000}, codes.CLAIM_FROM_FUTURE),
        ({"ahead_us": -200_000}, codes.CLAIM_TOO_OLD),
    ],
)
def test_a_claim_that_may_not_be_refreshes_nothing(cruising, changes, verdict):
    changes = dict(changes)
    ahead_us = changes.pop("ahead_us", 0)
    for _ in range(40):
        cruising.claim(
            cruise(cruising),
            stamp_us=cruising.now_us() + ahead_us & TIME_MASK,
            **changes,
        )
        cruising.beat()
    assert cruising.has_event(codes.EVENT_CLAIM_REFUSED, changes.get("source", 3), verdict)
    assert cruising.status.causes == COUNTED


def test_a_repeated_claim_is_refused_and_does_not_keep_the_car_moving(cruising):
    frame = cruising.claim(cruise(cruising))
    for _ in range(40):
        cruising.beat()
        cruising.world.feed(frame)
    assert cruising.has_event(codes.EVENT_CLAIM_REFUSED, 3, codes.CLAIM_OUT_OF_SEQUENCE)
    assert cruising.status.causes == COUNTED


def test_a_second_host_cannot_write_the_same_source_while_the_first_is_fresh(cruising):
    other = SmallHost(cruising.world, epoch=777)
    other.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
    for _ in range(20):
        cruising.claim(cruise(cruising))
        other.sequence = cruising.sequence + 5
        other.claim(0)
        cruising.beat()
    assert cruising.has_event(codes.EVENT_CLAIM_REFUSED, 3, codes.CLAIM_OTHER_WRITER)
    assert cruising.state == codes.ACTIVE


# --- stopping


def assert_stops_and_latches(host, cause: int, state_after: int = codes.STOPPED) -> None:
    assert host.state in (codes.STOPPING, state_after)
    assert host.status.causes >> cause & 1
    assert host.status.first_cause == cause
    host.rest(4000)
    assert host.state == state_after
    host.rest(6000)  # a cut car coasts
    assert host.world.plant.truth.vx_mps == pytest.approx(0, abs=0.005)
    assert not host.world.enable
    host.drive(500, deadman=RELEASED)
    host.drive(500, cruise(host))
    assert host.state == state_after


def test_wheels_stop_when_claims_stop_within_the_lease_and_one_step(cruising):
    before_us = cruising.world.now_us
    while cruising.state == codes.ACTIVE:
        cruising.beat()
    assert cruising.world.now_us - before_us <= 130_000
    assert_stops_and_latches(cruising, codes.CAUSE_SILENCE)


def test_a_stop_from_anybody_is_obeyed_on_the_next_step_and_acknowledged(cruising):
    stranger = SmallHost(cruising.world, epoch=1)
    stranger.stop()
    cruising.claim(cruise(cruising))
    cruising.beat()
    assert cruising.latest["StopSeen"].state == codes.STOPPING
    assert_stops_and_latches(cruising, codes.CAUSE_STOP_REQUEST)


def test_the_runstop_loop_cuts_on_the_same_step(cruising):
    cruising.world.runstop_closed = False
    cruising.drive(10, cruise(cruising))
    assert not cruising.world.enable
    assert outputs_are_neutral(cruising)
    assert_stops_and_latches(cruising, codes.CAUSE_RUNSTOP_LOOP)


def test_a_frozen_input_stops_the_car_within_a_fifth_of_a_second(cruising):
    before_us = cruising.world.now_us
    frozen = cruising.input_count
    while cruising.state == codes.ACTIVE:
        cruising.claim(cruise(cruising), input_count=frozen)
        cruising.beat()
    assert cruising.world.now_us - before_us <= 220_000
    assert_stops_and_latches(cruising, codes.CAUSE_FROZEN_INPUT)


def test_a_step_of_the_hosts_clock_stops_the_car(cruising):
    cruising.clock_ahead_us = 300_000
    cruising.drive(200, cruise(cruising))
    assert cruising.status.causes >> codes.CAUSE_CLOCK_STEP & 1


def test_stop_and_clear_on_one_step_leave_the_stop_in_either_order(cruising):
    cruising.stop()
    cruising.rest(3000)
    cruising.drive(100, deadman=RELEASED)
    config_hash = bytes(cruising.latest["Identity"].config_hash)
    clear = {"action": codes.ACTION_CLEAR, "config_hash": config_hash}
    for stop_first in (True, False):
        cruising.say(messages.Act, nonce=0, **clear)
        cruising.drive(10, deadman=RELEASED)
        nonce = cruising.latest["ActReply"].nonce
        if stop_first:
            cruising.stop()
        cruising.say(messages.Act, nonce=nonce, **clear)
        if not stop_first:
            cruising.stop()
        cruising.drive(10, deadman=RELEASED)
        assert cruising.state == codes.STOPPED
        assert cruising.status.causes


# --- hold, and driving on


def test_a_released_deadman_brakes_and_holds_and_holding_it_again_drives_on(cruising):
    cruising.drive(10, deadman=RELEASED)
    assert cruising.state == codes.HOLD
    cruising.drive(2000, deadman=RELEASED)
    assert cruising.world.plant.truth.vx_mps == pytest.approx(0, abs=0.005)
    assert cruising.status.causes == 0
    cruising.drive(50, 0)
    cruising.drive(1500, cruise(cruising))
    assert cruising.state == codes.ACTIVE
    assert cruising.status.speed_mm_s > cruise(cruising) // 2


def test_silence_is_no_release_and_latches_even_in_hold(cruising):
    cruising.drive(100, deadman=RELEASED)
    cruising.rest(300)
    assert_stops_and_latches(cruising, codes.CAUSE_SILENCE)


def test_after_clear_and_a_new_arm_the_car_drives_again(cruising):
    cruising.stop()
    cruising.rest(4000)
    cruising.drive(50, deadman=RELEASED)
    assert cruising.act(codes.ACTION_CLEAR) == 0
    assert cruising.state == codes.STANDBY
    assert cruising.act(codes.ACTION_ARM) == 0
    cruising.drive(50, 0)
    cruising.drive(1000, cruise(cruising))
    assert cruising.state == codes.ACTIVE


def test_a_car_that_holds_can_be_disarmed_and_one_that_drives_cannot(cruising):
    config_hash = bytes(cruising.latest["Identity"].config_hash)
    disarm = {"action": codes.ACTION_DISARM, "nonce": 0, "config_hash": config_hash}
    cruising.say(messages.Act, **disarm)
    cruising.drive(20, cruise(cruising))
    assert cruising.latest["ActReply"].refusals == 1 << codes.REFUSED_STATE
    cruising.drive(2000, deadman=RELEASED)
    cruising.say(messages.Act, **disarm)
    cruising.drive(20, deadman=RELEASED)
    assert cruising.state == codes.STANDBY


def test_an_armed_car_that_nobody_comes_to_stops_after_three_seconds(host):
    """D5: who armed it may be gone; a missing heartbeat is a stop, in HOLD too."""
    host.connect()
    config_hash = bytes(host.latest["Identity"].config_hash)
    arm = {"action": codes.ACTION_ARM, "config_hash": config_hash}
    host.say(messages.Act, nonce=0, **arm)
    host.rest(20)
    host.say(messages.Act, nonce=host.latest["ActReply"].nonce, **arm)
    host.rest(2900)
    assert host.state == codes.HOLD
    host.rest(300)
    assert host.state in (codes.STOPPING, codes.STOPPED)
    assert host.status.first_cause == codes.CAUSE_UNATTENDED


# --- arbitration and limits


def test_a_source_of_higher_priority_wins_and_the_loser_is_told_why(cruising):
    seat = SmallHost(cruising.world, epoch=777, source=SEAT)
    seat.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))

    def both(beats, seat_speed, seat_deadman):
        for _ in range(beats):
            cruising.claim(cruise(cruising))
            seat.claim(seat_speed, deadman=seat_deadman)
            cruising.beat()
            seat.latest["Status"] = cruising.status
            now_us = seat.now_us()
            if _ % 5 == 0:
                stamp = cruising.status.time_us
                seat.say(messages.Sync, board_us=stamp, received_us=now_us, sent_us=now_us)

    both(20, 0, RELEASED)
    assert cruising.status.drive_source == cruising.source
    both(20, 0, HELD)
    assert cruising.status.drive_source == SEAT
    assert has_lost(cruising, codes.LOST_OUTRANKED)
    both(200, 0, HELD)
    assert cruising.status.speed_mm_s == pytest.approx(0, abs=60)


def test_autonomy_drives_only_under_a_fresh_permission_of_its_person(host):
    """S2, S4: the program has no deadman; the seat's has to be given anew after each arm."""
    host.connect()
    seat = SmallHost(host.world, epoch=777, source=SEAT)
    program = SmallHost(host.world, epoch=778, source=ROS2)
    for other in (seat, program):
        other.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))

    def both(beats, deadman):
        for i in range(beats):
            seat.claim(0, deadman=deadman, mask=0)
            program.claim(cruise(host), deadman=RELEASED)
            if i % 5 == 0:
                for other in (seat, program):
                    now = other.now_us()
                    stamp = host.status.time_us
                    other.say(messages.Sync, board_us=stamp, received_us=now, sent_us=now)
            host.beat()

    permits = HELD | codes.PERMITS_AUTONOMY
    both(30, permits)  # held before the arm: that is no fresh permission
    config_hash = bytes(host.latest["Identity"].config_hash)
    for nonce in (0, None):
        nonce = host.latest["ActReply"].nonce if nonce is None else nonce
        host.say(messages.Act, action=codes.ACTION_ARM, nonce=nonce, config_hash=config_hash)
        both(2, permits)
    both(50, permits)
    assert host.state == codes.HOLD
    both(10, RELEASED)
    both(200, permits)
    assert host.state == codes.ACTIVE
    assert host.status.drive_source == ROS2
    assert host.world.plant.truth.vx_mps > 0.2
    both(10, HELD)
    assert host.state == codes.HOLD


def test_a_new_session_in_an_old_slot_counts_from_its_own_beginning(host):
    host.take_the_wheel()
    host.sequence = 20_000
    host.drive(200, cruise(host))
    host.world.advance(host.world.now_us + 4_000_000)  # not a word from it
    others = [SmallHost(host.world, epoch=9000 + i) for i in range(4)]
    for other in others:  # the fifth session takes the slot of the first, which is stale
        other.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
        host.world.advance(host.world.now_us + 10_000)
    newest = others[-1]
    newest.beat()
    for _ in range(20):
        newest.claim(deadman=RELEASED)
        newest.beat()
    newest.beat()
    assert newest.status.claim_sequence == newest.sequence == 20
    refused = [e for e in newest.events if e[1] == codes.EVENT_CLAIM_REFUSED]
    assert codes.CLAIM_OUT_OF_SEQUENCE not in [e[3] for e in refused]


@pytest.mark.parametrize("braked_ms", [60, 100, 150, 250, 400])
def test_reverse_that_is_braked_a_moment_goes_on_in_reverse(host, braked_ms):
    """An ESC brakes out of reverse in its forward gear: what asks for reverse next is a brake."""
    host.take_the_wheel()
    command = -min(cruise(host), 700)
    host.drive(3000, command)
    host.drive(braked_ms, 0)
    for _ in range(30):
        host.drive(100, command)
        assert host.state == codes.ACTIVE, host.status.faults
    assert host.world.plant.truth.vx_mps < 0.8e-3 * command


def test_speed_stays_under_the_cap_of_the_source(host):
    host.take_the_wheel()
    host.drive(4000, 30_000)
    cap = {"f1tenth": 2000, "nigel": 440}[host.world.name]
    assert host.status.target_mm_s <= cap
    assert host.status.speed_mm_s <= cap * 1.05


def test_steering_stays_in_the_envelope_of_the_speed(cruising):
    cruising.drive(500, cruise(cruising), 1_000_000)
    params = parameters_of(cruising.world.runner.app)
    lateral_mm_s2 = (
        cruising.status.speed_mm_s**2
        * cruising.status.steer_50urad
        * 50
        // (params.get("wheelbase_um") * 1000)
    )
    assert lateral_mm_s2 <= params.get("lateral_accel_mm_s2")
    assert cruising.status.steer_50urad * 50 <= params.get("steer_max_urad")


def test_left_is_positive_from_the_claim_to_the_yaw_of_the_car(cruising):
    cruising.drive(1000, cruise(cruising), 150_000)
    assert cruising.world.plant.truth.yaw_rate_radps > 0.1
    assert cruising.latest["Motion"].yaw_rate_mrad_s > 100
    assert cruising.latest["Motion"].yaw_urad > 0


def test_dead_reckoning_follows_the_truth(cruising):
    cruising.drive(3000, cruise(cruising), 60_000)
    cruising.drive(2000, deadman=RELEASED)
    motion, truth = cruising.latest["Motion"], cruising.world.plant.truth
    travelled_m = motion.distance_mm * 1e-3
    assert motion.x_mm * 1e-3 == pytest.approx(truth.x_m, abs=0.05 * travelled_m)
    assert motion.y_mm * 1e-3 == pytest.approx(truth.y_m, abs=0.05 * travelled_m)


def test_reverse_comes_only_after_standstill_and_a_pause(host):
    host.take_the_wheel()
    host.drive(1500, cruise(host))
    speeds = []
    for _ in range(400):
        host.drive(10, -cruise(host))
        speeds.append(host.world.plant.truth.vx_mps)
    assert min(speeds) < -0.1
    drive = 4 if host.world.name == "nigel" else 1
    assert host.world.values[drive] != 0


# --- configuration


def test_a_car_without_configuration_is_in_fault_and_moves_nothing(host):
    blank = SmallHost(world_of(host.world.name, image=b""))
    blank.connect()
    assert blank.state == codes.FAULT
    assert blank.status.faults >> codes.FAULT_CONFIGURATION & 1
    assert blank.act(codes.ACTION_ARM) & 1 << codes.REFUSED_FAULT


def test_another_boards_configuration_is_refused(host):
    foreign = SmallHost(
        world_of(host.world.name, image=host.world.runner.board.image, name="other")
    )
    foreign.connect()
    assert foreign.state == codes.FAULT
    assert foreign.status.faults >> codes.FAULT_FOREIGN_CONFIGURATION & 1


def test_a_damaged_configuration_is_refused(host):
    image = bytearray(host.world.runner.board.image)
    image[100] ^= 1
    damaged = SmallHost(world_of(host.world.name, image=bytes(image)))
    damaged.connect()
    assert damaged.status.faults >> codes.FAULT_CONFIGURATION & 1


def test_a_relay_whose_contact_does_not_open_is_a_fault(cruising):
    cruising.world.hardware.contact_stuck = True
    cruising.stop()
    cruising.rest(4000)
    assert cruising.state == codes.FAULT
    assert cruising.status.faults >> codes.FAULT_RELAY & 1


def test_a_dead_encoder_never_makes_the_car_run_away(host):
    """It reads standstill, which a speed loop alone would answer with full throttle."""
    host.world.dead_encoders = {"left", "right"}
    host.take_the_wheel()
    fastest = 0.0
    for _ in range(450):  # in doubt, a stop takes all of its time
        host.drive(10, cruise(host))
        fastest = max(fastest, host.world.plant.truth.vx_mps)
    assert host.status.faults >> codes.FAULT_NO_MOTION & 1
    assert host.state == codes.FAULT
    assert outputs_are_neutral(host)
    assert fastest < MOST_MPS[host.world.name]


def test_an_encoder_that_dies_at_speed_is_a_fault_and_selects_no_braking_by_it(cruising):
    cruising.world.dead_encoders = {"left", "right"}
    fastest = 0.0
    for _ in range(450):
        cruising.drive(10, cruise(cruising))
        fastest = max(fastest, cruising.world.plant.truth.vx_mps)
    assert cruising.state == codes.FAULT
    assert outputs_are_neutral(cruising)
    assert fastest < MOST_MPS[cruising.world.name]


def test_a_host_of_another_protocol_is_not_bound_but_may_stop(cruising):
    stranger = SmallHost(cruising.world, epoch=42)
    stranger.say(messages.Bind, protocol_hash=b"\0\0\0\0")
    cruising.drive(10, cruise(cruising))
    assert cruising.latest["Bound"].result == codes.BIND_PROTOCOL_MISMATCH
    stranger.stop()
    cruising.drive(10, cruise(cruising))
    assert cruising.latest["StopSeen"].state == codes.STOPPING  # a Status comes a step later
