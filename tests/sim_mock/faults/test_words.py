"""What a case says of a car's report is in words, whatever number the car reports."""

import re

from firmware.protocol import codes
from sim_mock.faults.trial.words import cause_word, fault_words, state_word


def test_each_state_cause_and_fault_has_a_word_of_its_own():
    states = [state_word(state) for state in range(codes.FAULT + 1)]
    causes = [cause_word(cause) for cause in range(codes.CAUSE_COUNT)]
    faults = [fault_words(1 << fault) for fault in range(codes.FAULT_COUNT)]
    for words in (states, causes, faults):
        assert len(set(words)) == len(words)
        assert not any(re.search(r"\d", word) for word in words)
    assert states[codes.STOPPED] == "STOPPED"
    assert causes[codes.CAUSE_STOP_SOURCE_SILENT] == "stop source silent"
    assert faults[codes.FAULT_RUNAWAY] == "runaway"


def test_none_several_and_unknown_ones_are_told():
    assert cause_word(codes.NO_CAUSE) == "no cause"
    assert fault_words(0) == "no fault"
    assert fault_words(0b1000001) == "configuration, runaway"
    assert fault_words(1 << 30) == "fault 30"
    assert state_word(99) == "state 99"
