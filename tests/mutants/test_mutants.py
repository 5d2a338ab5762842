"""The driver tells a mutant that the tests notice from one that they do not, and lists honestly."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.mutants import __main__ as command
from tests.mutants import chosen
from tests.mutants.core import (
    CORE,
    GROUPS,
    INTERFACES,
    NOT_YET,
    PARTS,
    PLACES,
    ROOT,
    own_tests,
    tiers,
)
from tests.mutants.equivalent import equivalents
from tests.mutants.mistakes import by_hand
from tests.mutants.mistakes.mutations import Mutant, mutants_of, mutated
from tests.mutants.mistakes.overwritten import tried
from tests.mutants.trial import kept, trials
from tests.mutants.trial.trying import Trial, Trying
from tests.support.evidence import every, some
from tests.support.kinds import STARTERS

SOURCE = '''"""A docstring is no code."""
LIMIT = 5


def over(value: int, is_on: bool) -> bool:
    """Nor is this."""
    if value > LIMIT and not is_on:
        value += 1
    return value == 2
'''


def made(operator: str) -> list[str]:
    return [m.after for m in mutants_of("a.py", SOURCE) if m.operator == operator]


@pytest.mark.parametrize(
    ("operator", "after"),
    [
        ("comparison", ["if value <= LIMIT and (not is_on):", "return value != 2"]),
        ("boundary", ["if value >= LIMIT and (not is_on):"]),
        ("boolean", ["if value > LIMIT or not is_on:"]),
        ("operand", ["if not is_on:", "if value > LIMIT:"]),
        ("in place", ["value -= 1"]),
        ("return value", ["return None"]),
        ("deletion", ["pass"] * 4),
        ("constant", ["LIMIT = 6", "LIMIT = 4", "value += 2", "value += 0",
                      "return value == 3", "return value == 1"]),
    ],
)  # fmt: skip
def test_each_operator_makes_its_mistakes_and_no_others(operator, after):
    assert made(operator) == after


def test_what_declares_a_type_and_no_value_is_not_deleted():
    source = "def f():\n    found: int\n    found: int = g()\n"
    made = [m.before for m in mutants_of("a.py", source) if m.operator == "deletion"]
    assert made == ["found: int = g()"]


def test_every_mutant_differs_from_its_source_and_from_every_other():
    mutants = mutants_of("a.py", SOURCE)
    texts = {ast.unparse(mutated(SOURCE, m.number)) for m in mutants}
    assert len(texts) == len(mutants) == len({m.key for m in mutants})
    assert ast.unparse(ast.parse(SOURCE)) not in texts


def test_a_return_of_nothing_is_not_made_one_of_nothing():
    source = "def f():\n    return None\n"
    assert [m.after for m in mutants_of("a.py", source)] == ["pass"]


def test_the_body_of_what_is_only_declared_is_left_alone():
    source = 'class A:\n    def f(self):\n        """Says."""\n\n    def g(self): ...\n'
    assert mutants_of("a.py", source) == []


def test_a_scope_leaves_out_what_is_not_named():
    assert {m.where for m in mutants_of("a.py", SOURCE)} == {"", "over"}
    assert {m.where for m in mutants_of("a.py", SOURCE, ("over",))} == {"over"}
    with pytest.raises(ValueError, match="no mutant 999"):
        mutated(SOURCE, 999)


def test_a_scope_of_the_safety_core_names_what_there_is():
    for part in PARTS:
        source = trials.source_of(ROOT, part.file)
        assert set(part.scope) <= {m.where for m in mutants_of(part.file, source, part.scope)}
        for tier in tiers(part):
            assert every((ROOT / test).exists() for test in tier.tests)


def test_what_is_asynchronous_is_named_as_well():
    source = "class A:\n    async def go(self):\n        return 1\n"
    assert {m.where for m in mutants_of("a.py", source)} == {"A.go"}


def test_each_file_of_the_places_that_count_has_a_row_or_a_reason_why_not():
    """A new one is held to its tests as well, or says why not."""
    files = {
        str(path.relative_to(ROOT))
        for place in PLACES
        for path in (sorted((ROOT / place).rglob("*.py")) or [ROOT / place])
        if path.name != "__init__.py"
    }
    rows = {part.file for part in PARTS}
    assert every((ROOT / file).exists() for file in rows)
    assert files - rows == set(NOT_YET) & files == set(NOT_YET)
    assert every(NOT_YET.values())


@pytest.mark.parametrize("part", INTERFACES, ids=lambda part: part.file)
def test_an_interface_is_asked_of_tests_that_start_no_program(part):
    """They are in ``make quick``, too: a file of another kind says so at its head."""
    kinds = re.compile(rf"^pytestmark = .*?mark\.({'|'.join(STARTERS)})", re.MULTILINE)
    texts = [(ROOT / test).read_text() for test in own_tests(part)]
    assert not any(kinds.search(text) for text in some(texts))


def test_each_group_is_counted_apart():
    assert sorted(part for parts in GROUPS.values() for part in parts) == sorted(PARTS)
    of_core, of_pads = (
        Mutant(parts[0].file, 0, 1, "", "constant", "1", "2", 1) for parts in (CORE, GROUPS["pads"])
    )
    rows = command.tables([(of_core, "killed", False), (of_core, "survived", True),
                           (of_pads, "survived", False)]).split("\n")  # fmt: skip
    assert [row.split() for row in rows[-2:]] == [
        ["all", "of", "the", "safety", "core", "2", "1", "0", "1", "0"],
        ["all", "of", "pads", "1", "0", "0", "0", "1"],
    ]


TRY = """
import ast, os, sys
from tests.mutants.trial import trials
test, sources = sys.argv[1], sys.argv[2:]
tiers = (trials.Tier((test,), 1),)
jobs = [lambda s=s: trials.start("firmware.core.stops.latch", ast.parse(s), tiers) for s in sources]
print(dict(trials.trials(jobs, 2)))
"""


@pytest.mark.process
def test_mutants_are_killed_by_a_test_that_fails_or_an_import_and_time_out_in_an_endless_loop(
    tmp_path,
):
    test = tmp_path / "test_it.py"
    test.write_text(
        "from firmware.core.stops.latch import one\n\n\ndef test_one():\n    assert one() == 1\n"
    )
    bodies = ["return 1", "return 2", "while True: pass"]
    sources = [f"def one():\n    {body}\n" for body in bodies] + ["def other(): pass"]
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(test), *sources],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    verdicts = ast.literal_eval(done.stdout)
    assert [verdicts[i] for i in range(4)] == ["survived", "killed", "timed out", "killed"]


WARM = """
import ast, sys
from tests.mutants.trial import trials, warm
test, file, *sources = sys.argv[1:]
before = trials.source_of(trials.Path.cwd(), file)
changes = [warm.Change(i, file, before, lambda s=s: ast.parse(s)) for i, s in enumerate(sources)]
print(dict(warm.noticed(changes, trials.Tier((test,), 2), 2)))
"""
TOGETHER = """
import pytest
from firmware.core.stops import latch

