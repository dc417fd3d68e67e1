package dev.onefold.kafka;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.kafka.format.Awaited;
import dev.onefold.kafka.format.Decoding;
import dev.onefold.kafka.format.Undecodable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/// The bytes of a record as a pipeline reads them: its value, and in front of the fields of an object of JSON
/// those that Kafka has beside it.
///
/// A field that the pipeline reads is there always: a field of the record's own with its name is refused as a second
/// one. Key and headers are there whenever they exist, so that a dead letter has them, except in a batch, whose
/// receiver gets the value as it is. A record without a value is an object with `@tombstone` alone beside them.
/// A value that is no object stays what it is, behind the key and the headers: no decoder takes the two for one
/// record.
final class RecordText {
    private static final byte DELETE = 0x7f;
    private static final byte[] KEY = named("@key");
    private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NO_OBJECT = "\"@value\":!".getBytes(StandardCharsets.US_ASCII);

    private final boolean isJson;
    private final byte[] without; // A value. A reader of a table's changes knows a removal's tombstone by it.
    private final Set<String> wantedHeaders = new TreeSet<>();
    private final boolean hasKey;
    private final boolean hasHeaders;
    private final List<Place> places = new ArrayList<>();
    private final boolean isHeaderRead;
    private final boolean isTombstoneRead;
    private final boolean isKeyRead;
    private final boolean isKeyParsed;

    private final Optional<Decoding> decoding;

    /// @param decoding of keys and values; empty if they are text
    RecordText(Pipeline pipeline, Optional<Decoding> decoding) {
        this.decoding = decoding;
        isJson = pipeline.input().format() instanceof Format.Json;
        without = pipeline.input().format() instanceof Format.Changes
                ? "null".getBytes(StandardCharsets.US_ASCII)
                : new byte[0];
        boolean hasAll = isJson && !(pipeline.fold() instanceof Batching);
        List<FieldPath> beside =
                pipeline.fields().stream().filter(Origin::isBeside).toList();
        Set<String> wanted = new TreeSet<>();
        beside.forEach(field -> {
            wanted.add(field.names().getFirst());
            if (field.names().getFirst().equals("@header") && field.names().size() > 1) {
                wantedHeaders.add(field.names().get(1));
            }
        });
        if (wanted.contains("@partition")) {
            places.add(new Place(named("@partition"), ConsumerRecord::partition));
        }
        if (wanted.contains("@offset")) {
            places.add(new Place(named("@offset"), ConsumerRecord::offset));
        }
        if (wanted.contains("@timestamp")) {
            places.add(new Place(named("@timestamp"), ConsumerRecord::timestamp));
        }
        isHeaderRead = wanted.contains("@header");
        isTombstoneRead = wanted.contains("@tombstone");
        isKeyRead = wanted.contains("@key");
        hasKey = hasAll || isKeyRead;
        hasHeaders = hasAll || isHeaderRead;
        isKeyParsed = beside.stream()
                .anyMatch(field ->
                        field.names().getFirst().equals("@key") && field.names().size() > 1);
    }

    /// A number beside a record that the pipeline reads.
    private record Place(byte[] name, ToLongFunction<ConsumerRecord<?, ?>> of) {}

