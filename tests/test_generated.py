"""The generated code runs on the oldest grpcio and protobuf that the SDK says it runs on.

Whether it is what proto/ gives is for `make wire`, which has the generator; this is what can be
told without one.
"""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SDK = ROOT / "sdk" / "python"
GENERATED = SDK / "src" / "hokm" / "v1"

Version = tuple[int, ...]


def version(text: str) -> Version:
    return tuple(int(part) for part in re.split(r"\D+", text.strip()))


def lower_bounds() -> dict[str, Version]:
    """The lowest version by name of each thing the SDK requires."""
    project = tomllib.loads((SDK / "pyproject.toml").read_text())["project"]
    pairs = [re.match(r"([a-z]+)>=([\d.]+)", text) for text in project["dependencies"]]
    return {pair[1]: version(pair[2]) for pair in pairs if pair}


def pins(path: Path) -> dict[str, Version]:
    """The versions by name of a requirements file of `name==version` lines."""
    found = re.findall(r"^([a-z-]+)==([\d.]+)", path.read_text(), flags=re.MULTILINE)
    return {name: version(text) for name, text in found}


def padded(bound: Version) -> Version:
    return (*bound, 0, 0)[:3]


@pytest.mark.parametrize(
    ("name", "files", "pattern"),
    [
        ("protobuf", "*_pb2.py", r"Protobuf Python Version: ([\d.]+)"),
        ("grpcio", "*_pb2_grpc.py", r"GRPC_GENERATED_VERSION = '([\d.]+)'"),
    ],
)
def test_generated_code_asks_for_no_more_than_the_sdk(name: str, files: str, pattern: str) -> None:
    paths = sorted(GENERATED.glob(files))
    assert paths, f"no {files} in {GENERATED}: run `make generate`"
    for path in paths:
        asked = re.search(pattern, path.read_text())
        assert asked, f"{path.name} does not say which {name} it needs"
        assert version(asked[1]) <= padded(lower_bounds()[name]), path.name


@pytest.mark.parametrize("name", ["grpcio", "protobuf"])
def test_the_lowest_pins_are_the_lower_bounds(name: str) -> None:
    assert pins(ROOT / "tools" / "lowest.txt")[name] == padded(lower_bounds()[name])


def test_every_proto_file_has_its_module() -> None:
    protos = {path.stem for path in (ROOT / "proto" / "hokm" / "v1").glob("*.proto")}
    assert protos, "there is no proto/hokm/v1"
    modules = {path.stem.removesuffix("_pb2") for path in GENERATED.glob("*_pb2.py")}
    assert modules == protos
