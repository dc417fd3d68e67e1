package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads one invocation. What a record is, its members say: their order is not relied on.
final class InvocationReader {
    private final JsonParser parser;
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private int records = -1;

    private @Nullable String eventId;
    private @Nullable String eventName;
    private @Nullable String sourceArn;
    private @Nullable String messageId;
    private @Nullable String body;
    private long sentMs;
    private @Nullable KinesisData kinesis;
    private @Nullable TableChange change;
    private boolean isExpiry;

    private InvocationReader(JsonParser parser) {
        this.parser = parser;
    }

    static Invocation read(byte[] event) {
        if (event.length > Invocation.EVENT_BYTES_MAX) {
            throw new UnreadableEvent("The event has " + event.length + " bytes, and Lambda delivers at most "
                    + Invocation.EVENT_BYTES_MAX + ". Nothing of it is read.");
        }
        try (JsonParser parser = EventJson.FACTORY.createParser(event)) {
            return new InvocationReader(parser).read();
        } catch (IOException broken) {
            throw new UnreadableEvent("The event cannot be read: " + EventJson.reason(broken) + ".", broken);
        }
    }

    private Invocation read() throws IOException {
        parser.nextToken();
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            switch (name) {
                case "Records" -> readRecords();
                case "records" ->
                    throw new UnreadableEvent("The event has 'records', as those of Kafka and Firehose have; this"
                            + " function takes events of Kinesis, of a table's stream, and of SQS.");
                default -> parser.skipChildren();
            }
        }
        if (parser.nextToken() != null) {
            throw EventJson.broken(parser, "something follows the event");
        }
        if (records < 0) {
            return new Invocation.Tick();
        }
        return messages.isEmpty()
                ? new Invocation.Batch(arrivals, Optional.ofNullable(sourceArn))
                : new Invocation.Messages(messages);
    }

    private void readRecords() throws IOException {
        EventJson.expectArray(parser);
        for (records = 0; parser.nextToken() != JsonToken.END_ARRAY; records++) {
            try {
                readRecord();
            } catch (IOException broken) {
                throw unreadable(EventJson.reason(broken), broken);
            }
            take();
            if (!arrivals.isEmpty() && !messages.isEmpty()) {
                throw unreadable("records of a stream and messages of a queue are in one event");
            }
        }
    }

    private void readRecord() throws IOException {
        eventId = null;
        eventName = null;
        sourceArn = null;
        messageId = null;
        body = null;
        sentMs = Arrival.NOT_KNOWN;
        kinesis = null;
        change = null;
        isExpiry = false;
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            switch (name) {
                case "eventID" -> eventId = EventJson.text(parser);
                case "eventName" -> eventName = EventJson.text(parser);
                case "eventSourceARN" -> {
                    String arn = EventJson.text(parser);
                    sourceArn = arn == null ? null : StreamName.arn(arn);
                }
                case "messageId" -> messageId = EventJson.text(parser);
                case "body" -> body = EventJson.text(parser);
                case "attributes" -> readAttributes();
                case "kinesis" -> kinesis = KinesisData.read(parser);
                case "userIdentity" -> isExpiry = readsExpiry();
                case "dynamodb" -> change = TableChange.read(parser);
                default -> parser.skipChildren();
            }
        }
    }

    /// Whether a change was made by the table itself, because an item's time to live was over.
    private boolean readsExpiry() throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return false;
        }
        boolean expiry = false;
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            if (name.equalsIgnoreCase("principalId")) {
                expiry = TableChange.EXPIRY.equals(EventJson.text(parser));
            } else {
                parser.skipChildren();
            }
        }
        return expiry;
    }

    /// Of the attributes of a message only the time is read.
    private void readAttributes() throws IOException {
        EventJson.expectObject(parser);
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            if (name.equals("SentTimestamp")) {
                sentMs = sentMs(EventJson.text(parser));
            } else {
                parser.skipChildren();
            }
        }
    }

    private static long sentMs(@Nullable String text) {
        return text != null && text.matches("[0-9]{1,15}")
                ? Arrival.ms(Instant.ofEpochMilli(Long.parseLong(text)))
                : Arrival.NOT_KNOWN;
    }

    private String queue() {
        return sourceArn == null ? "" : sourceArn.substring(sourceArn.lastIndexOf(':') + 1);
    }

    private void take() {
        if (kinesis != null) {
            take(kinesis);
        } else if (change != null) {
            take(change);
        } else if (messageId != null && body != null) {
            messages.add(new Message(messageId, body, queue(), sentMs));
        } else {
            throw unreadable("it is neither a record of Kinesis or of a table's stream nor a message of SQS");
        }
    }

    private void take(KinesisData record) {
        String sequence = sequence(record.sequence());
        byte[] data = record.data();
        if (data == null) {
            throw unreadable("it has no data");
        }
        int colon = eventId == null ? -1 : eventId.lastIndexOf(':');
        if (eventId == null || colon < 1) {
            throw unreadable("its eventID is no shard, colon and sequence number, but '" + eventId + "'");
        }
        String shard = StreamName.of(arn()) + "/" + eventId.substring(0, colon);
        arrivals.addAll(Aggregated.arrivals(shard, sequence, data, record.atMs()));
    }

    private void take(TableChange record) {
        String sequence = sequence(record.sequence());
        TableChange.Kind kind = TableChange.Kind.named(eventName);
        if (kind == null) {
            throw unreadable("its eventName is '" + eventName + "', not INSERT, MODIFY or REMOVE");
        }
        byte[] json = record.json(kind, sequence, arn(), isExpiry);
        arrivals.add(new Arrival(StreamName.of(arn()), sequence, 0, json, record.atMs()));
    }

    private String arn() {
        if (sourceArn == null) {
            throw unreadable("it has no eventSourceARN, which names the stream");
        }
        return sourceArn;
    }

    private String sequence(@Nullable String text) {
        if (text == null || !EventJson.isSequence(text)) {
            throw unreadable("its sequence number is not 1 to " + EventJson.SEQUENCE_DIGITS_MAX + " digits");
        }
        return text;
    }

    private UnreadableEvent unreadable(String reason) {
        return new UnreadableEvent(place() + " cannot be read: " + reason + ".");
    }

    private UnreadableEvent unreadable(String reason, IOException cause) {
        return new UnreadableEvent(place() + " cannot be read: " + reason + ".", cause);
    }

    /// Which record: its number in the event, and what is known of it by now.
    private String place() {
        String sequence = kinesis != null ? kinesis.sequence() : change != null ? change.sequence() : null;
        String known = eventId != null ? eventId : sequence != null ? sequence : messageId;
        return "Record " + (records + 1) + " of the event" + (known == null ? "" : " (" + known + ")");
    }
}
