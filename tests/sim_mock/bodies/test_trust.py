"""A model file imports nothing that nobody trusted by name."""

import subprocess
import sys

import pytest

from sim_mock.bodies import trust
from sim_mock.bodies.table import parse_model
from tests.host_bridge.cli.programs import tandem
from tests.sim_mock.bodies.modelled_cars import FILE

CODE = "model_module_paths: [{module}]\n    model_param_paths: ['']\n    model_class_names: [abort]"


def file_naming(folder, module):
    path = folder / "learned.yaml"
    path.write_text(FILE.format(name="LEARNED_STEER_VEL", key=CODE.format(module=module)))
    return path


def test_a_file_that_names_code_is_refused_until_a_person_trusts_it(tmp_path):
    path = file_naming(tmp_path, "os")
    with pytest.raises(ValueError, match=r"brings Python code of its own .*--trust-code"):
        parse_model(str(path))
    trust.trust(path)
    assert parse_model(str(path))[0] == "LEARNED_STEER_VEL"


@pytest.mark.process
def test_nothing_of_it_is_imported(tmp_path):
    """By its URI and by a vehicle file: the module would leave a file behind."""
    (tmp_path / "leaves_a_trace.py").write_text(f"open({str(tmp_path / 'trace')!r}, 'w')")
    path = file_naming(tmp_path, "leaves_a_trace")
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from host_bridge.cli.main import main; "
    )
    program = [sys.executable, "-c", code + "sys.exit(main())", str(tmp_path)]
    words = ["monitor", f"sim://nigel?model={path}", "--seconds", "1"]
    refused = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    assert refused.returncode == 2, refused.stderr
    assert "--trust-code" in refused.stderr
    assert not (tmp_path / "trace").exists()
    trusted = [*program, *words, "--trust-code", str(path)]
    told = subprocess.run(trusted, capture_output=True, text=True, check=False)
    assert "no class abort" in told.stderr
    assert (tmp_path / "trace").exists()


@pytest.mark.process
def test_the_option_needs_a_file():
    told = tandem("monitor", "--trust-code")
    assert told.returncode == 2
    assert "--trust-code needs a file" in told.stderr