    /// A record with the JSON of its parts, which any definition can read: no schema is asked for again.
    ///
    /// @param key `null` if nothing was decoded, as `value`
    /// @param ofKey why the key cannot be decoded; `null` if it can, as `ofValue`
    record Decoded(
            ConsumerRecord<byte[], byte[]> record,
            byte @Nullable [] key,
            byte @Nullable [] value,
            @Nullable Undecodable ofKey,
            @Nullable Undecodable ofValue) {
        int bytes() {
            return (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        }
    }

    Decoded decoded(ConsumerRecord<byte[], byte[]> record) throws Awaited {
        byte[] key = null;
        byte[] value = null;
        Undecodable ofKey = null;
        Undecodable ofValue = null;
        try {
            value = decoding.isEmpty() || record.value() == null
                    ? null
                    : decoding.get().value(record.value());
        } catch (Undecodable e) {
            ofValue = e;
        }
        try {
            boolean hasKey = decoding.isPresent() && decoding.get().hasKeys() && record.key() != null;
            key = hasKey ? decoding.get().key(record.key()) : null;
        } catch (Undecodable e) {
            ofKey = e;
        }
        return new Decoded(record, key, value, ofKey, ofValue);
    }

    byte[] of(Decoded decoded) {
        ConsumerRecord<byte[], byte[]> record = decoded.record;
        Undecodable fault = decoded.ofValue != null ? decoded.ofValue : isJson ? decoded.ofKey : null;
        if (fault != null) {
            return unread(record, fault);
        }
        byte[] value = decoded.value != null ? decoded.value : record.value() != null ? record.value() : without;
        return isJson ? text(record, decoded.key == null ? new byte[0] : decoded.key, value) : value;
    }

    private byte[] text(ConsumerRecord<byte[], byte[]> record, byte[] key, byte[] value) {
        List<byte[]> beside = new ArrayList<>();
        if (hasKey && record.key() != null) {
            beside.add(KEY);
            beside.add(key.length > 0 ? key : key(record.key()));
        } else if (isKeyRead) {
            put(beside, "@key", NULL);
        }
        for (Place place : places) {
            beside.add(place.name);
            beside.add(Long.toString(place.of.applyAsLong(record)).getBytes(StandardCharsets.US_ASCII));
        }
        if (isHeaderRead || hasHeaders && record.headers().iterator().hasNext()) {
            put(beside, "@header", object(headers(record)));
        }
        if (record.value() == null) {
            put(beside, "@tombstone", TRUE);
        } else if (isTombstoneRead) {
            put(beside, "@tombstone", FALSE);
        }
        return beside.isEmpty() ? value : joined(beside, record, value);
    }

    private static void put(List<byte[]> beside, String name, byte[] json) {
        beside.add(named(name));
        beside.add(json);
    }

    private static byte[] named(String name) {
        return (",\"" + name + "\":").getBytes(StandardCharsets.US_ASCII);
    }

    private byte[] key(byte[] key) {
        return isKeyParsed ? parsed(key) : value(isKeyRead || isPlain(key) ? key : shown(key));
    }

    /// A record that cannot be decoded: the reason, and all of the record for a person.
    private byte[] unread(ConsumerRecord<byte[], byte[]> record, Undecodable e) {
        Map<String, Object> parts = new LinkedHashMap<>();
        if (record.key() != null) {
            parts.put("@key", Utf8.decode(record.key()).orElseGet(() -> base64(record.key())));
        }
        Map<String, Object> headers = headers(record);
        headers.replaceAll((_, value) -> value instanceof byte[] bytes ? shown(bytes) : value);
        parts.put("@header", headers);
        parts.put("@value", base64(record.value() == null ? new byte[0] : record.value()));
        return Malformed.unread(
                "The record cannot be decoded: " + e.getMessage()
                        + ". When its cause is gone, rebuild --from-sources decodes it again",
                Json.of(parts));
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /// A key that is JSON, and nothing behind it that could be taken for other fields.
    private static byte[] parsed(byte[] key) {
        Problems problems = new Problems();
        boolean isJson = Utf8.decode(key)
                .map(text -> JsonText.read(text, problems))
                .filter(_ -> problems.isEmpty())
                .isPresent();
        return isJson ? key : value(key);
    }

    /// Bytes that are no UTF-8 are put there as they are: the decoder refuses them, and the dead letter has them.
    private static byte[] value(Object field) {
        return switch (field) {
            case byte[] bytes when isPlain(bytes) -> inQuotes(bytes);
            case byte[] bytes ->
                Utf8.decode(bytes)
                        .map(text -> Json.of(text).getBytes(StandardCharsets.UTF_8))
                        .orElseGet(() -> quoted(bytes));
            default -> Json.of(field).getBytes(StandardCharsets.UTF_8);
        };
    }

    private static byte[] object(Map<?, ?> fields) {
        ByteArrayOutputStream object = new ByteArrayOutputStream();
        object.write('{');
        fields.forEach((name, field) -> {
            if (object.size() > 1) {
                object.write(',');
            }
            object.writeBytes((Json.of(name) + ":").getBytes(StandardCharsets.UTF_8));
            object.writeBytes(value(field));
        });
        object.write('}');
        return object.toByteArray();
    }

    /// Whether a text of JSON has these bytes as they are.
    private static boolean isPlain(byte[] bytes) {
        for (byte each : bytes) {
            if (each < ' ' || each == '"' || each == '\\' || each == DELETE) {
                return false;
            }
        }
        return true;
    }

    private static byte[] inQuotes(byte[] plain) {
        byte[] text = new byte[plain.length + 2];
        text[0] = '"';
        System.arraycopy(plain, 0, text, 1, plain.length);
        text[text.length - 1] = '"';
        return text;
    }

    private static byte[] quoted(byte[] bytes) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.write('"');
        for (byte each : bytes) {
            if (each == '"' || each == '\\' || each >= 0 && each < ' ') {
                text.writeBytes(String.format("\\u%04x", each).getBytes(StandardCharsets.US_ASCII));
            } else {
                text.write(each);
            }
        }
        text.write('"');
        return text.toByteArray();
    }

    /// The last of several headers of a name counts.
    private Map<String, Object> headers(ConsumerRecord<byte[], byte[]> record) {
        Map<String, Object> headers = new LinkedHashMap<>();
        for (Header header : record.headers()) {
            byte[] value = header.value() == null ? new byte[0] : header.value();
            headers.put(header.key(), wantedHeaders.contains(header.key()) ? value : shown(value));
        }
        return headers;
    }

    /// For a person alone.
    private static String shown(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /// @param beside names and what they have, each name behind a comma
    private static byte[] joined(List<byte[]> beside, ConsumerRecord<byte[], byte[]> record, byte[] value) {
        int at = behindSpace(value, 0);
        boolean isObject = at < value.length && value[at] == '{';
        int from = isObject ? at + 1 : 0;
        int next = isObject ? behindSpace(value, from) : value.length;
        boolean isEmpty = next < value.length && value[next] == '}';
        byte[] marked = isObject || record.value() == null ? new byte[0] : NO_OBJECT;
        int rest = value.length - from;
        boolean hasComma = isObject ? !isEmpty : marked.length > 0;
        int length = (hasComma ? 1 : 0) + marked.length + rest + (isObject ? 0 : 1);
        for (byte[] part : beside) {
            length += part.length;
        }
        byte[] text = new byte[length];
        int to = 0;
        for (byte[] part : beside) {
            System.arraycopy(part, 0, text, to, part.length);
            to += part.length;
        }
        text[0] = '{'; // Where the first name has its comma.
        if (hasComma) {
            text[to++] = ',';
        }
        System.arraycopy(marked, 0, text, to, marked.length);
        System.arraycopy(value, from, text, to + marked.length, rest);
        if (!isObject) {
            text[text.length - 1] = '}';
        }
        return text;
    }

    private static int behindSpace(byte[] bytes, int from) {
        int at = from;
        while (at < bytes.length && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) {
            at++;
        }
        return at;
    }
}
