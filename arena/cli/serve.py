"""``arena serve``: a ladder that stands. What it does is in :mod:`arena.service`."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.errors import Misuse
from arena.cli.options import (
    BuildNetwork,
    Bundles,
    Concurrency,
    ConfineLadder,
    Drain,
    HelloTime,
    LogFile,
    LogFormat,
    LogLevel,
    Metrics,
    Wheels,
    checked_seconds,
    require_posix,
)
from arena.service.choices import Casual, Remote
from arena.service.quotas import CHECK_MINUTES, MOST_CHECK_MINUTES, Quotas

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Listen without TLS where others can reach it.")
]
MOST_MINUTES = 7 * 24 * 60.0


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a ladder (arena ladder init).")
    ],
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Take submissions and answer questions there.  [default: nowhere]",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="PEM: the certificate, and its chain.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="PEM: its key.")] = None,
    insecure: Insecure = False,
    advertise: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name or address by which others reach it."),
    ] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Let anybody become an owner, over the network.")
    ] = False,
    private: Annotated[
        bool,
        typer.Option("--private", help="Show standings, results and records to owners alone."),
    ] = False,
    remote: Annotated[
        Remote,
        typer.Option(
            help="Bots that stay at home: with all others, or with each other only. "
            "Nobody can isolate those of one machine from each other."
        ),
    ] = Remote.NO,
    casual: Annotated[
        Casual, typer.Option(help="Casual tables: for owners of bots, or open to anybody.")
    ] = Casual.NO,
    casual_wait: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="When house bots take the empty seats of a table."),
    ] = 20.0,
    active_bots: Annotated[
        int, typer.Option(metavar="N", min=1, help="Active bots that an owner may have.")
    ] = 5,
    submissions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Submissions of an owner in 24 hours.")
    ] = 20,
    storage: Annotated[
        int, typer.Option(metavar="MIB", min=1, help="What an owner's archives may take, in MiB.")
    ] = 500,
    floor: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Matches that every active bot gets in an event."),
    ] = 2,
    event_matches: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Matches of an event.  [default: 20, or what the floor takes]"
        ),
    ] = None,
    alarm_minutes: Annotated[
        float,
        typer.Option(metavar="N", help="Say why, after so long without a rated result."),
    ] = 5.0,
    validations: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Submissions to validate at once.")
    ] = 1,
    check_minutes: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_CHECK_MINUTES,
            help="What the checks and matches of a validation may take, in minutes.",
        ),
    ] = CHECK_MINUTES,
    concurrency: Concurrency = None,
    hello_time: HelloTime = 10.0,
    sandbox: ConfineLadder = True,
    build_network: BuildNetwork = False,
    wheels: Wheels = None,
    bundles: Bundles = None,
    metrics: Metrics = None,
    log_format: LogFormat = None,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    drain: Drain = 60.0,
) -> None:
    """Play a ladder for ever: event after event, whoever is entered.

    What is sent in is validated as arena bot check does, and entered if it is accepted. The deals
    of every event are bound before it and revealed after it. arena operate DIR pauses, drains,
    disables a bot, and more.

    Ctrl-C finishes the games under way, a second one stops at once; the same command then goes on.
    """
    require_posix()
    from arena.cli import standing
    from arena.cli.bundles import shelf_at
    from arena.cli.confining import for_builds
    from arena.cli.listening import place_of
    from arena.cli.operating import Operating
    from arena.cli.places import environments
    from arena.ladder.ladder import Ladder
    from arena.service.standing import Ways

    hello_seconds = checked_seconds("--hello-time", hello_time, least=0.1)
    if not 0 < alarm_minutes <= MOST_MINUTES:
        raise Misuse(f"--alarm-minutes is from above 0 to {MOST_MINUTES:g}, not {alarm_minutes:g}")
    network, doubt = None, ""
    if listen is not None:
        network, doubt = place_of(
            listen,
            advertise=advertise,
            tls_cert=tls_cert,
            tls_key=tls_key,
            client_ca=None,
            insecure=insecure,
            command="arena serve",
        )
    else:
        given = {
            "--tls-cert": tls_cert,
            "--tls-key": tls_key,
            "--insecure": insecure or None,
            "--advertise": advertise,
            "--register": register or None,
            "--private": private or None,
            "--remote": None if remote is Remote.NO else remote,
            "--casual": None if casual is Casual.NO else casual,
        }
        for option, value in given.items():
            if value is not None:
                raise Misuse(f"{option} is of no use without --listen HOST:PORT")
    ask = standing.Ask(
        network=network,
        doubt=doubt,
        may_register=register,
        is_private=private,
        remote=remote,
        casual=casual,
        casual_wait_seconds=checked_seconds("--casual-wait", casual_wait),
        quotas=Quotas(
            active_bots=active_bots, submissions_a_day=submissions, kept_bytes=storage * 2**20
        ),
        floor_ways=Ways(
            floor=floor, event_matches=event_matches, alarm_seconds=60.0 * alarm_minutes
        ),
        validations=validations,
        check_seconds=60.0 * check_minutes,
        concurrency=concurrency,
        hello_seconds=hello_seconds,
        is_confined=sandbox,
        wheels=wheels,
        operating=Operating(
            metrics=metrics,
            log_format=log_format,
            log_file=log_file,
            log_level=log_level,
            drain_seconds=checked_seconds("--drain", drain),
        ),
    )
    made = environments(
        wheels,
        confine=for_builds(sandbox, is_ladder=True, unseen=[folder]),
        has_network=build_network,
    )
    shelf = None if bundles is None else shelf_at(bundles)
    with Ladder.open(folder, environments=made, shelf=shelf) as ladder:
        standing.serve(ladder, ask)