MADE = latch.Latch()
MADE.hold(2, 2)
SEEN = []


@pytest.fixture(scope="module")
def shared():
    it = latch.Latch()
    it.latch(3)
    return it


def test_first():
    SEEN.append(1)


def test_not_alone():
    assert SEEN
    latch.Latch().clear()


def test_set():
    MADE.set(5, True)
    assert MADE.present == 2 | 1 << 5


def test_step():
    latch.Latch().step(5)


def test_shared(shared):
    assert shared.first == 3
"""


def warm_verdicts(tmp_path, test: str, file: str, changes: list[tuple[str, str]]) -> dict:
    path = tmp_path / "test_it.py"
    path.write_text(test)
    return verdicts_of(path, file, changes)


def verdicts_of(path, file: str, changes: list[tuple[str, str]]) -> dict:
    source = (ROOT / file).read_text()
    assert every(before in source for before, _ in changes)
    sources = [source.replace(before, after, 1) for before, after in changes]
    done = subprocess.run(
        [sys.executable, "-c", WARM, str(path), file, *sources],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ast.literal_eval(done.stdout)


@pytest.mark.process
def test_the_quick_way_notices_what_the_tests_of_a_function_notice_and_claims_no_more(tmp_path):
    verdicts = warm_verdicts(
        tmp_path, TOGETHER, "firmware/core/stops/latch.py",
        [
            ("self.present |= 1 << bit", "pass"),  # noticed, and nothing else than test_set is run
            ("self.first = bit", "pass"),  # noticed: a fixture of the module runs it
            ("self._counted_us = now_us", "pass"),  # run, and not noticed
            ("self._counted_us = now_us", "while True: pass"),
            ("self.bits = self.age_ms = 0", "pass"),  # its test fails without another one
            ("self.present = self.present & ~among | bits", "pass"),  # run by the import alone
            ("def set(self, bit: int, holds: bool)", "def set(self, bit: int, holds: bool = 1)"),
            ("class Latch:\n", "class Latch:\n    news = 5\n"),
        ],
    )  # fmt: skip
    assert verdicts == {0: "killed", 1: "killed", 2: "survived", 3: "timed out"}


@pytest.mark.process
def test_the_quick_way_finds_the_functions_under_the_conftest_of_all_tests():
    """There the collector of garbage is told to look at no function that is there by then."""
    before, after = "self.present |= 1 << bit", "pass"
    verdicts = verdicts_of(
        "tests/firmware/core/stops/test_latch.py", "firmware/core/stops/latch.py", [(before, after)]
    )
    assert verdicts == {0: "killed"}


@pytest.mark.process
def test_the_quick_way_says_that_its_tests_fail_without_any_mutant(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as why:
        warm_verdicts(
            tmp_path, "def test_it(): assert 0\n", "firmware/core/stops/latch.py", [("=", "=")]
        )
    assert "pytest ended with 3, expected 0" in why.value.stderr


def entry(mutant) -> equivalents.Equivalent:
    return equivalents.Equivalent(mutant.key, "because")


def test_the_list_of_equivalents_has_to_be_true():
    first, second = mutants_of("a.py", SOURCE)[:2]
    gone = first._replace(before="x = 1")
    known = [first, second]
    survived, killed = {first.key: "survived"}, {first.key: "killed"}
    assert equivalents.errors([entry(first)], known, survived) == []
    assert equivalents.errors([entry(second)], known, survived) == []  # not tried this time
    assert "but killed" in equivalents.errors([entry(first)], known, killed)[0]
    assert "no such mutant" in equivalents.errors([entry(gone)], known, survived)[0]
    assert "listed twice" in equivalents.errors([entry(first)] * 2, known, survived)[0]


def test_an_entry_reads_back_and_one_without_a_reason_is_refused(tmp_path):
    path = tmp_path / "list.toml"
    mutant = mutants_of("a.py", SOURCE)[0]._replace(nth=2, before="""a["b"] = 'c'""")
    path.write_text(equivalents.written(mutant))
    with pytest.raises(ValueError, match="entry 1"):
        equivalents.read(path)
    path.write_text(equivalents.written(mutant).replace("reason = ''", "reason = 'why'"))
    assert equivalents.read(path) == [equivalents.Equivalent(mutant.key, "why")]


@pytest.mark.process
def test_the_command_gives_its_result_as_json_and_its_exit_code():
    """One function, so that it takes a moment: each of its mutants is killed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--json", "--fast", "--only", "core/stops/latch.py",
         "--where", "Latch.set", "--kept", os.devnull],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["survivors"] == []
    assert result["counts"]["killed"] >= 10
    assert done.returncode == (1 if result["wrong"] else 0)


