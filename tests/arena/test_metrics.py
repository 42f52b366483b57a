"""Figures: what is counted, and how it is read by whoever scrapes it."""

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from arena.metrics import Figures, Histogram, served
from arena.referee.meter import Meter, TurnedAway
from arena.referee.serving import ServingError
from hokm.outcome import Ending

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def read(address: str) -> dict[str, float]:
    """What is scraped in OpenMetrics: values by name and labels, histograms by their count."""
    request = urllib.request.Request(address, headers={"Accept": OPEN_METRICS})
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.headers["Content-Type"].startswith("application/openmetrics-text")
        text = response.read().decode()
    return {_key(sample): sample.value for sample in _samples(text)}


def _samples(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):  # strict: it raises on what is none
        yield from family.samples


def _key(sample: Sample) -> str:
    labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
    return f"{sample.name}{{{labels}}}" if labels else str(sample.name)


def test_everything_that_a_meter_is_told_can_be_scraped() -> None:
    figures = Figures()
    figures.stream_opened()
    figures.stream_opened()
    figures.stream_closed()
    figures.turned_away(TurnedAway.TICKET)
    figures.written(0.004)
    figures.queue_age_by(lambda: 2.5)
    figures.game_began()
    figures.game_began()
    figures.game_ended()
    figures.judged([(None, 1.0), (None, 1.9)], 2.0)
    figures.game_over(Ending.TIME, [[0.1, 0.2], [31.0]])
    with served(figures, "127.0.0.1:0") as address:
        values = read(address)
    assert values["hokm_streams"] == 1
    assert values["hokm_streams_opened_total"] == 2
    assert values["hokm_streams_turned_away_total{reason=ticket}"] == 1
    assert values["hokm_streams_turned_away_total{reason=silent}"] == 0
    assert values["hokm_write_seconds_count"] == 1
    assert values["hokm_write_seconds_bucket{le=0.0025}"] == 0
    assert values["hokm_write_seconds_bucket{le=0.005}"] == 1
    assert values["hokm_queue_age_seconds"] == 2.5
    assert values["hokm_games_under_way"] == 1
    assert values["hokm_games_total{ending=TIME}"] == 1
    assert values["hokm_games_total{ending=COMPLETED}"] == 0
    assert values["hokm_answers_total"] == 2
    assert values["hokm_referee_delay_seconds_sum"] == pytest.approx(1.1)
    assert values["hokm_decisions_total"] == 3
    assert values["hokm_charged_seconds_bucket{le=30.0}"] == 2
    assert values["hokm_charged_seconds_count"] == 3
    assert values["process_cpu_seconds_total"] > 0


def test_every_call_of_a_meter_is_counted_by_this_one() -> None:
    calls = {name for name in vars(Meter) if not name.startswith("_")}
    assert calls == {name for name in calls if name in vars(Figures)}


def test_a_value_at_a_bound_lies_below_it() -> None:
    histogram = Histogram((1.0, 2.0))
    histogram.add([1.0, 1.5, 2.0, 2.1])
    assert histogram.counts == [1, 2, 1]
    assert histogram.total == pytest.approx(6.6)


def test_labels_are_words_of_this_program() -> None:
    with served(Figures(), "127.0.0.1:0") as address:
        labels = {key.partition("{")[2] for key in read(address)}
    words = {f"ending={ending.value}}}" for ending in Ending}
    words |= {f"reason={why.value}}}" for why in TurnedAway}
    assert {one for one in labels if not one.startswith(("le=", "version="))} == words | {""}


def test_a_place_in_use_is_said_to_be() -> None:
    with served(Figures(), "127.0.0.1:0") as address:
        listen = address.removeprefix("http://").removesuffix("/metrics")
        in_use = pytest.raises(OSError, match=f"cannot listen at {listen} for metrics")
        with in_use, served(Figures(), listen):
            pass
    with pytest.raises(urllib.error.URLError):
        read(address)


def test_what_is_no_place_is_refused() -> None:
    with pytest.raises(ServingError, match="no HOST:PORT"), served(Figures(), "9117"):
        pass
