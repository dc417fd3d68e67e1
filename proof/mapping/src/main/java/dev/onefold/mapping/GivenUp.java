package dev.onefold.mapping;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.onefold.mapping.source.StreamRecord;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;

/// Records that a mapping gives up.
///
/// @param invocations that had the first of them
record GivenUp(Condition condition, String shardId, List<Delivery> records, int invocations) {
    private static final JsonFactory FACTORY = new JsonFactory();

    /// Why.
    enum Condition {
        ATTEMPTS("RetryAttemptsExhausted"),
        AGE("RecordAgeExceeded"),
        SIZE("PayloadSizeExceeded");

        final String text;

        Condition(String text) {
            this.text = text;
        }
    }

    private StreamRecord first() {
        return records.getFirst().record;
    }

    private StreamRecord last() {
        return records.getLast().record;
    }

    String text() {
        return condition.text + ": " + records.size() + " records of shard " + shardId + " from " + first().sequence()
                + " to " + last().sequence() + " are given up";
    }

    /// What the on-failure destination is told: where the records are, not what is in them.
    String message(StreamMapping mapping) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            json.writeStartObject();
            json.writeObjectFieldStart("requestContext");
            json.writeStringField(
                    "requestId", new UUID(mapping.random.nextLong(), mapping.random.nextLong()).toString());
            json.writeStringField("functionArn", mapping.target.functionArn());
            json.writeStringField("condition", condition.text);
            json.writeNumberField("approximateInvokeCount", invocations);
            json.writeEndObject();
            if (condition == Condition.ATTEMPTS) {
                json.writeObjectFieldStart("responseContext");
                json.writeNumberField("statusCode", 200);
                json.writeStringField("executedVersion", "$LATEST");
                json.writeStringField("functionError", "Unhandled");
                json.writeEndObject();
            }
            json.writeStringField("version", "1.0");
            json.writeStringField("timestamp", mapping.now().toString());
            json.writeObjectFieldStart(mapping.source.batchInfo());
            json.writeStringField("shardId", shardId);
            json.writeStringField("startSequenceNumber", first().sequence());
            json.writeStringField("endSequenceNumber", last().sequence());
            json.writeStringField(
                    "approximateArrivalOfFirstRecord", first().arrival().toString());
            json.writeStringField(
                    "approximateArrivalOfLastRecord", last().arrival().toString());
            json.writeNumberField("batchSize", records.size());
            json.writeStringField("streamArn", mapping.source.arn());
            json.writeEndObject();
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return text.toString();
    }
}
