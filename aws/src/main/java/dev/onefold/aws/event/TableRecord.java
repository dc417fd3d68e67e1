package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
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

    private static byte @Nullable [] json(Map<String, AttributeValue> item) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator generator = EventJson.FACTORY.createGenerator(bytes)) {
            write(item, generator);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private static void write(Map<String, AttributeValue> item, JsonGenerator to) throws IOException {
        to.writeStartObject();
        for (Map.Entry<String, AttributeValue> attribute : item.entrySet()) {
            to.writeFieldName(attribute.getKey());
            write(attribute.getValue(), to);
        }
        to.writeEndObject();
    }

    private static void write(AttributeValue value, JsonGenerator to) throws IOException {
        switch (value.type()) {
            case S -> to.writeString(value.s());
            case N -> to.writeNumber(value.n());
            case B -> to.writeString(base64(value.b()));
            case BOOL -> to.writeBoolean(value.bool());
            case NUL -> to.writeNull();
            case M -> write(value.m(), to);
            case L -> {
                to.writeStartArray();
                for (AttributeValue each : value.l()) {
                    write(each, to);
                }
                to.writeEndArray();
            }
            case SS ->
                to.writeArray(value.ss().toArray(new String[0]), 0, value.ss().size());
            case NS -> {
                to.writeStartArray();
                for (String each : value.ns()) {
                    to.writeNumber(each);
                }
                to.writeEndArray();
            }
            case BS -> {
                String[] texts = value.bs().stream().map(TableRecord::base64).toArray(String[]::new);
                to.writeArray(texts, 0, texts.length);
            }
            case UNKNOWN_TO_SDK_VERSION ->
                throw new UnreadableEvent("An attribute of a changed item has a type that is not known: " + value);
        }
    }

    private static String base64(SdkBytes bytes) {
        return Base64.getEncoder().encodeToString(bytes.asByteArrayUnsafe());
    }
}
