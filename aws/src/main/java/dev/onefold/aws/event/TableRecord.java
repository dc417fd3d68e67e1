package dev.onefold.aws.event;

import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.tables.ItemJson;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.StreamRecord;

/// A change of a table's item as a reading of its stream brings it. It becomes the record that an invocation with it
/// would be.
public final class TableRecord {
    private TableRecord() {}

    /// The record.
    ///
    /// @param stream the ARN of the stream
    /// @throws UnreadableEvent if it is not what the service documents
    public static Arrival arrival(String stream, Record record) {
        StreamRecord change = record.dynamodb();
        TableChange.Kind kind = TableChange.Kind.named(record.eventNameAsString());
        String sequence = change == null ? null : change.sequenceNumber();
        if (kind == null || change == null || sequence == null || !EventJson.isSequence(sequence)) {
            throw new UnreadableEvent("A change in " + StreamName.of(stream) + " has the name '"
                    + record.eventNameAsString() + "' and the sequence number '" + sequence + "', which cannot be.");
        }
        TableChange read = new TableChange(
                sequence,
                change.approximateCreationDateTime(),
                change.hasKeys() ? json(change.keys()) : null,
                change.hasNewImage() ? json(change.newImage()) : null,
                change.hasOldImage() ? json(change.oldImage()) : null);
        boolean isExpiry = record.userIdentity() != null
                && TableChange.EXPIRY.equals(record.userIdentity().principalId());
        return new Arrival(
                StreamName.of(stream), sequence, 0, read.json(kind, sequence, stream, isExpiry), read.atMs());
    }

    private static byte[] json(Map<String, AttributeValue> item) {
        try {
            return ItemJson.of(item);
        } catch (IllegalArgumentException e) {
            throw new UnreadableEvent(String.valueOf(e.getMessage()));
        }
    }
}
