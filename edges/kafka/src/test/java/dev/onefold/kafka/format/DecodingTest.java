package dev.onefold.kafka.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.core.pipeline.Origin.Encoding;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Headers of records, with schemas from files.
class DecodingTest {
    private static final String ID = "0a1b2c3d-0000-4000-8000-0123456789ab";
    private static final String GLUE = "03%s" + ID.replace("-", "") + "%s";

    @TempDir
    Path folder;

    private Decoding decoding(Encoded values, String schemas, String descriptors, String message) {
        return new Decoding(
                new Encoding(
                        Optional.of(values),
                        Optional.empty(),
                        Optional.ofNullable(schemas),
                        Optional.ofNullable(descriptors),
                        Optional.ofNullable(message),
                        Optional.empty()),
                folder,
                folder,
                false,
                Optional.empty());
    }

    private static String value(Decoding decoding, String hex) throws Undecodable, Awaited {
        return new String(decoding.value(HexFormat.of().parseHex(hex)), StandardCharsets.UTF_8);
    }

    @Test
    void schemas_of_a_folder_are_found_by_the_ids_of_both_headers() throws Exception {
        Files.writeString(folder.resolve("7.avsc"), "\"long\"");
        Files.writeString(folder.resolve(ID + ".avsc"), "\"string\"");
        Decoding decoding = decoding(Encoded.AVRO, ".", null, null);
        assertThat(value(decoding, "0000000007" + "0e")).isEqualTo("7");
        assertThat(value(decoding, GLUE.formatted("00", "046869"))).isEqualTo("\"hi\"");
        assertThatThrownBy(() -> value(decoding, "0000000008" + "0e")).hasMessageContaining("there is no file");
        assertThatThrownBy(() -> value(decoding, "7b7d"))
                .hasMessage("it begins with the byte 123, and not with the header of a registry");
        assertThatThrownBy(() -> value(decoding, "00000000")).hasMessageContaining("beyond its end");
        assertThatThrownBy(() -> value(decoding, "")).hasMessage("it ends too early");
    }

    @Test
    void a_compressed_value_is_inflated_up_to_the_limit_of_a_record() throws Exception {
        Decoding decoding = decoding(Encoded.JSON_SCHEMA, null, null, null);
        assertThat(value(decoding, GLUE.formatted("05", deflated("{}".getBytes(StandardCharsets.UTF_8)))))
                .isEqualTo("{}");
        String bomb = deflated(new byte[20 << 20]);
        assertThatThrownBy(() -> value(decoding, GLUE.formatted("05", bomb))).hasMessageContaining("10485760 bytes");
        assertThatThrownBy(() -> value(decoding, GLUE.formatted("05", "789c"))).hasMessageContaining("end too early");
        assertThatThrownBy(() -> value(decoding, GLUE.formatted("05", "ffff"))).hasMessageContaining("damaged");
        assertThatThrownBy(() -> value(decoding, GLUE.formatted("04", "00"))).hasMessageContaining("compression 4");
    }

    private static String deflated(byte[] bytes) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflater = new DeflaterOutputStream(out)) {
            deflater.write(bytes);
        }
        return HexFormat.of().formatHex(out.toByteArray());
    }

    @Test
    void a_message_of_a_file_of_descriptors_may_have_a_header_or_none() throws Exception {
        FileDescriptorProto file = FileDescriptorProto.newBuilder()
                .setName("a.proto")
                .setPackage("shop")
                .setSyntax("proto3")
                .addMessageType(DescriptorProto.newBuilder().setName("A"))
                .addMessageType(DescriptorProto.newBuilder()
                        .setName("B")
                        .addField(ProtobufSchemaTest.field("n", 1, FieldDescriptorProto.Type.TYPE_FIXED32))
                        .addNestedType(DescriptorProto.newBuilder().setName("Inner")))
                .build();
        Files.write(
                folder.resolve("all.desc"),
                FileDescriptorSet.newBuilder().addFile(file).build().toByteArray());
        Decoding decoding = decoding(Encoded.PROTOBUF, null, "all.desc", "shop.B");
        assertThat(value(decoding, "0d02000000")).isEqualTo("{\"n\":2}");
        assertThat(value(decoding, "")).isEqualTo("{\"n\":0}");
        assertThat(value(decoding, "0000000001" + "0202" + "0dffffffff")).isEqualTo("{\"n\":4294967295}");
        assertThatThrownBy(() -> value(decoding, "0000000001" + "00"))
                .hasMessage("it is the message shop.A by its header");
        assertThat(value(decoding(Encoded.PROTOBUF, null, "all.desc", "shop.B.Inner"), "0000000001" + "040200"))
                .isEqualTo("{}");
        assertThatThrownBy(() -> decoding(Encoded.PROTOBUF, null, "all.desc", "shop.C"))
                .hasMessageContaining("There is no message shop.C in ");
    }
}
