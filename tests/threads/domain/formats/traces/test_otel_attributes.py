"""Values, attributes and times of OpenTelemetry."""

from threads.domain.formats.traces import otel, otel_messages

from .otel_spans import START, otlp_value


def test_values_of_otlp_are_plain_again() -> None:
    value = {"a": [1, 2.5, True, "x"], "b": {}}

    assert otel_messages.plain(otlp_value(value)) == value
    assert otel_messages.plain({"intValue": "many"}) == "many"
    for words in ("--5", "²", "9" * 5_000):  # which Python makes no number of
        assert otel_messages.plain({"intValue": words}) == words
    assert otel_messages.plain({"intValue": "-5"}) == -5
    assert otel_messages.plain({"bytesValue": "aGk="}) == "aGk="
    assert otel_messages.plain({"other": 1}) is otel_messages.plain(None) is None


def test_attributes_that_are_a_value_and_a_family_keep_both() -> None:
    assert otel_messages.attributes({"a": 1, "a.b": 2}) == {"a": {"": 1, "b": 2}}
    assert otel_messages.attributes({"a.b": 2, "a": 1}) == {"a": {"b": 2, "": 1}}
    assert otel_messages.attributes({"a.b": 2, "a": {"c.d": 1}}) == {
        "a": {"b": 2, "c": {"d": 1}}
    }


def test_times_are_nanoseconds_or_text() -> None:
    found = otel._moment({"startTimeUnixNano": START * 10**9}, "startTimeUnixNano")

    assert found is not None and found.timestamp() == START
    assert otel._moment({"start_time": "soon"}, "start_time") is None
