"""What bots need besides their files, as the command line has it."""

import pytest


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def needy(make_bot):
    """A bot that requires what no folder of wheels here has."""
    folder = make_bot("needy")
    (folder / "requirements.txt").write_text("nowhere-to-be==1\n")
    return folder


def test_a_ladder_does_not_enter_a_bot_whose_environment_cannot_be_made(
    run, make_bot, needy, tmp_path
):
    (tmp_path / "wheels").mkdir()
    club = tmp_path / "club"
    run("ladder", "init", club)
    ran = run("ladder", "add", club, make_bot("sara"), needy, "--wheels", tmp_path / "wheels")
    assert (ran.status, ran.out) == (1, "sara 1.0 (sara): new\n")
    progress, error, *output = ran.err.splitlines()
    assert progress == "needy: installing nowhere-to-be==1"
    assert error.startswith(
        f"error: {needy}/requirements.txt: nowhere-to-be==1 cannot be installed: the installer "
    )
    assert output
    assert all(line.startswith("  | ") for line in output)
    assert "needy" not in run("ladder", "standings", club).out
    assert len(list((club / "bots").iterdir())) == 1


def test_a_match_is_not_begun_without_what_a_bot_requires(run, runner, make_bot, needy, tmp_path):
    (tmp_path / "wheels").mkdir()
    ran = run("match", needy, make_bot("sara"), "--boards", 1, "--wheels", tmp_path / "wheels")
    assert (ran.status, ran.out) == (1, "")
    assert not hasattr(runner, "settings")


@pytest.mark.parametrize("words", ["match {} {}", "duel {} {}", "sprt {} {}", "bot check {}"])
def test_a_folder_of_wheels_that_is_none_is_misuse(run, runner, needy, tmp_path, words):
    ran = run(*words.format(needy, needy).split(), "--wheels", tmp_path / "none")
    assert (ran.status, ran.out) == (2, "")
    assert f"--wheels {tmp_path}/none is no folder; name one that has wheels" in ran.err


def test_a_bundle_with_a_build_is_told_by_its_nearest_key(run, runner, make_bot):
    folder = make_bot("sara")
    manifest = folder / "bot.toml"
    manifest.write_text(f'{manifest.read_text()}[build]\ncomand = ["make"]\n')
    ran = run("match", folder, folder, "--boards", 1)
    assert (ran.status, ran.out) == (1, "")
    assert "bot.toml: build.comand: is not a known key; did you mean command?" in ran.err


def test_an_archive_is_built_as_its_folder_is(run, runner, make_bot, tmp_path):
    folder = make_bot("sara")
    manifest = folder / "bot.toml"
    text = manifest.read_text().replace('["python", "bot.py"]', '["./run"]')
    manifest.write_text(f'{text}[build]\ncommand = ["sh", "-c", "touch run; chmod +x run"]\n')
    assert run("bot", "pack", folder, "--out", tmp_path / "sara.zip").status == 0
    ran = run("match", tmp_path / "sara.zip", folder, "--boards", 1)
    assert ran.status == 0
    assert ran.err.count("sara: building, sh -c") == 1
