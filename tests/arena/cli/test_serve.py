"""`arena serve`: what may be asked of it. What it does is tested in tests/arena/service, and with
real processes in tests/system/test_standing.py.
"""

from pathlib import Path

import pytest

from arena.service.quotas import MOST_CHECK_MINUTES


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--register",), "--register is of no use without --listen"),
        (("--private",), "--private is of no use without --listen"),
        (("--tls-cert", "x.pem"), "--tls-cert is of no use without --listen"),
        (("--listen", "0.0.0.0:7444"), "without TLS"),
        (("--listen", "nowhere"), "--listen"),
        (("--listen", "127.0.0.1:0", "--tls-cert", "x.pem"), "belong together"),
        (("--alarm-minutes", "0"), "--alarm-minutes is from above 0"),
        (("--alarm-minutes", "nan"), "--alarm-minutes is from above 0"),
        (("--check-minutes", "0"), "--check-minutes"),
        (("--check-minutes", MOST_CHECK_MINUTES + 1), "--check-minutes"),
        (("--floor", "-1"), "--floor"),
        (("--drain", "-1"), "--drain"),
        (("--metrics", "x"), "--metrics"),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_is_played(
    run, tmp_path: Path, options, why: str
) -> None:
    assert run("ladder", "init", tmp_path / "club").status == 0
    ran = run("serve", tmp_path / "club", *options)
    assert (ran.status, ran.out) == (2, "")
    assert why in ran.err


def test_a_folder_that_is_no_ladder_is_said_to_be_none(run, tmp_path: Path) -> None:
    ran = run("serve", tmp_path / "nowhere")
    assert ran.status == 1
    assert "ladder.toml" in ran.err
