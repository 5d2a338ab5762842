"""What is meant where nothing else is said."""

from host_bridge.drive.plan import Plan


def test_a_plan_is_a_keyboard_without_an_end_of_what_the_vehicle_files_say():
    plan = Plan(("car",))
    assert (plan.cars, plan.input, plan.options, plan.is_json) == (("car",), "keyboard", {}, False)
    rest = (plan.vehicle, plan.record, plan.seconds, plan.speed_mps, plan.profile, plan.cap_mps)
    assert rest == (None,) * 6
    assert (plan.hand, plan.is_unarmed, plan.is_lockstep) == (None, False, False)
    assert (plan.waits_for_reader, plan.is_watched) == (False, True)