@pytest.mark.process
def test_a_run_that_is_over_says_how_many_it_left_and_the_next_one_goes_on_from_there(tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tests.mutants", "--own", "--only", "core/stops/latch.py",
             "--kept", str(tmp_path / "kept"), *words],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip

    none = run("--minutes", "0")
    assert none.returncode == 1
    assert "before one mutant was tried" in none.stdout
    for minutes in ("0.02", "0.1", "0.5"):  # a busy machine tries none in a second
        some_of = run("--minutes", minutes)
        if (tmp_path / "kept").exists():
            break
    assert "the time was over; what was not tried is not shown" in some_of.stdout
    tried = len((tmp_path / "kept").read_text().splitlines())
    assert f"\n{tried} mutants" in some_of.stdout
    again = run("--minutes", "0")
    assert f"\n{tried} mutants" in again.stdout
    assert f", {tried} of them known from earlier runs" in again.stdout


def kept_in(root, source=SOURCE, test="def test_it(): pass\n") -> kept.Kept:
    (root / "a.py").write_text(source)
    (root / "tests").mkdir(exist_ok=True)
    (root / "tests/test_a.py").write_text(f"from tests import peers\n{test}")
    if not (root / "tests/peers.py").exists():
        (root / "tests/peers.py").write_text("")
    kept._tests.cache_clear()
    trials.source_of.cache_clear()
    return kept.Kept(root, root / "kept")


TIER = trials.Tier(("tests/test_a.py",), 1)


