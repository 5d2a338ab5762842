"""An action and a stop, step by step: what is sent when, what ends them, and what is said of it."""

from __future__ import annotations

import pytest

from host_bridge.cars.actions import ActionRequest, StopRequest
from host_bridge.core import Action, ActionReply, CarStatus, OperatorAction, Refusal, Sender, State
from host_bridge.core.codes import Cause, Profile
from host_bridge.core.reports import StopSeen

START_US = 1_000_000
AGAIN_US, PASSING_US, GIVE_UP_US = 100_000, 20_000, 1_000_000


def reply(*refusals: Refusal, nonce: int = 0, action: Action = Action.ARM, **fields) -> ActionReply:
    return ActionReply(1, action, nonce, refusals, (), **fields)


def status(state: State, *causes: Cause) -> CarStatus:
    return CarStatus(
        0, state, causes, None, (), Profile.TRACK, None, None, None, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0,
        None,
    )  # fmt: skip


class Asked:
    """A request that began at START_US, and what it put on the wire."""

    def __init__(self, action: Action = Action.ARM) -> None:
        self.sent: list[int] = []
        self.operator_action = OperatorAction(action, Sender.SEAT, 1)
        self.explained: list[Refusal] = []
        self.request = ActionRequest("a", self.operator_action, self._send, START_US, self._explain)
        self.request.step(START_US)

    def _send(self, operator_action: OperatorAction, nonce: int) -> None:
        assert operator_action is self.operator_action
        self.sent.append(nonce)

    def _explain(self, refusal: Refusal, reply: ActionReply) -> str:
        self.explained.append(refusal)
        return "" if refusal is Refusal.MOVING else f"because {refusal.name}"

    def step(self, after_us: int) -> list[int]:
        """What was sent then."""
        self.sent.clear()
        self.request.step(START_US + after_us)
        return list(self.sent)

    def hear(self, after_us: int, *refusals: Refusal, **fields) -> list[int]:
        self.sent.clear()
        answer = reply(*refusals, **{"action": self.operator_action.kind, **fields})
        self.request.hear_reply(answer, START_US + after_us)
        return list(self.sent)

    @property
    def reasons(self) -> tuple[str, ...]:
        assert self.request.result is not None
        assert not self.request.result.is_done
        return self.request.result.reasons


@pytest.fixture
def asked():
    return Asked()


def test_the_first_step_is_sent_at_once_and_again_every_tenth_of_a_second(asked):
    assert asked.sent == [0]
    assert asked.step(AGAIN_US - 1) == []
    assert asked.step(AGAIN_US) == [0]
    assert asked.step(2 * AGAIN_US - 1) == []
    assert asked.step(2 * AGAIN_US) == [0]


def test_the_second_step_goes_as_soon_as_the_nonce_is_there_and_ends_it(asked):
    assert not asked.request.is_granted()
    assert asked.hear(5000, nonce=77) == [77]
    assert (asked.request.is_granted(), asked.request.nonce, asked.request.result) == (
        True, 77, None,
    )  # fmt: skip
    assert asked.step(5001) == []
    assert asked.hear(9000) == []
    result = asked.request.result
    assert (result.car_name, result.action, result.is_done) == ("a", Action.ARM, True)
    assert (result.refusals, result.reasons, result.stop_sources) == ((), (), ())
    assert str(result) == "a: arm done."
    assert asked.request.is_granted()
    assert asked.step(5 * AGAIN_US) == []


def test_a_second_step_that_is_not_answered_begins_again_with_the_first(asked):
    """The car spends a nonce on the first try."""
    asked.hear(5000, nonce=77)
    assert asked.step(5000 + AGAIN_US - 1) == []
    assert asked.step(5000 + AGAIN_US) == [0]
    assert asked.request.nonce == 0
    assert asked.hear(5000 + AGAIN_US, nonce=78) == [78]


def test_an_answer_that_comes_after_it_began_again_is_still_an_answer(asked):
    asked.hear(5000, nonce=77)
    asked.step(5000 + AGAIN_US)
    asked.hear(6000 + AGAIN_US)
    assert (asked.request.is_granted(), asked.request.nonce) == (True, 0)
    assert asked.request.result.is_done


def test_it_waits_with_the_second_step_until_it_may_proceed(asked):
    asked.request.may_proceed = False
    assert asked.hear(5000, nonce=77) == []
    assert asked.request.is_granted()
    assert asked.step(3 * AGAIN_US) == []
    asked.request.may_proceed = True
    assert asked.step(3 * AGAIN_US + 1) == [77]
    assert asked.step(4 * AGAIN_US) == []
    assert asked.step(4 * AGAIN_US + 1) == [0]


