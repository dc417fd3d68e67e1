package dev.onefold.kafka.format;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.onefold.core.pipeline.Origin.Encoded;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/// How the bytes of a record are read.
sealed interface Schema {
    /// A value of Avro's binary form.
    record Avro(AvroType type) implements Schema {}

    /// A message of Protobuf, which its record names by its place in the last file.
    record Protobuf(ProtobufSchema files) implements Schema {}

    /// JSON as it is.
    record Json() implements Schema {}

    /// @param texts as a registry has them, those that a schema refers to in front of it
    static Schema of(Encoded format, List<String> texts) throws Undecodable {
        return switch (format) {
            case AVRO -> new Avro(AvroSchema.read(texts));
            case JSON_SCHEMA -> new Json();
            case PROTOBUF -> {
                List<FileDescriptorProto> files = new ArrayList<>();
                for (String text : texts) {
                    try {
                        files.add(FileDescriptorProto.parseFrom(
                                Base64.getDecoder().decode(text)));
                    } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
                        throw new IllegalStateException(
                                "the registry does not give serialized descriptors of Protobuf; write"
                                        + " 'descriptors: FILE' with 'message: NAME' instead of the registry");
                    }
                }
                yield new Protobuf(ProtobufSchema.of(files));
            }
        };
    }

    default Encoded format() {
        return switch (this) {
            case Avro _ -> Encoded.AVRO;
            case Protobuf _ -> Encoded.PROTOBUF;
            case Json _ -> Encoded.JSON_SCHEMA;
        };
    }

    /// The JSON of a record.
    ///
    /// @param in behind the header
    default byte[] json(Cursor in) throws Undecodable {
        JsonOut out = new JsonOut();
        switch (this) {
            case Avro avro -> new AvroValue(in, out).write(avro.type);
            case Protobuf protobuf -> ProtobufSchema.write(protobuf.files.at(in), in.take(), out);
            case Json _ -> {
                return in.take();
            }
        }
        if (in.remaining() > 0) {
            throw new Undecodable(in.remaining() + " bytes are behind its end");
        }
        return out.written();
    }
}