def test_what_became_of_a_mutant_is_known_as_long_as_all_it_came_of_is_the_same(tmp_path):
    first, second = mutants_of("a.py", SOURCE)[:2]
    known = kept_in(tmp_path)
    assert known.get(first, TIER) is None
    known.put(first, TIER, trials.KILLED)
    assert known.get(first, TIER) == trials.KILLED
    assert kept_in(tmp_path).get(first, TIER) == trials.KILLED
    assert kept_in(tmp_path).get(second, TIER) is None
    assert kept_in(tmp_path).get(first, trials.Tier(("tests",), 1)) is None
    assert kept_in(tmp_path, f"# a remark\n{SOURCE}").get(first, TIER) == trials.KILLED
    assert kept_in(tmp_path, SOURCE.replace("5", "6")).get(first, TIER) is None
    assert kept_in(tmp_path, test="def test_it(): assert 1\n").get(first, TIER) is None
    (tmp_path / "tests/peers.py").write_text("ANOTHER = 1\n")
    assert kept_in(tmp_path).get(first, TIER) is None


def test_a_line_that_was_cut_off_is_forgotten_and_of_two_the_later_one_counts(tmp_path):
    first, second = mutants_of("a.py", SOURCE)[:2]
    known = kept_in(tmp_path)
    for mutant, verdict in ((first, trials.SURVIVED), (first, trials.KILLED),
                            (second, trials.TIMED_OUT)):  # fmt: skip
        known.put(mutant, TIER, verdict)
    path = tmp_path / "kept"
    path.write_text(path.read_text()[:-4])
    assert kept_in(tmp_path).get(first, TIER) == trials.KILLED
    assert kept_in(tmp_path).get(second, TIER) is None


@pytest.mark.process
def test_of_tests_of_which_one_noticed_none_are_left_to_ask(tmp_path):
    mutant, explained = mutants_of("a.py", SOURCE)[:2]
    tiers = (TIER, trials.Tier(("tests",), 1))
    known = kept_in(tmp_path)
    tried = [Trial(it, lambda: ast.parse(SOURCE), tiers) for it in (mutant, explained)]
    trying = Trying(tried, {explained.key}, known)
    assert trying.left() == list(tiers)
    known.put(explained, TIER, trials.SURVIVED)  # of what is explained no more is asked
    known.put(mutant, tiers[1], trials.KILLED)
    assert trying.left() == []
    trying.run(1)
    assert trying.verdicts == [trials.KILLED, trials.SURVIVED]
    assert trying.known == 2
    assert trying.survivors() == []


def rule(**changes) -> equivalents.Rule:
    known = {"file": "a.py", "patterns": (".*", "constant", ".*LIMIT.*", ".*"), "count": 2}
    return equivalents.Rule(**{**known, "reason": "because", **changes})


def test_a_rule_covers_what_looks_as_it_says_and_no_more_than_it_says():
    mutants = mutants_of("a.py", SOURCE)
    covered = [m for m in mutants if m.operator == "constant" and "LIMIT" in m.before]
    entries = equivalents.by_rule([rule()], mutants)
    assert [entry.key for entry in entries] == [m.key for m in covered]
    assert {entry.reason for entry in entries} == {"because"}
    assert equivalents.rule_errors([rule()], mutants) == []
    assert (
        "covers 2 mutants of a.py, expected 1"
        in (equivalents.rule_errors([rule(count=1)], mutants)[0])
    )
    assert equivalents.rule_errors([rule(count=0, file="b.py")], mutants)  # of nothing
    part = rule(patterns=(".*", "constant", "LIMIT", ".*"))  # the whole text, not a piece of it
    assert equivalents.by_rule([part], mutants) == []


def test_the_list_of_what_changes_nothing_is_true_of_the_sources():
    """A run that tries a few says so too late: for whoever changed something else."""
    present = [
        mutant
        for part in PARTS
        for mutant in tried(part.file, trials.source_of(ROOT, part.file), part.scope)
    ]
    rules, listed = equivalents.read_all(command.LISTS, present)
    assert equivalents.rule_errors(rules, present) == []
    assert equivalents.errors(listed, present, {}) == []


MOST_ENTRIES = 260  # of what was held to mutants before the interfaces were; fewer is better


