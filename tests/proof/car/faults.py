"""Faults to plant into a car: what the search has to find, or it shows nothing.

Each changes one object of one car. Rows 1, 5 and 15 of the safety examination come first, as they
once were, and the gesture's profile; the others are one slip each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from firmware.app import App
from firmware.core.arbitration import actions as rules_of_actions
from firmware.protocol import codes, messages
from firmware.protocol.boxes import BOX_CHALLENGE
from firmware.protocol.codec import Message
from tests.firmware.core.desk import parameters_of

PAD, PILOT, COUNTED = 2, 4, 5  # sources of the alphabets
Plant = Callable[[App], None]


@dataclass(frozen=True)
class Fault:
    """One fault, and the alphabet in which it is to be found."""

    name: str
    says: str
    alphabet: str
    plant: Plant


def _commit_beside_an_arm(app: App) -> None:
    app.actions.take = lambda: True


def _nonce_without_end(app: App) -> None:
    app.actions._expire = lambda now_us: None


def _gesture_as(app: App, profile_checked: Callable[[], int], asks_if_free: bool) -> None:
    actions = app.actions

    def gesture(state: int) -> int:
        is_clear = actions.gesture_action(state) == codes.ACTION_CLEAR
        row = rules_of_actions._CLEAR if is_clear else rules_of_actions._ARM
        found = 0 if state in row[1] else 1 << codes.REFUSED_STATE
        found |= actions._found(row[0], codes.SENDER_RC, profile_checked())
        found &= ~row[2]
        if asks_if_free and not actions._is_free():
            found |= 1 << codes.REFUSED_BUSY
        if not found:
            actions._grant(row[0], actions._default)
        return found

    actions.gesture = gesture


def _gesture_beside_a_confirm(app: App) -> None:
    _gesture_as(app, lambda: app.actions._default, False)


def _gesture_checks_the_last(app: App) -> None:
    _gesture_as(app, lambda: app.actions.profile, True)


def _handled(app: App, message: type[Message], by: Callable[[Any, int, Any], None]) -> None:
    handlers = app.receiver._handlers
    handled = handlers[message.ID]
    handlers[message.ID] = lambda heard, now_us: by(heard, now_us, handled)


def _request_outlives_a_stop(app: App) -> None:
    def stop(heard: Any, now_us: int, handled: Any) -> None:
        nonce = app.actions.nonce
        handled(heard, now_us)
        app.actions.nonce = nonce

    _handled(app, messages.Stop, stop)


def _outlives_a_change(app: App) -> None:
    app.actions.settle = lambda is_disturbed, now_us: app.actions._expire(now_us)


def _stop_for_the_armed_only(app: App) -> None:
    def stop(heard: Any, now_us: int, handled: Any) -> None:
        if app.supervisor.is_armed():
            handled(heard, now_us)

    _handled(app, messages.Stop, stop)


def _silence_yields(app: App) -> None:
    app.arbiter.sources[PAD].on_silence = codes.ON_SILENCE_YIELD


def _begins_with_throttle(app: App) -> None:
    source = app.arbiter.sources[PAD]
    passes = source._pass_gate
    source._pass_gate = lambda is_held, is_neutral: passes(is_held, True)


def _arm_keeps_gates(app: App) -> None:
    app.arbiter.begin_from_neutral = lambda now_us: app.arbiter.attended.set(now_us, 3_000_000)


def _deaf_to_strange_boxes(app: App) -> None:
    def alive(heard: Any, now_us: int, handled: Any) -> None:
        if app.sessions.find(heard.epoch) >= 0:
            handled(heard, now_us)

    _handled(app, messages.Alive, alive)


def _box_is_not_missed(app: App) -> None:
    app.stop_sources.missing_in = lambda profile: 0


def _brakes_the_wrong_way(app: App) -> None:
    brakes = app.drive.brake

    def brake(speed_mm_s: int, is_trusted: bool, now_us: int, dt_ms: int) -> None:
        brakes(speed_mm_s, is_trusted, now_us, dt_ms)
        app.drive.effort = -app.drive.effort

    app.drive.brake = brake


def _brake_without_end(app: App) -> None:
    assert app.loop_brake is not None
    app.loop_brake.step = lambda now_us: None


def _brake_without_a_limit(app: App) -> None:
    assert app.loop_brake is not None
    app.loop_brake._most_ms = 1 << 20


def _cap_is_raised(app: App) -> None:
    app.actions._raises_cap = lambda cap_mm_s, state: False


def _commit_while_rolling(app: App) -> None:
    def commit(heard: Any, now_us: int, handled: Any) -> None:
        app.actions.is_standing = True
        handled(heard, now_us)

    _handled(app, messages.ConfigCommit, commit)


def _rebind_keeps_requests(app: App) -> None:
    app.actions.rebound = lambda epoch: None


def _old_permission_counts(app: App) -> None:
    app.arbiter.sources[PILOT].begin_from_neutral = lambda: None


def _hand_changes_nothing(app: App) -> None:
    app.arbiter._is_hand = lambda source: False


def _only_held_hands(app: App) -> None:
    app.arbiter._is_hand = lambda source: (
        source.is_attended and source.claimed and not app.arbiter._objection(source)
    )


def _arm_frees_the_switch(app: App) -> None:
    arms = app.arbiter.begin_from_neutral

    def begin_from_neutral(now_us: int) -> None:
        arms(now_us)
        app.arbiter._worn = 0

    app.arbiter.begin_from_neutral = begin_from_neutral


def _frozen_goes_on(app: App) -> None:
    app.arbiter.sources[COUNTED].has_counter = False


def _clock_is_not_watched(app: App) -> None:
    app.fault_monitor._is_clock_lost = lambda: False


def _lease_does_not_matter(app: App) -> None:
    arbiter = app.arbiter
    right = arbiter._freshness
    arbiter._freshness = lambda age_us, bound_us, lease_us: right(age_us, bound_us, 1 << 20)


def _claim_outlives_its_session(app: App) -> None:
    def forget(slot: int) -> None:
        for source in app.arbiter.active:
            if source.slot == slot:
                source.slot = -1

    app.arbiter.forget = forget


def _tag_is_not_checked(app: App) -> None:
    assert app.pairing is not None
    app.pairing._boxes._tag.is_right = lambda mask, payload, at: True


def _box_answers_anything(app: App) -> None:
    """Which challenge it answers does not matter: each counts as the newest, just said."""
    assert app.pairing is not None
    boxes = app.pairing._boxes
    right = boxes.left_us

    def left_us(values: Any, payload: bytearray, source: Any, now_us: int) -> int:
        number = values[BOX_CHALLENGE]
        values[BOX_CHALLENGE] = boxes._newest
        left = right(values, payload, source, now_us)
        values[BOX_CHALLENGE] = number
        return left

    boxes.left_us = left_us


def _host_speaks_for_the_box(app: App) -> None:
    assert app.stop_sources.paired is not None
    app.stop_sources.paired.kind = codes.STOP_SOURCE_LINK


def _key_requires_nothing(app: App) -> None:
    app.stop_sources._needs_box = 0
    app.stop_sources.configure(parameters_of(app))


ALL = (
    Fault("row 1", "a commit takes effect beside an arm", "actions", _commit_beside_an_arm),
    Fault("row 5", "a nonce has no end", "actions", _nonce_without_end),
    Fault("row 15", "a gesture beside a confirmation", "receiver", _gesture_beside_a_confirm),
    Fault(
        "gesture's profile", "a gesture is checked for the last profile and arms the default",
        "receiver in race", _gesture_checks_the_last,
    ),
    Fault("outlived stop", "a request outlives a Stop", "actions", _request_outlives_a_stop),
    Fault("outlived change", "a request outlives a loop that opens", "actions", _outlives_a_change),
    Fault("armed stop", "a Stop is for armed cars only", "actions", _stop_for_the_armed_only),
    Fault("yielding silence", "a silence is no stop", "actions", _silence_yields),
    Fault("throttle first", "a source begins with throttle", "actions", _begins_with_throttle),
    Fault("kept gates", "an arm lets a source go on", "actions", _arm_keeps_gates),
    Fault("strange box", "the stop of an unknown box is not heard", "box", _deaf_to_strange_boxes),
    Fault("unmissed box", "a required box is not missed", "box", _box_is_not_missed),
    Fault("unchecked tag", "a box's tag is not checked", "paired box", _tag_is_not_checked),
    Fault("old answer", "an answer is never too old", "paired box", _box_answers_anything),
    Fault("host's run", "a host runs for the box", "paired box", _host_speaks_for_the_box),
    Fault("file's word", "a key leaves its box to the file", "key", _key_requires_nothing),
    Fault("lost word", "a lost key leaves it to the file", "lost key", _key_requires_nothing),
    Fault("wrong brake", "a brake that drives on", "rolling", _brakes_the_wrong_way),
    Fault("braked loop", "an opened loop is braked and not cut", "off-delay", _brake_without_end),
    Fault("long brake", "it is braked for ever", "off-delay", _brake_without_a_limit),
    Fault("raised cap", "an armed car's cap is raised", "capped", _cap_is_raised),
    Fault("rolling commit", "a commit while the wheels turn", "rolling", _commit_while_rolling),
    Fault("kept request", "who binds anew keeps his request", "rebind", _rebind_keeps_requests),
    Fault("old permission", "a permission from before the arm", "guardian", _old_permission_counts),
    Fault("forgotten hand", "a program drives on after a hand", "hand", _hand_changes_nothing),
    Fault("idle manual", "manual excludes only while it is held", "manual", _only_held_hands),
    Fault("armed switch", "an arm is a switch's word", "hand and switch", _arm_frees_the_switch),
    Fault("frozen hand", "a frozen input is no stop", "frozen", _frozen_goes_on),
    Fault("lost clock", "a lost clock is no stop", "silent", _clock_is_not_watched),
    Fault("short lease", "a clock is sure for any lease", "far", _lease_does_not_matter),
    Fault("lost session", "a claim outlives its session", "rebind", _claim_outlives_its_session),
)  # fmt: skip
BY_NAME = {fault.name: fault for fault in ALL}


def plant_of(name: str) -> Plant | None:
    """What plants this fault; None without a name."""
    return BY_NAME[name].plant if name else None
