"""mypy and pyright find nothing in a right program, and every mistake of a wrong one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
pytest.importorskip("pyright")

TYPED = Path(__file__).parent / "typed"
RIGHT, WRONG = TYPED / "right.py", TYPED / "wrong.py"


def run(tmp_path, *arguments):
    return subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=600).stdout


def mypy(tmp_path, *files):
    printed = run(tmp_path, "mypy", "--strict", "--cache-dir", str(tmp_path), *map(str, files))
    return {(Path(file).name, int(line)) for file, line in re.findall(r"^(.+\.py):(\d+): error", printed, re.M)}


def pyright(tmp_path, *files):
    settings = {"include": ["."], "typeCheckingMode": "strict", "pythonVersion": "3.9"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    for file in files:
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    found = json.loads(run(tmp_path, "pyright", "--outputjson", "--pythonpath", sys.executable))["generalDiagnostics"]
    return {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found if one["severity"] == "error"}


@pytest.mark.parametrize("check", [mypy, pyright])
def test_finds_every_mistake_and_nothing_else(tmp_path, check):
    lines = WRONG.read_text("utf-8").splitlines()
    assert check(tmp_path, RIGHT, WRONG) == {("wrong.py", at) for at, line in enumerate(lines, 1) if line.endswith("# wrong")}


def test_the_samples_of_the_readme_are_right(tmp_path):
    sample = tmp_path / "samples" / "readme.py"
    sample.parent.mkdir()
    blocks = re.findall(r"^```python\n(.*?)^```", (Path(__file__).parents[1] / "README.md").read_text("utf-8"), re.M | re.S)
    sample.write_text("\n".join(blocks), "utf-8")
    assert (mypy(tmp_path, sample), pyright(tmp_path, sample)) == (set(), set())


def test_the_package_is_right(tmp_path):
    assert mypy(tmp_path, "-p", "clinic_developer") == set()