def test_each_list_is_of_its_own_files_and_no_longer_than_it_may_be():
    old, new = (
        [it.file for it in equivalents.read_rules(path)]
        + [it.key[0] for it in equivalents.read(path)]
        for path in command.LISTS
    )
    files = {part.file for part in INTERFACES}
    assert files.isdisjoint(old)
    assert files.issuperset(new)
    assert 0 < len(old) <= MOST_ENTRIES


def test_a_rule_without_a_reason_or_a_count_is_refused(tmp_path):
    path = tmp_path / "list.toml"
    whole = "[[rule]]\nfile = 'a.py'\ncount = 1\nreason = 'why'\n"
    path.write_text(whole)
    assert equivalents.read_rules(path)[0].patterns == (".*",) * 4
    for left_out in ("count = 1", "'why'", "file = 'a.py'"):
        path.write_text(whole.replace(left_out, "''" if "why" in left_out else ""))
        with pytest.raises(ValueError, match="rule 1"):
            equivalents.read_rules(path)


HAND = """
[[mistake]]
what = "it is content with less"
file = "a.py"
before = "value > LIMIT"
after = "value"
tests = ["tests/test_a.py"]
"""


def test_a_mistake_made_by_hand_is_made_once_and_has_to_fit_its_file(tmp_path):
    path, file = tmp_path / "list.toml", tmp_path / "a.py"
    path.write_text(HAND)
    file.write_text(SOURCE)
    (mistake,) = by_hand.read(path, tmp_path)
    assert "if value and (not is_on)" in ast.unparse(mistake.tree(SOURCE))
    assert mistake.mutant(SOURCE).line == 7
    for source in (SOURCE.replace("LIMIT", "MOST"), SOURCE * 2):
        file.write_text(source)
        with pytest.raises(ValueError, match="once in a"):
            by_hand.read(path, tmp_path)
    file.write_text(SOURCE)
    for before, after in (('after = "value"', ""), ("tests/test_a.py", "")):
        path.write_text(HAND.replace(before, after).replace('[""]', "[]"))
        with pytest.raises(ValueError, match="it is content with less"):
            by_hand.read(path, tmp_path)


def test_each_mistake_made_by_hand_fits_its_file_and_names_tests_that_are_there():
    mistakes = by_hand.read(by_hand.LIST, ROOT)  # raises for one that fits no more
    assert mistakes
    tests = {test.split("::")[0] for mistake in mistakes for test in mistake.tests}
    assert [test for test in sorted(tests) if not (ROOT / test).exists()] == []


