package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonParser;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The message of an event source mapping to its on-failure destination: the place of the records that it gave
/// up. It carries no payload, so the records must be read from the stream again before the stream forgets them.
///
/// @param firstSequence of the first record given up
/// @param lastSequence of the last record given up
/// @param condition reason, such as `RetryAttemptsExhausted`; `null` if the message has none
public record FailedBatch(
        String streamArn,
        String shardId,
        String firstSequence,
        String lastSequence,
        @Nullable String condition) {
    private static final String NOT_ONE = "The message is not what an event source mapping sends when it gives up: ";

    /// The shard as it stands in the place of a record: of a table's stream without the shard, which its records do
    /// not know.
    public String shard() {
        String stream = StreamName.of(streamArn);
        return StreamName.isTable(streamArn) ? stream : stream + "/" + shardId;
    }

    /// Reads the body of a message.
    ///
    /// @throws UnreadableEvent if it is something else
    public static FailedBatch read(String body) {
        if (body.length() > Invocation.EVENT_BYTES_MAX) {
            throw new UnreadableEvent(NOT_ONE + "it has " + body.length() + " characters.");
        }
        try (JsonParser parser = EventJson.FACTORY.createParser(body)) {
            return read(parser);
        } catch (IOException broken) {
            throw new UnreadableEvent(NOT_ONE + EventJson.reason(broken) + ".", broken);
        }
    }

    private static FailedBatch read(JsonParser parser) throws IOException {
        String condition = null;
        Range range = null;
        parser.nextToken();
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            switch (name) {
                case "requestContext" -> condition = condition(parser);
                case "KinesisBatchInfo", "DDBStreamBatchInfo" -> range = Range.read(parser);
                default -> parser.skipChildren();
            }
        }
        if (range == null) {
            throw EventJson.broken(parser, "it has neither KinesisBatchInfo nor DDBStreamBatchInfo");
        }
        return new FailedBatch(
                StreamName.arn(required(parser, "streamArn", range.streamArn)),
                required(parser, "shardId", range.shardId),
                sequence(parser, "startSequenceNumber", range.first),
                sequence(parser, "endSequenceNumber", range.last),
                condition);
    }

    private static @Nullable String condition(JsonParser parser) throws IOException {
        String condition = null;
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            if (name.equals("condition")) {
                condition = EventJson.text(parser);
            } else {
                parser.skipChildren();
            }
        }
        return condition;
    }

    private static String sequence(JsonParser parser, String name, @Nullable String value) throws IOException {
        String text = required(parser, name, value);
        if (!EventJson.isSequence(text)) {
            throw EventJson.broken(parser, name + " is not a sequence number");
        }
        return text;
    }

    private static String required(JsonParser parser, String name, @Nullable String value) throws IOException {
        if (value == null) {
            throw EventJson.broken(parser, "it has no " + name);
        }
        return value;
    }

    private record Range(
            @Nullable String streamArn,
            @Nullable String shardId,
            @Nullable String first,
            @Nullable String last) {
        static Range read(JsonParser parser) throws IOException {
            String streamArn = null;
            String shardId = null;
            String first = null;
            String last = null;
            EventJson.expectObject(parser);
            for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
                switch (name) {
                    case "streamArn" -> streamArn = EventJson.text(parser);
                    case "shardId" -> shardId = EventJson.text(parser);
                    case "startSequenceNumber" -> first = EventJson.text(parser);
                    case "endSequenceNumber" -> last = EventJson.text(parser);
                    default -> parser.skipChildren();
                }
            }
            return new Range(streamArn, shardId, first, last);
        }
    }
}
