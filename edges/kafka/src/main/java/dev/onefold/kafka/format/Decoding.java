package dev.onefold.kafka.format;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.core.pipeline.Origin.Encoding;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// Decodes keys and values as a pipeline's input has them. In front of one is a header:
///
///     0  id of the schema, 4 bytes                           Confluent and others
///     3  0, or 5 if zlib compresses the value   id, 16 bytes   AWS Glue
///
/// A message of Protobuf begins with neither 0 nor 3, so it may come without one where its descriptors are in a file.
/// Not thread-safe.
public final class Decoding {
    private static final int CONFLUENT = 0;
    private static final int GLUE = 3;
    private static final int DEFLATED = 5;
    private static final int GLUE_ID_BYTES = 16;

    private final Encoding encoding;
    private final @Nullable Schemas schemas;
    private final @Nullable Descriptor message; // Of a file.
    private final @Nullable ProtobufSchema descriptors;

    /// @param folder of the pipeline file
    /// @param copies folder for copies of schemas
    /// @param isCopying whether it adds copies; two that do must not share the folder
    /// @param authorization at the registry
    /// @throws IllegalArgumentException if the file of descriptors is none
    public Decoding(Encoding encoding, Path folder, Path copies, boolean isCopying, Optional<String> authorization) {
        this.encoding = encoding;
        schemas = encoding.registry()
                .<Schemas>map(
                        address -> new Registry(address, authorization, new SchemaCopies(copies, address, isCopying)))
                .or(() -> encoding.schemas().map(name -> new Schemas.Folder(folder.resolve(name))))
                .orElse(null);
        Path file = encoding.descriptors().map(folder::resolve).orElse(null);
        try {
            descriptors = file == null
                    ? null
                    : ProtobufSchema.of(FileDescriptorSet.parseFrom(Files.readAllBytes(file))
                            .getFileList());
        } catch (IOException | Undecodable e) {
            throw new IllegalArgumentException(
                    "The file of descriptors " + file + " cannot be used: " + e.getMessage(), e);
        }
        String name = encoding.message().orElse("");
        message = descriptors == null
                ? null
                : descriptors
                        .find(name)
                        .orElseThrow(() -> new IllegalArgumentException("There is no message " + name + " in " + file));
    }

    public boolean hasKeys() {
        return encoding.keys().isPresent();
    }

    /// The JSON of a value.
    public byte[] value(byte[] bytes) throws Awaited, Undecodable {
        return json(new Cursor(bytes), encoding.values());
    }

    /// The JSON of a key.
    public byte[] key(byte[] bytes) throws Awaited, Undecodable {
        return json(new Cursor(bytes), encoding.keys());
    }

    /// What a record waits for now.
    public Awaited awaiting(Awaited record) {
        String why =
                schemas != null && schemas.find(record.schema()) instanceof Schemas.Answer.Open open ? open.why() : "";
        return new Awaited(record.schema(), why);
    }

    private byte[] json(Cursor in, Optional<Encoded> format) throws Undecodable, Awaited {
        if (message != null && !in.begins(CONFLUENT)) {
            return message(message, in);
        }
        int kind = in.next();
        if (kind == CONFLUENT) {
            long id = Long.reverseBytes(in.part(Integer.BYTES).fixed(Integer.BYTES)) >>> Integer.SIZE;
            return descriptors != null
                    ? message(descriptors.at(in), in)
                    : schema(Long.toString(id), format).json(in);
        }
        if (kind == GLUE && encoding.registry().isPresent()) {
            throw new Undecodable("it has the header of AWS Glue, whose registry is not read; write 'schemas: FOLDER'"
                    + " instead of the registry");
        }
        if (kind != GLUE) {
            throw new Undecodable("it begins with the byte " + kind + ", and not with the header of a registry");
        }
        int compression = in.next();
        byte[] id = in.part(GLUE_ID_BYTES).take();
        if (compression != 0 && compression != DEFLATED) {
            throw new Undecodable("its header names the compression " + compression);
        }
        String hex = HexFormat.of().formatHex(id);
        String uuid = hex.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5");
        return schema(uuid, format).json(compression == 0 ? in : inflated(in));
    }

    private Schema schema(String id, Optional<Encoded> format) throws Undecodable, Awaited {
        if (schemas == null || format.equals(Optional.of(Encoded.JSON_SCHEMA))) {
            return new Schema.Json(); // It says itself what it is.
        }
        return switch (schemas.find(id)) {
            case Schemas.Answer.Open(String why) -> throw new Awaited(id, why);
            case Schemas.Answer.Unknown(String why) -> throw new Undecodable(why);
            case Schemas.Answer.Known(Schema schema) -> {
                if (format.isPresent() && schema.format() != format.get()) {
                    throw new Undecodable(
                            "its schema " + id + " is of " + schema.format().word() + ", and not of "
                                    + format.get().word());
                }
                yield schema;
            }
        };
    }

    private byte[] message(Descriptor type, Cursor in) throws Undecodable {
        if (!type.equals(message)) {
            throw new Undecodable("it is the message " + type.getFullName() + " by its header");
        }
        JsonOut out = new JsonOut();
        ProtobufSchema.write(type, in.take(), out);
        return out.written();
    }

    private static Cursor inflated(Cursor in) throws Undecodable {
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(in.take());
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] some = new byte[8 << 10];
            while (!inflater.finished()) {
                int length = inflater.inflate(some);
                if (length == 0) {
                    throw new Undecodable("its compressed bytes end too early");
                }
                all.write(some, 0, length);
                if (all.size() > Limits.RECORD_BYTES_MAX) {
                    throw new Undecodable("it has more than " + Limits.RECORD_BYTES_MAX + " bytes");
                }
            }
            return new Cursor(all.toByteArray());
        } catch (DataFormatException e) {
            throw new Undecodable("its compressed bytes are damaged: " + e.getMessage());
        }
    }
}