@pytest.mark.process
@pytest.mark.parametrize(("withheld_s", "verdict"), [(0.0, "timed out"), (99.0, "survived")])
def test_a_busy_machine_notices_no_mutant(tmp_path, withheld_s, verdict):
    """What is withheld after the beginning is added to the time on the wall."""
    test = tmp_path / "test_it.py"
    test.write_text(
        "import time\nfrom firmware.core.stops.latch import one\n\n\ndef test_one():\n"
        "    time.sleep(one())\n"
    )
    busy = f"""
from tests.mutants.trial import trials
trials._WALL, begins = 1, [0.0]
trials._withheld_s = lambda: begins.pop() if begins else {withheld_s}
"""
    done = subprocess.run(
        [sys.executable, "-c", busy + TRY, str(test), "def one(): return 1.5\n"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ast.literal_eval(done.stdout) == {0: verdict}


def test_what_the_machine_withheld_grows_and_is_not_all_of_the_time():
    before_s = trials._withheld_s()
    assert 0.0 <= before_s <= trials._withheld_s()


@pytest.mark.process
def test_who_waits_for_ever_is_ended_by_the_clock_on_the_wall(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text(
        "import time\nfrom firmware.core.stops.latch import one\n\n\ndef test_one():\n"
        "    time.sleep(one())\n"
    )
    source = "def one(): return 1000\n"
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.mutants.trial import trials; trials._WALL = 1\n{TRY}",
         str(test), source],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ast.literal_eval(done.stdout) == {0: "timed out"}


# --- what a change touches


class Repository:
    """A copy of this one in which a change can be made; its first commit is what there is now."""

    def __init__(self, root) -> None:
        self.root = root
        listed = subprocess.run(
            ("git", "ls-files", "-co", "--exclude-standard", "tests", "firmware", "host_bridge"),
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        for name in listed.split("\n"):
            if name.endswith((".py", ".toml", ".md")) and (ROOT / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, root / name)
        self.git("init", "-q", "-b", "main")
        self.commit()
        self.first = self.git("rev-parse", "HEAD")

    def git(self, *words) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ("git", *who, *words), cwd=self.root, capture_output=True, text=True, check=True
        ).stdout.strip()

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "a change")

    def change(self, name, before="", after="# a change\n") -> None:
        path = self.root / name
        text = path.read_text() if path.exists() else ""
        assert before in text
        path.write_text(text.replace(before, after, 1) if before else text + after)

    def touched(self, since="") -> list[str]:
        commit = chosen.base(self.root, since or self.first)
        return [part.file for part in chosen.touched(self.root, commit)]

    def by_hand(self) -> list[str]:
        mistakes = by_hand.read(by_hand.LIST, ROOT)
        found = chosen.touched_by_hand(self.root, self.first, mistakes)
        return [mistake.what for mistake in found]


@pytest.fixture
def repository(tmp_path):
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("this is no working tree of git")
    return Repository(tmp_path)


CORE_FILES = [part.file for part in CORE]


@pytest.mark.process
def test_what_is_not_held_to_mutants_touches_nothing(repository):
    repository.change("tests/README.md")
    repository.change("host_bridge/cli/main.py")
    assert repository.touched() == []
    assert repository.by_hand() == []


@pytest.mark.process
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_file_that_is_changed_is_tried_committed_or_not(repository, is_committed):
    repository.change("firmware/core/stops/latch.py")
    repository.change("host_bridge/cli/commands/stop.py")
    if is_committed:
        repository.commit()
    assert repository.touched() == [
        "firmware/core/stops/latch.py",
        "host_bridge/cli/commands/stop.py",
    ]
    assert every("tandem stop" in what for what in repository.by_hand())


@pytest.mark.process
def test_so_is_one_whose_own_tests_changed_or_what_they_stand_on(repository):
    repository.change("tests/host_bridge/sharing/stop/test_stop_call.py")
    assert repository.touched() == [
        "host_bridge/cli/commands/stop.py",
        "host_bridge/sharing/stop/stop_request.py",
    ]
    assert len(repository.by_hand()) == 2
    repository.change("tests/host_bridge/drive/drives.py")
    assert {"host_bridge/drive/control_task.py", "host_bridge/sharing/owner/car_server.py"} < set(
        repository.touched()
    )


@pytest.mark.process
def test_whatever_the_core_is_held_against_touches_all_of_it(repository):
    for name in ("tests/firmware/core/test_new.py", "tests/mutants/trial/trials.py"):
        repository.git("checkout", "-q", ".")
        repository.change(name)
        assert repository.touched() == CORE_FILES
        if not repository.git("ls-files", name):
            (repository.root / name).unlink()


@pytest.mark.process
def test_a_new_row_and_an_entry_touch_their_files(repository):
    repository.change("tests/mutants/core.py", '("latch",)', '("latch", "stopping")')
    repository.change(
        "tests/mutants/equivalent/equivalent.toml", "file = 'firmware/core/clock.py'",
        "nth = 2\nfile = 'firmware/core/clock.py'",
    )  # fmt: skip
    assert repository.touched() == ["firmware/core/stops/latch.py", "firmware/core/clock.py"]


@pytest.mark.process
def test_it_is_compared_with_where_the_branch_began_and_on_the_main_one_with_the_last(repository):
    repository.change("firmware/core/stops/latch.py")
    repository.commit()
    second = repository.git("rev-parse", "HEAD")
    assert chosen.base(repository.root) == repository.first
    repository.git("checkout", "-qb", "topic")
    for _ in range(2):
        repository.change("firmware/core/clock.py")
        repository.commit()
    assert chosen.base(repository.root) == second
    assert repository.touched("main") == ["firmware/core/clock.py"]


@pytest.mark.process
def test_without_anything_to_compare_with_it_does_not_pass(repository, tmp_path, capsys):
    with pytest.raises(chosen.NothingToCompare, match="no commit nowhere"):
        chosen.base(repository.root, "nowhere")
    with pytest.raises(chosen.NothingToCompare):
        chosen.base(repository.root)  # its first commit
    assert command.main(["--since", "nowhere"]) == 1
    assert "--all" in capsys.readouterr().err


@pytest.mark.process
def test_nothing_to_try_of_what_was_asked_for_is_a_failure(capsys):
    for words in (["--only", "nowhere.py"], ["--core", "--where", "nowhere"]):
        assert command.main(words) == 1
        assert "not one mutant" in capsys.readouterr().err
