"""`arena verify`: what is true is ok, what is not is found, and what is no record is said so."""

import json

import pytest


@pytest.fixture
def record(run, runner, make_bot, tmp_path):
    file = tmp_path / "match.json"
    run("match", make_bot("a"), make_bot("b"), "--boards", 2, "--seed", "s", "--record", file)
    return file


def rewrite(file, change):
    """Change a record and make its digests fit, as somebody would who wants to deceive."""
    from dataclasses import replace

    from hokm.records import load, save

    save(file, replace(load(file), **change))


def test_a_true_record_is_ok_and_it_says_what_was_looked_at(run, record):
    ran = run("verify", record)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"{record}: ok\n")
    assert "2 games in each of 2 rooms, 4 hands" in ran.out
    assert "the secret committed to" in ran.out


def test_what_is_not_so_is_found(run, record):
    rewrite(record, {"score": (40, 0)})
    ran = run("verify", record)
    assert ran.status == 1
    assert ran.out.startswith(f"{record}: the score is ")
    answer = json.loads(run("verify", record, "--json").out)["records"][0]
    assert answer["ok"] is False
    assert answer["findings"][0]["what"].startswith("the score is")
    assert set(answer["findings"][0]) == {"what", "room", "game", "hand", "step"}


def test_an_unrevealed_secret_is_mentioned(run, record):
    rewrite(record, {"secret": None, "entropy": None})
    ran = run("verify", record)
    assert ran.status == 0
    assert "the secret is not revealed yet" in ran.out


def test_a_torn_file_fails_and_the_others_are_checked_all_the_same(run, record, tmp_path):
    torn = tmp_path / "torn.json"
    torn.write_bytes(record.read_bytes()[:200])
    ran = run("verify", torn, tmp_path / "none.json", record)
    assert ran.status == 1
    assert f"{record}: ok" in ran.out
    lines = ran.err.splitlines()
    assert lines[0].startswith(f"error: {torn}: ")
    assert lines[1] == f"error: {tmp_path}/none.json: No such file or directory"
    answer = json.loads(run("verify", torn, record, "--json").out)["records"]
    assert [one["ok"] for one in answer] == [False, True]
    assert answer[0]["problem"].startswith(f"{torn}: ")


def test_it_is_said_of_a_match_who_played_from_elsewhere(run, record):
    from dataclasses import replace

    from hokm.records import load, remote_digest

    a, b = load(record).entrants
    home = replace(b, digest=remote_digest(b.name, b.owner, b.version))
    assert "elsewhere" not in run("verify", record).out + run("replay", record).out
    rewrite(record, {"entrants": (a, home)})
    assert "not checked: what b ran" in run("verify", record).out
    assert json.loads(run("verify", record, "--json").out)["records"][0]["remote"] == ["b"]
    told = run("replay", record).out
    assert "b (from elsewhere)" in told
    assert "a (from elsewhere)" not in told
