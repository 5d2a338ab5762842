"""What is meant where nothing else is said."""

from host_bridge.drive.options import DriveOptions


def test_a_plan_is_a_keyboard_without_an_end_of_what_the_vehicle_files_say():
    options = DriveOptions(("car",))
    assert (options.cars, options.input, options.input_options, options.is_json) == (
        ("car",),
        "keyboard",
        {},
        False,
    )
    rest = (
        options.vehicle,
        options.record,
        options.seconds,
        options.speed_mps,
        options.profile,
        options.cap_mps,
    )
    assert rest == (None,) * 6
    assert (options.hand, options.is_unarmed, options.is_lockstep) == (None, False, False)
    assert options.arm_clears is True
    assert (options.waits_for_reader, options.is_watched) == (False, True)
