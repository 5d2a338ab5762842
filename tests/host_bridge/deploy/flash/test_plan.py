"""What has to be sent, and into which slot."""

from host_bridge.deploy.flash.plan import Slots, free_slot, plan_slot


def test_the_slot_that_starts_next_is_never_written():
    assert free_slot(None) == 0
    assert [free_slot(Slots(slot, trial, 0)) for slot in (0, 1) for trial in (0, 1)] == [1, 1, 0, 0]


def test_what_differs_is_sent_what_is_the_same_kept_what_is_too_much_removed():
    plan = plan_slot(1, {"a.mpy": "1", "b.mpy": "2", "c.mpy": "3"}, {"b.mpy": "2", "c.mpy": "x"})
    assert (plan.folder, plan.send, plan.keep) == ("/b", ("a.mpy", "c.mpy"), ("b.mpy",))
    assert plan_slot(0, {}, {"old.mpy": "1"}).remove == ("old.mpy",)


def test_the_configuration_beside_a_program_is_left_alone():
    assert plan_slot(0, {}, {"config_a.bin": "1"}).remove == ()