def test_it_asks_on_while_it_may_not_proceed_and_has_no_nonce(asked):
    asked.request.may_proceed = False
    assert asked.step(AGAIN_US) == [0]


def test_without_an_answer_it_fails_after_a_second(asked):
    assert asked.step(GIVE_UP_US - 1) == [0]
    assert asked.request.result is None
    assert asked.step(GIVE_UP_US) == []
    assert asked.reasons == ("no answer within 1 s",)
    assert asked.request.result.refusals == ()
    assert str(asked.request.result) == "a did not arm: no answer within 1 s."
    assert not asked.request.is_granted()


def test_with_an_answer_and_no_end_it_says_that(asked):
    asked.hear(5000, nonce=77)
    asked.step(GIVE_UP_US)
    assert asked.reasons == ("it did not finish within 1 s",)


def test_a_refusal_of_the_first_step_ends_it_with_all_its_reasons(asked):
    refusals = (Refusal.STATE, Refusal.MOVING, Refusal.STOP_SOURCE)
    assert asked.hear(5000, *refusals, stop_sources=(3,)) == []
    assert asked.request.result.refusals == refusals
    assert asked.reasons == ("because STATE", "because STOP_SOURCE")
    assert asked.request.result.stop_sources == (3,)
    assert str(asked.request.result) == "a did not arm: because STATE; because STOP_SOURCE."
    assert asked.hear(6000, nonce=5) == []
    assert asked.hear(6000, Refusal.FAULT) == []
    assert asked.request.result.refusals == refusals, "what comes later changes nothing"


def test_a_refusal_of_the_second_step_asks_again_for_the_first_one_s_answer(asked):
    asked.hear(5000, nonce=77)
    assert asked.hear(6000, Refusal.STATE) == []
    asked.request.hear_status(status(State.HOLD))
    assert (asked.request.nonce, asked.request.result) == (0, None)
    assert asked.step(6000) == [0]
    asked.hear(7000, Refusal.STOP_CAUSE)
    assert asked.reasons == ("because STOP_CAUSE",)


@pytest.mark.parametrize("is_second", [False, True])
def test_a_nonce_that_another_request_overtook_begins_again_at_once(asked, is_second):
    if is_second:
        asked.hear(5000, nonce=77)
        assert asked.hear(6000, Refusal.NONCE) == []
        assert asked.step(6000) == [0]
    else:
        assert asked.hear(6000, Refusal.NONCE) == []
        assert asked.step(5999) == []
        assert asked.step(6000) == [0]
    assert asked.request.result is None
    assert asked.step(6000 + AGAIN_US - 1) == []
    assert asked.step(6000 + AGAIN_US) == [0]


def test_a_wrong_nonce_beside_another_refusal_is_a_refusal(asked):
    asked.hear(5000, Refusal.NONCE, Refusal.STATE)
    assert asked.reasons == ("because NONCE", "because STATE")


@pytest.mark.parametrize(
    "passing", [(Refusal.RELAY,), (Refusal.BUSY,), (Refusal.RELAY, Refusal.BUSY)]
)
def test_what_passes_by_itself_is_asked_again_soon(asked, passing):
    assert asked.hear(5000, *passing) == []
    assert asked.request.result is None
    assert asked.step(5000 + PASSING_US - 1) == []
    assert asked.step(5000 + PASSING_US) == [0]
    assert asked.hear(30_000, nonce=77) == [77]


def test_what_passes_and_is_refused_at_the_second_step_begins_with_the_first(asked):
    asked.hear(5000, nonce=77)
    asked.hear(6000, Refusal.BUSY)
    asked.request.hear_status(status(State.HOLD))
    assert asked.request.result is None, "somebody else armed it"
    assert (asked.request.nonce, asked.step(6000)) == (0, [])
    assert asked.step(6000 + PASSING_US) == [0]
    assert asked.hear(30_000, Refusal.STATE) == []
    assert asked.reasons == ("because STATE",), "it was the first step's"


def test_what_does_not_pass_in_a_second_is_why_it_failed(asked):
    asked.hear(5000, Refusal.RELAY)
    asked.step(GIVE_UP_US - 1)
    assert asked.request.result is None
    asked.step(GIVE_UP_US)
    assert asked.reasons == ("because RELAY",)


def test_what_passes_beside_what_does_not_is_a_refusal(asked):
    asked.hear(5000, Refusal.RELAY, Refusal.STATE)
    assert asked.request.result.refusals == (Refusal.RELAY, Refusal.STATE)


