"""Makes the Python of the wire from proto/: messages, service stubs, and types for both.

Run by `make generate` and, with --check, by `make check`, in the environment of
tools/requirements.txt. It does not know what the messages mean; hokm.wire does.
"""

import argparse
import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SOURCE = ROOT / "sdk" / "python" / "src"
GENERATED = Path("hokm") / "v1"

PACKAGE = '''"""The messages and services of proto/hokm/v1, made by `make generate`: do not edit.

Only hokm.wire and arena.service.messages name what is in here.
"""
'''


def main() -> int:
    """Write the generated files, or compare them; 0 where all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check: bool = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        fresh = generate(Path(folder))
    if check:
        return compare(fresh, generated_files(SOURCE))
    write(fresh)
    return 0


def generate(folder: Path) -> dict[str, str]:
    """Text by file name of what the .proto files give, made in an empty folder."""
    protos = sorted(PROTO.rglob("*.proto"))
    if not protos:
        sys.exit(f"generate: no .proto file below {PROTO}")
    protoc(protos, [f"--python_out={folder}", f"--mypy_out=quiet:{folder}"])
    # A file without a service would give a module without content.
    services = [path for path in protos if "\nservice " in path.read_text(encoding="utf-8")]
    if services:
        protoc(services, [f"--grpc_python_out={folder}", f"--mypy_grpc_out=quiet:{folder}"])
    (folder / GENERATED / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    return generated_files(folder)


def protoc(protos: list[Path], outputs: list[str]) -> None:
    """Run the pinned compiler, with the plug-ins that stand beside this interpreter."""
    scripts = Path(sys.executable).parent
    plugins = [f"--plugin={scripts / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    names = [path.relative_to(PROTO).as_posix() for path in protos]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", "."]
    if subprocess.run([*command, *plugins, *outputs, *names], cwd=PROTO).returncode:
        sys.exit("generate: protoc refused the .proto files; what it said stands above")


def generated_files(source: Path) -> dict[str, str]:
    """Text by file name of the generated package below a source folder."""
    files = sorted((source / GENERATED).glob("*.py*"))
    return {path.name: path.read_text(encoding="utf-8") for path in files if path.is_file()}


def write(fresh: dict[str, str]) -> None:
    """Bring the source folder to the fresh files: those that have no .proto any more go."""
    folder = SOURCE / GENERATED
    folder.mkdir(exist_ok=True)
    for name in generated_files(SOURCE).keys() - fresh.keys():
        (folder / name).unlink()
    for name, text in fresh.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"generate: {len(fresh)} files in {folder.relative_to(ROOT)}")


def compare(fresh: dict[str, str], present: dict[str, str]) -> int:
    """Print how the files in the source folder differ from fresh ones; 1 where they do."""
    differing = sorted(
        name for name in fresh.keys() | present.keys() if fresh.get(name) != present.get(name)
    )
    for name in differing:
        lines = difflib.unified_diff(
            present.get(name, "").splitlines(),
            fresh.get(name, "").splitlines(),
            fromfile=f"{name} (checked in)",
            tofile=f"{name} (from proto/)",
            lineterm="",
        )
        print(*lines, sep="\n")
    if differing:
        print("generate: the generated code is not what proto/ gives; run `make generate`")
        return 1
    print(f"generate: {len(fresh)} files are as proto/ gives them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
