"""What bots need besides their files: asked for in plain lines, made once, whole or not at all.

Packages are wheels that these tests write themselves, and pip takes them from a folder.
"""

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import hokm
from arena.ladder.bots import environments
from arena.ladder.bots.bundle import BotError, bundle_digest
from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.bots.environments import (
    Environments,
    NotPreparedError,
    read_requirements,
    without_credentials,
)

MANIFEST = """\
schema = 1
name = "{name}"
owner = "maryam"
version = "1.0"
command = {command}
protocol = 1
variants = [4]
"""


def bot(
    folder: Path,
    files: dict[str, str] | None = None,
    *,
    command: str = '["python", "bot.py"]',
    build: str = "",
) -> Entrant:
    folder.mkdir(parents=True, exist_ok=True)
    manifest = MANIFEST.format(name=folder.name, command=command)
    manifest += f"[build]\ncommand = {build}\n" if build else ""
    for path, text in {"bot.toml": manifest, "bot.py": "print('hi')\n", **(files or {})}.items():
        (folder / path).write_text(text, encoding="utf-8")
    return load_bot(folder)


def wheel(folder: Path, name: str, code: str, *, version: str = "1.0", needs: str = "") -> Path:
    """A wheel of one module, as a packager would make it."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {needs}\n" if needs else ""
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as packed:
        for path, text in files.items():
            packed.writestr(path, text)
    return file


def says(entrant: Entrant) -> str:
    """What a bot prints, run as the arena runs it."""
    argv = entrant.argv(sys.executable)
    ran = subprocess.run(
        argv, cwd=entrant.home, capture_output=True, text=True, check=False, env={"PATH": "/bin"}
    )
    return ran.stdout + ran.stderr


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environments:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of commands that a test kills
    wheel(tmp_path / "wheels", "tiny_luck", "NUMBER = 7\n")
    return Environments(cache=tmp_path / "cache", wheels=tmp_path / "wheels")


IMPORTS = {
    "bot.py": "import tiny_luck; print(tiny_luck.NUMBER)\n",
    "requirements.txt": "tiny-luck\n",
}


# -- what is asked for


def test_a_bot_that_asks_for_nothing_is_run_as_it_is(tmp_path: Path) -> None:
    entrant = bot(tmp_path / "bot")
    assert Environments(cache=tmp_path / "cache").prepared(entrant) == entrant
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ()),
        ("# nothing\n\n", ()),
        ("hokm-sdk\n", ()),
        (f"Hokm_SDK=={hokm.__version__}  # ours\n", ()),
        ("numpy==2.3.5\n", ("numpy==2.3.5",)),
        ("b>=1,<2 # why\na[x]\nb>=1,<2", ("a[x]", "b<2,>=1")),
        ('old; python_version < "3"\n', ()),
        (
            "a==1 \\\n  --hash=sha256:22 \\\n --hash=sha256:11\n",
            ("a==1 --hash=sha256:11 --hash=sha256:22",),
        ),
    ],
)
def test_requirements_are_plain_lines(tmp_path: Path, text: str, wanted: tuple[str, ...]) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    assert read_requirements(tmp_path) == wanted


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("-r more.txt", "'-r more.txt' is an option, or a file; write a package with its version"),
        ("--index-url https://example.org/simple", "is an option, or a file"),
        ("--no-binary :all:", "is an option, or a file"),
        ("-e .", "is an option, or a file"),
        ("numpy===${PGPASSWORD}", "'numpy===${PGPASSWORD}' names a variable; write a package"),
        ('numpy; extra != "${PGPASSWORD}"', "names a variable"),
        ("numpy --no-binary numpy", "is an option, or a file"),
        ("./wheels/a-1.0-py3-none-any.whl", "names no package"),
        ("a-1.0-py3-none-any.whl ./x", "names no package"),
        ("git+https://example.org/a.git", "names no package"),
        ("a @ file:///tmp/a.whl", "is an address"),
        ("a @ https://example.org/a.whl", "is an address"),
        ("hokm-sdk==9.9", f"asks for hokm-sdk==9.9, and this arena speaks {hokm.__version__}"),
    ],
)
def test_whatever_else_pip_would_take_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"numpy\n{line}\n")
    with pytest.raises(BotError) as caught:
        read_requirements(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/requirements.txt: ")
    assert problem in str(caught.value)


def test_requirements_of_a_bot_of_another_language_are_a_file_like_any(tmp_path: Path) -> None:
    entrant = bot(tmp_path / "bot", {"requirements.txt": "-r no.txt"}, command='["node", "bot.js"]')
    assert Environments(cache=tmp_path / "cache").prepared(entrant) == entrant


# -- what is installed


def test_a_bot_imports_what_it_requires_and_the_arenas_own_sdk(
    tmp_path: Path, made: Environments
) -> None:
    code = """
        import importlib.metadata, sys
        import tiny_luck, hokm, hokm.client, google.protobuf
        print(tiny_luck.NUMBER, hokm.__version__, importlib.metadata.version("hokm-sdk"))
        try:
            import trio
        except ImportError:
            print("nothing else of the arena's")
    """
    files = {"bot.py": dedent(code), "requirements.txt": "tiny-luck==1.0\nhokm-sdk\n"}
    entrant = bot(tmp_path / "bot", files)
    prepared = made.prepared(entrant)
    assert (
        says(prepared) == f"7 {hokm.__version__} {hokm.__version__}\nnothing else of the arena's\n"
    )
    assert prepared.digest == entrant.digest == bundle_digest(entrant.folder)
    assert prepared.home == entrant.folder


def test_it_is_installed_once_for_all_that_ask_for_the_same(
    tmp_path: Path, made: Environments
) -> None:
    told: list[str] = []
    made = Environments(cache=made.cache, wheels=made.wheels, tell=told.append)
    first = made.prepared(bot(tmp_path / "a", IMPORTS))
    again = Environments(cache=made.cache).prepared(bot(tmp_path / "a", IMPORTS))
    other = made.prepared(
        bot(tmp_path / "b", IMPORTS | {"requirements.txt": "# the same\ntiny-luck"})
    )
    assert first.environment == again.environment == other.environment
    assert told == ["a: installing tiny-luck"]
    more = made.prepared(bot(tmp_path / "b", IMPORTS | {"requirements.txt": "tiny-luck>=1"}))
    assert more.environment != first.environment


def test_what_cannot_be_installed_is_named_with_the_end_of_what_was_said(
    tmp_path: Path, made: Environments
) -> None:
    entrant = bot(tmp_path / "bot", {"requirements.txt": "tiny-luck==1.0\nnowhere-to-be==2\n"})
    with pytest.raises(NotPreparedError) as caught:
        made.prepared(entrant)
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}/bot/requirements.txt: nowhere-to-be==2 cannot be installed")
    assert text.endswith(
        f"put a wheel of it for this Python into {made.wheels}, with what it needs"
    )
    assert "nowhere-to-be==2" in caught.value.output
    assert not list((tmp_path / "cache" / "python").glob("*/whole"))
    assert not [one for one in (tmp_path / "cache" / "python").glob("*/*") if one.is_dir()]


def test_what_a_package_needs_and_is_not_there_is_named(tmp_path: Path, made: Environments) -> None:
    assert made.wheels is not None
    wheel(made.wheels, "needy", "", needs="nowhere-to-be>2")
    with pytest.raises(NotPreparedError) as caught:
        made.prepared(bot(tmp_path / "bot", {"requirements.txt": "needy\ntiny-luck"}))
    assert "nowhere-to-be" in str(caught.value) + caught.value.output
    assert "tiny-luck" not in str(caught.value)


def test_without_a_network_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "UV_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_NO_INDEX": "false",
    }.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(NotPreparedError) as caught:
        Environments(cache=tmp_path / "cache").prepared(
            bot(tmp_path / "bot", {"requirements.txt": "nowhere-to-be"})
        )
    assert caught.value.is_ours
    assert "requirements.txt: nowhere-to-be cannot be installed" in str(caught.value)
    assert "there is no network: put its wheels into a folder and name that with --wheels" in (
        str(caught.value)
    )


def test_a_package_that_would_have_to_be_built_is_not(tmp_path: Path, made: Environments) -> None:
    """To build is to run `setup.py`, which here would leave a mark."""
    import tarfile

    assert made.wheels is not None
    mark = tmp_path / "built"
    source = tmp_path / "evil-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    with tarfile.open(made.wheels / "evil-1.0.tar.gz", "w:gz") as packed:
        packed.add(source, arcname="evil-1.0")
    with pytest.raises(NotPreparedError, match="evil cannot be installed"):
        made.prepared(bot(tmp_path / "bot", {"requirements.txt": "evil"}))
    assert not mark.exists()


def test_nothing_that_is_installed_is_run_by_installing_it(
    tmp_path: Path, made: Environments
) -> None:
    assert made.wheels is not None
    mark = tmp_path / "run"
    file = wheel(made.wheels, "evil", "")
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("evil.pth", f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n")
    prepared = made.prepared(
        bot(tmp_path / "bot", {"requirements.txt": "evil\ntiny-luck", "bot.py": ""})
    )
    assert not mark.exists()
    assert says(prepared) == ""
    assert mark.exists()  # as a bot runs, it does


def test_a_version_that_the_sdk_cannot_live_with_is_refused(
    tmp_path: Path, made: Environments
) -> None:
    assert made.wheels is not None
    wheel(made.wheels, "protobuf", "", version="3.0")
    with pytest.raises(NotPreparedError) as caught:
        made.prepared(bot(tmp_path / "bot", {"requirements.txt": "protobuf==3.0"}))
    assert "requirements.txt: protobuf==3.0 cannot be installed" in str(caught.value)
    assert ">=6.31.1" in caught.value.output


def test_two_at_once_wait_for_each_other_and_have_the_same(
    tmp_path: Path, made: Environments
) -> None:
    entrant = bot(tmp_path / "bot", IMPORTS)
    code = dedent(f"""
        from pathlib import Path
        from arena.ladder.bots.entrants import load_bot
        from arena.ladder.bots.environments import Environments
        made = Environments(cache=Path({str(made.cache)!r}), wheels=Path({str(made.wheels)!r}),
                            tell=lambda line: print(line, flush=True))
        print(made.prepared(load_bot(Path({str(entrant.folder)!r}))).environment.python)
    """)
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=100)[0].splitlines() for process in both]
    assert said[0].pop() == said[1].pop()
    first, second = sorted(said)
    assert first == ["bot: installing tiny-luck"]  # one of them
    assert second in (["waiting for another arena, which makes the same"], [])  # or came late


def when(is_so: Callable[[], object], *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_kill_leaves_nothing_that_is_taken_for_whole(tmp_path: Path, made: Environments) -> None:
    """It is killed while a build is under way, whose files are half there."""
    go = tmp_path / "go"
    script = f"echo half > bot; while [ ! -e {go} ]; do sleep 0.05; done; echo whole > bot\n"
    entrant = bot(
        tmp_path / "bot", {"make.sh": script}, command='["cat", "bot"]', build='["sh", "make.sh"]'
    )
    code = dedent(f"""
        from pathlib import Path
        from arena.ladder.bots.entrants import load_bot
        from arena.ladder.bots.environments import Environments
        Environments(cache=Path({str(made.cache)!r})).prepared(load_bot(Path({str(entrant.folder)!r})))
    """)
    first = subprocess.Popen([sys.executable, "-c", code])
    place = tmp_path / "cache" / "built"
    when(lambda: list(place.glob("*/*/bot")))
    (left,) = place.glob("*/*/bot")
    first.send_signal(signal.SIGKILL)
    first.wait()
    go.touch()
    prepared = made.prepared(entrant)
    assert says(prepared) == "whole\n"
    assert prepared.home != left.parent
    assert not left.exists()


def test_a_kill_while_packages_are_installed_is_no_matter(
    tmp_path: Path, made: Environments
) -> None:
    entrant = bot(tmp_path / "bot", IMPORTS)
    code = dedent(f"""
        from pathlib import Path
        from arena.ladder.bots.entrants import load_bot
        from arena.ladder.bots.environments import Environments
        made = Environments(cache=Path({str(made.cache)!r}), wheels=Path({str(made.wheels)!r}))
        made.prepared(load_bot(Path({str(entrant.folder)!r})))
    """)
    first = subprocess.Popen([sys.executable, "-c", code])
    place = tmp_path / "cache" / "python"
    when(lambda: list(place.glob("*/*/requirements.txt")))
    (left,) = place.glob("*/*/requirements.txt")
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not list(place.glob("*/whole"))
    prepared = made.prepared(entrant)
    assert says(prepared) == "7\n"
    assert not left.exists()
    assert len([one for one in place.glob("*/*") if one.is_dir()]) == 1


def test_an_environment_whose_interpreter_is_gone_is_made_anew(
    tmp_path: Path, made: Environments
) -> None:
    entrant = bot(tmp_path / "bot", IMPORTS)
    python = made.prepared(entrant).environment.python
    assert python is not None
    python.unlink()
    again = made.prepared(entrant)
    assert again.environment.python != python
    assert says(again) == "7\n"


# -- what is built


BUILDS = {"make.sh": "printf '#!/bin/sh\\necho built\\n' > run; chmod +x run; echo made of $0\n"}


def test_what_a_build_makes_is_what_runs_and_no_part_of_the_identity(tmp_path: Path) -> None:
    entrant = bot(tmp_path / "bot", BUILDS, command='["./run"]', build='["sh", "make.sh"]')
    prepared = Environments(cache=tmp_path / "cache").prepared(entrant)
    assert says(prepared) == "built\n"
    assert prepared.digest == entrant.digest
    assert not (entrant.folder / "run").exists()
    assert (prepared.home / "bot.py").read_text() == "print('hi')\n"


def test_a_bot_is_built_once_and_a_changed_one_again(tmp_path: Path) -> None:
    told: list[str] = []
    made = Environments(cache=tmp_path / "cache", tell=told.append)
    for more in ({}, {}, {"more": "x"}):
        made.prepared(
            bot(tmp_path / "bot", BUILDS | more, command='["./run"]', build='["sh", "make.sh"]')
        )
    assert told == ["bot: building, sh make.sh"] * 2


def test_a_build_that_fails_is_shown(tmp_path: Path) -> None:
    script = "for i in 1 2 3; do echo line $i; done; echo oh no >&2; exit 3\n"
    entrant = bot(
        tmp_path / "bot", {"make.sh": script}, command='["./run"]', build='["sh", "make.sh"]'
    )
    with pytest.raises(NotPreparedError) as caught:
        Environments(cache=tmp_path / "cache").prepared(entrant)
    assert f"{tmp_path}/bot: cannot be built: 'sh make.sh' ended with status 3" in str(caught.value)
    assert caught.value.output == "line 1\nline 2\nline 3\noh no\n"


def test_a_build_that_makes_nothing_of_it_is_refused(tmp_path: Path) -> None:
    entrant = bot(tmp_path / "bot", command='["./run"]', build='["true"]')
    with pytest.raises(
        NotPreparedError, match=r"is built, but .*there is no file ./run in the bot"
    ):
        Environments(cache=tmp_path / "cache").prepared(entrant)


def test_a_build_cannot_have_another_file_read_as_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text('command = ["./not-yours"]\n')
    script = f"touch run; chmod +x run; ln -sf {tmp_path}/theirs bot.toml\n"
    entrant = bot(
        tmp_path / "bot", {"make.sh": script}, command='["./run"]', build='["sh", "make.sh"]'
    )
    with pytest.raises(NotPreparedError, match=r"is built, but .*toml: is a symbolic link"):
        Environments(cache=tmp_path / "cache").prepared(entrant)


def test_a_build_without_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "BUILD_SECONDS", 1.0)
    script = f"sleep 1000 & echo $! > {tmp_path}/pid; wait\n"
    entrant = bot(tmp_path / "bot", {"make.sh": script}, build='["sh", "make.sh"]')
    with pytest.raises(NotPreparedError, match="was ended after 1 s"):
        Environments(cache=tmp_path / "cache").prepared(entrant)
    pid = (tmp_path / "pid").read_text().strip()
    when(lambda: not Path(f"/proc/{pid}").exists())


def test_a_build_that_prints_without_end_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "BUILD_SECONDS", 1.0)
    entrant = bot(tmp_path / "bot", build='["yes", "more"]')
    with pytest.raises(NotPreparedError) as caught:
        Environments(cache=tmp_path / "cache").prepared(entrant)
    assert caught.value.output == "more\n" * 12


def test_a_build_sees_nothing_of_the_arenas_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    entrant = bot(tmp_path / "bot", command='["cat", "seen"]', build='["sh", "-c", "env > seen"]')
    prepared = Environments(cache=tmp_path / "cache").prepared(entrant)
    assert "SECRET_TOKEN" not in says(prepared)
    assert f"HOME={prepared.home}" in says(prepared)


def test_a_build_of_python_has_what_it_requires(tmp_path: Path, made: Environments) -> None:
    files = IMPORTS | {
        "make.py": "import tiny_luck; open('made', 'w').write(str(tiny_luck.NUMBER))"
    }
    entrant = bot(tmp_path / "bot", files, command='["cat", "made"]', build='["python", "make.py"]')
    assert says(made.prepared(entrant)) == "7"


@pytest.mark.parametrize("has_setpriv", [True, False])
def test_a_build_program_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_setpriv: bool
) -> None:
    if not has_setpriv:
        monkeypatch.setattr("arena.ladder.processes.launcher.death_signal_prefix", lambda: ())
    entrant = bot(tmp_path / "bot", build='["no-such-compiler"]')
    with pytest.raises(NotPreparedError) as caught:
        Environments(cache=tmp_path / "cache").prepared(entrant)
    assert "no-such-compiler" in caught.value.output


@pytest.mark.parametrize(
    "said",
    [
        "looking in https://maryam:s3cret%21@index.example/simple",
        "https://maryam:s3cret%21@index.example/simple refused user maryam:s3cret!",
        "HTTPSConnectionPool: 407 for s3cret%21",
        "https://onlyatoken@other.example/ says onlyatoken is over",
        "the password word-of-uv is wrong",
        "https://not:inours@elsewhere.example/",
    ],
)
def test_what_an_installer_says_opens_no_index(said: str) -> None:
    ours = {
        "PIP_INDEX_URL": "https://maryam:s3cret%21@index.example/simple",
        "https_proxy": "http://onlyatoken@other.example:8080",
        "UV_INDEX_PRIVATE_PASSWORD": "word-of-uv",
    }
    shown = without_credentials(said, environment=ours)
    for secret in ("s3cret", "onlyatoken", "word-of-uv", "inours"):
        assert secret not in shown
