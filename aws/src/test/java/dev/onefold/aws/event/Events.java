package dev.onefold.aws.event;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.assertj.core.api.Assertions;

/// Events as the tests need them, written by hand.
final class Events {
    private Events() {}

    /// A record of the stream `trades`.
    static String kinesis(String shard, String sequence, byte[] data) {
        return """
                {"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"k","sequenceNumber":"%s","data":"%s",\
                "approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis","eventVersion":"1.0",\
                "eventID":"%s:%s","eventName":"aws:kinesis:record","invokeIdentityArn":"arn:aws:iam::000000000000:role/r",\
                "awsRegion":"eu-central-1","eventSourceARN":"arn:aws:kinesis:eu-central-1:000000000000:stream/trades"}""".formatted(sequence, Base64.getEncoder().encodeToString(data), shard, sequence);
    }

    /// A change of the table `Trades`, whose part under "dynamodb" is given.
    static String change(String name, String dynamodb) {
        return """
                {"eventID":"c4ca4238a0b923820dcc509a6f75849b","eventName":"%s","eventVersion":"1.1",\
                "eventSource":"aws:dynamodb","awsRegion":"eu-central-1","dynamodb":%s,"eventSourceARN":\
                "arn:aws:dynamodb:eu-central-1:000000000000:table/Trades/stream/2026-11-21T00:00:00.000"}""".formatted(name, dynamodb);
    }

    static String records(List<String> records) {
        return "{\"Records\":[" + String.join(",", records) + "]}";
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Invocation read(String event) {
        return Invocation.read(utf8(event));
    }

    static List<Arrival> arrivals(String event) {
        return arrivals(utf8(event));
    }

    static List<Arrival> arrivals(byte[] event) {
        return switch (Invocation.read(event)) {
            case Invocation.Batch(List<Arrival> arrivals, var _) -> arrivals;
            case Invocation other -> Assertions.fail("It is no batch: " + other);
        };
    }

    static String text(Arrival arrival) {
        return new String(arrival.data(), StandardCharsets.UTF_8);
    }

    /// Where an arrival was: its identity, whatever is delivered how often.
    static String place(Arrival arrival) {
        return arrival.shard() + ":" + arrival.sequence() + ":" + arrival.subSequence();
    }

    /// Places and contents, so that lists of arrivals can be compared.
    static List<String> seen(List<Arrival> arrivals) {
        List<String> seen = new ArrayList<>();
        arrivals.forEach(arrival -> seen.add(place(arrival) + " " + text(arrival)));
        return seen;
    }
}
