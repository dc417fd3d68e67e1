package dev.onefold.kafka.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.DurationProto;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.WrappersProto;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// Messages of Protobuf as JSON, each field by its name in the `.proto` file.
///
/// @param files each behind those that it imports
record ProtobufSchema(List<FileDescriptor> files) {
    private static final int MESSAGE_BYTES_MAX = 4 << 20; // The memory of a message is many times as large.
    private static final int NANOS_MAX = 999_999_999;
    private static final String GOOGLE = "google.protobuf.";
    private static final Set<FieldDescriptor.Type> UNSIGNED = Set.of(
            FieldDescriptor.Type.UINT32,
            FieldDescriptor.Type.UINT64,
            FieldDescriptor.Type.FIXED32,
            FieldDescriptor.Type.FIXED64);

    static ProtobufSchema of(List<FileDescriptorProto> protos) throws Undecodable {
        List<FileDescriptor> files = new ArrayList<>(
                List.of(TimestampProto.getDescriptor(), DurationProto.getDescriptor(), WrappersProto.getDescriptor()));
        for (FileDescriptorProto proto : protos) {
            try {
                files.add(FileDescriptor.buildFrom(proto, files.toArray(FileDescriptor[]::new)));
            } catch (DescriptorValidationException e) {
                throw new Undecodable("the descriptors are not complete: " + e.getMessage());
            }
        }
        return new ProtobufSchema(files);
    }

    /// The message that a record names by its place in the last file, the messages around it first.
    Descriptor at(Cursor in) throws Undecodable {
        List<Descriptor> level = files.getLast().getMessageTypes();
        long count = in.signed();
        Descriptor found = level.get(in.index(count == 0 ? 0 : in.signed(), level.size()));
        for (long i = 1; i < count; i++) {
            level = found.getNestedTypes();
            found = level.get(in.index(in.signed(), level.size()));
        }
        return found;
    }

    Optional<Descriptor> find(String name) {
        return files.stream()
                .flatMap(file -> file.getMessageTypes().stream())
                .flatMap(ProtobufSchema::withNested)
                .filter(message -> message.getFullName().equals(name))
                .findFirst();
    }

    private static Stream<Descriptor> withNested(Descriptor message) {
        return Stream.concat(
                Stream.of(message), message.getNestedTypes().stream().flatMap(ProtobufSchema::withNested));
    }

    static void write(Descriptor type, byte[] bytes, JsonOut out) throws Undecodable {
        if (bytes.length > MESSAGE_BYTES_MAX) {
            throw new Undecodable("it has more than " + MESSAGE_BYTES_MAX + " bytes");
        }
        try {
            write(
                    DiscardUnknownFieldsParser.wrap(
                                    DynamicMessage.getDefaultInstance(type).getParserForType())
                            .parseFrom(bytes),
                    out);
        } catch (InvalidProtocolBufferException e) {
            throw new Undecodable("it is no message " + type.getFullName() + ": " + e.getMessage());
        }
    }

    private static void write(Message message, JsonOut out) throws Undecodable {
        out.open("{");
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            if (field.isRepeated()) {
                repeated(message, field, out);
            } else if (!field.hasPresence() || message.hasField(field) || field.hasDefaultValue()) {
                out.name(field.getName());
                value(field, message.getField(field), out);
            }
        }
        out.close("}");
    }

    private static void repeated(Message message, FieldDescriptor field, JsonOut out) throws Undecodable {
        boolean isMap = field.isMapField();
        out.name(field.getName()).open(isMap ? "{" : "[");
        for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
            Object value = message.getRepeatedField(field, i);
            if (isMap && value instanceof Message entry) {
                List<FieldDescriptor> parts = entry.getDescriptorForType().getFields();
                out.name(plain(parts.getFirst(), entry.getField(parts.getFirst())));
                value(parts.getLast(), entry.getField(parts.getLast()), out);
            } else {
                value(field, value, out.next());
            }
        }
        out.close(isMap ? "}" : "]");
    }

    private static String plain(FieldDescriptor field, Object value) {
        return switch (value) {
            case Integer number when UNSIGNED.contains(field.getType()) -> Integer.toUnsignedString(number);
            case Long number when UNSIGNED.contains(field.getType()) -> Long.toUnsignedString(number);
            default -> value.toString();
        };
    }

    private static void value(FieldDescriptor field, Object value, JsonOut out) throws Undecodable {
        switch (value) {
            case Integer _, Long _, Boolean _ -> out.raw(plain(field, value));
            case Float number -> out.fraction(number, true);
            case Double number -> out.fraction(number, false);
            case ByteString bytes -> out.bytes(bytes.toByteArray());
            case EnumValueDescriptor name when name.getIndex() < 0 -> out.raw(Integer.toString(name.getNumber()));
            case EnumValueDescriptor name -> out.text(name.getName());
            case Message message -> message(message, out);
            default -> {
                String text = value.toString();
                if (text.indexOf('\uFFFD') >= 0 && !field.needsUtf8Check()) { // It may stand for any bytes.
                    throw new Undecodable("a text is not UTF-8");
                }
                out.text(text);
            }
        }
    }

    private static void message(Message message, JsonOut out) throws Undecodable {
        Descriptor type = message.getDescriptorForType();
        switch (type.getFullName()) {
            case GOOGLE + "Timestamp" -> out.text(JsonOut.instant(part(message, 1), nanos(message, 0), -1));
            case GOOGLE + "Duration" ->
                out.raw(BigDecimal.valueOf(part(message, 1))
                        .add(BigDecimal.valueOf(nanos(message, -NANOS_MAX), 9))
                        .stripTrailingZeros()
                        .toPlainString());
            case String name
            when type.getFile().getName().equals("google/protobuf/wrappers.proto") -> {
                FieldDescriptor value = type.findFieldByNumber(1);
                value(value, message.getField(value), out);
            }
            case String _ -> write(message, out);
        }
    }

    private static long nanos(Message message, int least) throws Undecodable {
        long nanos = part(message, 2);
        if (nanos < least || nanos > NANOS_MAX) {
            throw new Undecodable(nanos + " are no nanoseconds of a second");
        }
        return nanos;
    }

    private static long part(Message message, int number) {
        return ((Number) message.getField(message.getDescriptorForType().findFieldByNumber(number))).longValue();
    }
}