def test_an_answer_to_another_action_is_not_ours(asked):
    assert asked.hear(5000, Refusal.STATE, action=Action.CLEAR) == []
    assert asked.hear(5000, nonce=5, action=Action.CLEAR) == []
    assert asked.request.result is None
    asked.step(GIVE_UP_US)
    assert asked.reasons == ("no answer within 1 s",)


def test_who_is_abandoned_fails_with_that_reason_and_only_once(asked):
    asked.request.abandon("the link was lost")
    asked.request.abandon("the car restarted")
    assert asked.reasons == ("the link was lost",)
    assert asked.step(AGAIN_US) == []
    assert not asked.request.is_granted()


@pytest.mark.parametrize(
    ("action", "shown", "is_done"),
    [
        (Action.ARM, status(State.HOLD), True),
        (Action.ARM, status(State.ACTIVE), True),
        (Action.ARM, status(State.STANDBY), False),
        (Action.CLEAR, status(State.STANDBY), True),
        (Action.CLEAR, status(State.STANDBY, Cause.STOP_REQUEST), False),
        (Action.CLEAR, status(State.STOPPED), False),
        (Action.DISARM, status(State.STANDBY), True),
        (Action.DISARM, status(State.HOLD), False),
        (Action.CAP, status(State.STANDBY), False),
    ],
)
def test_a_lost_answer_is_read_from_the_car_s_state_once_the_nonce_was_sent_back(
    action, shown, is_done
):
    asked = Asked(action)
    asked.request.hear_status(shown)
    assert asked.request.result is None, "it was so before"
    asked.hear(5000, nonce=77)
    asked.request.hear_status(shown)
    assert (asked.request.result is not None) is is_done
    if is_done:
        result = asked.request.result
        assert (result.car_name, result.action, result.is_done) == ("a", action, True)


def test_a_state_says_nothing_more_once_it_ended(asked):
    asked.hear(5000, nonce=77)
    asked.request.abandon("the link was lost")
    asked.request.hear_status(status(State.HOLD))
    assert asked.reasons == ("the link was lost",)


def test_a_state_is_no_proof_once_it_begins_again(asked):
    asked.hear(5000, nonce=77)
    asked.step(5000 + AGAIN_US)
    asked.request.hear_status(status(State.HOLD))
    assert asked.request.result is None


# --- a stop

TOKEN = 4242


class Stopping:
    def __init__(self) -> None:
        self.sent = 0
        self.request = StopRequest(Sender.RUNSTOP_BOX, "left box", TOKEN, self._send)

    def _send(self, request: StopRequest) -> None:
        assert (request.sender, request.sender_name) == (Sender.RUNSTOP_BOX, "left box")
        assert request.token == TOKEN
        self.sent += 1

    def step(self, after_us: int) -> int:
        self.sent = 0
        self.request.step(START_US + after_us)
        return self.sent


def seen(token: int = TOKEN) -> StopSeen:
    return StopSeen(token, State.STOPPING, Sender.RUNSTOP_BOX, "left box")


def test_a_stop_is_sent_at_once_and_every_two_steps_until_it_is_seen():
    stop = Stopping()
    assert not stop.request.is_over(START_US + 5 * GIVE_UP_US), "it has not begun"
    assert [stop.step(at_us) for at_us in (0, 1, 19_999, 20_000, 39_999, 40_000)] == [
        1, 0, 0, 1, 0, 1,
    ]  # fmt: skip
    stop.request.hear_seen(seen(), START_US + 41_000)
    assert (stop.request.seen_us, stop.request.seen) == (START_US + 41_000, seen())
    assert stop.request.is_over(START_US + 41_000)
    assert stop.step(60_000) == 0


def test_it_is_over_after_a_second_though_nobody_saw_it():
    stop = Stopping()
    stop.step(0)
    assert stop.step(GIVE_UP_US - 1) == 1
    assert not stop.request.is_over(START_US + GIVE_UP_US - 1)
    assert stop.request.is_over(START_US + GIVE_UP_US)
    assert stop.step(GIVE_UP_US + 20_000) == 0
    assert (stop.request.seen_us, stop.request.seen) == (None, None)


def test_what_was_seen_of_another_stop_is_not_this_one_and_the_first_sight_counts():
    stop = Stopping()
    stop.step(0)
    stop.request.hear_seen(seen(TOKEN + 1), START_US + 100)
    assert stop.request.seen_us is None
    stop.request.hear_seen(seen(), START_US + 200)
    stop.request.hear_seen(seen(), START_US + 300)
    assert stop.request.seen_us == START_US + 200
