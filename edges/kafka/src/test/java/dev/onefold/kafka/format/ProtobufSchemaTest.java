package dev.onefold.kafka.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProtobufSchemaTest {
    static FieldDescriptorProto.Builder field(String name, int number, FieldDescriptorProto.Type type) {
        return FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
    }

    private static FieldDescriptorProto.Builder message(String name, int number, String type) {
        return field(name, number, FieldDescriptorProto.Type.TYPE_MESSAGE).setTypeName(type);
    }

    private static final FileDescriptorProto OTHER = FileDescriptorProto.newBuilder()
            .setName("other.proto")
            .setPackage("shop")
            .setSyntax("proto3")
            .addMessageType(DescriptorProto.newBuilder()
                    .setName("Line")
                    .addField(field("amount", 1, FieldDescriptorProto.Type.TYPE_UINT64)))
            .build();
    private static final FileDescriptorProto FILE = FileDescriptorProto.newBuilder()
            .setName("order.proto")
            .setPackage("shop")
            .setSyntax("proto3")
            .addDependency("x/another-name.proto")
            .addEnumType(EnumDescriptorProto.newBuilder()
                    .setName("State")
                    .addValue(EnumValueDescriptorProto.newBuilder()
                            .setName("OPEN")
                            .setNumber(0))
                    .addValue(EnumValueDescriptorProto.newBuilder()
                            .setName("PAID")
                            .setNumber(2)))
            .addMessageType(DescriptorProto.newBuilder().setName("First"))
            .addMessageType(DescriptorProto.newBuilder()
                    .setName("Around")
                    .addNestedType(DescriptorProto.newBuilder()
                            .setName("Order")
                            .addField(field("order_id", 1, FieldDescriptorProto.Type.TYPE_INT64))
                            .addField(field("state", 2, FieldDescriptorProto.Type.TYPE_ENUM)
                                    .setTypeName(".shop.State"))
                            .addField(message("at", 3, ".google.protobuf.Timestamp"))
                            .addField(message("lines", 4, ".shop.Line")
                                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
                            .addField(message("tags", 5, ".shop.Around.Order.TagsEntry")
                                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
                            .addField(field("card", 6, FieldDescriptorProto.Type.TYPE_STRING)
                                    .setOneofIndex(0))
                            .addField(field("cash", 7, FieldDescriptorProto.Type.TYPE_BOOL)
                                    .setOneofIndex(0))
                            .addField(message("discount", 8, ".google.protobuf.DoubleValue"))
                            .addField(field("signed", 9, FieldDescriptorProto.Type.TYPE_SINT32)
                                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
                            .addField(message("took", 10, ".google.protobuf.Duration"))
                            .addOneofDecl(OneofDescriptorProto.newBuilder().setName("how"))
                            .addNestedType(DescriptorProto.newBuilder()
                                    .setName("TagsEntry")
                                    .setOptions(MessageOptions.newBuilder().setMapEntry(true))
                                    .addField(field("key", 1, FieldDescriptorProto.Type.TYPE_INT32))
                                    .addField(field("value", 2, FieldDescriptorProto.Type.TYPE_BYTES)))))
            .build();

    private static String text(FileDescriptorProto file) {
        return Base64.getEncoder().encodeToString(file.toByteArray());
    }

    /// The JSON of a record: the indexes of its message, and the message.
    private static String json(String hex) throws Undecodable {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        return new String(
                Schema.of(Encoded.PROTOBUF, List.of(text(OTHER), text(FILE))).json(new Cursor(bytes)),
                StandardCharsets.UTF_8);
    }

    @Test
    void a_message_is_found_by_its_place_in_the_file() throws Undecodable {
        assertThat(json("00")).isEqualTo("{}"); // The first one, in one byte.
        assertThat(json("02 00")).isEqualTo("{}");
        assertThat(json("04 02 00 08 07")).startsWith("{\"order_id\":7,");
        assertThatThrownBy(() -> json("02 06")).hasMessage("there is no number 3 among 2");
    }

    @Test
    void fields_have_the_names_and_values_of_the_proto_file() throws Undecodable {
        assertThat(json("04 02 00"
                        + "08ffffffffffffffff7f" // The greatest long.
                        + "1002" // An enum.
                        + "1a0608c8ba9ed006"
                        + "2202" + "0801" + "220b08ffffffffffffffffff01"
                        + "2a05" + "0802120101"
                        + "3202" + "6869" // A oneof, of which the last one counts.
                        + "3801"
                        + "4209" + "099a9999999999b93f"
                        + "4a03" + "010204" // Packed.
                        + "5208" + "0801" + "1080cab5ee01"
                        + "f20700")) // A field that is not known.
                .isEqualTo("{\"order_id\":9223372036854775807,\"state\":\"PAID\",\"at\":\"2026-05-15T22:25:12Z\","
                        + "\"lines\":[{\"amount\":1},{\"amount\":18446744073709551615}],\"tags\":{\"2\":\"AQ==\"},"
                        + "\"cash\":true,\"discount\":0.1,\"signed\":[-1,1,2],\"took\":1.5}");
    }

    @Test
    void a_field_that_proto3_does_not_write_has_its_default_and_others_are_missing() throws Undecodable {
        assertThat(json("04 02 00"))
                .isEqualTo("{\"order_id\":0,\"state\":\"OPEN\",\"lines\":[],\"tags\":{},\"signed\":[]}");
        assertThat(json("04 02 00 1007 4200"))
                .isEqualTo("{\"order_id\":0,\"state\":7,\"lines\":[],\"tags\":{},\"discount\":0.0,\"signed\":[]}");
    }

    @Test
    void any_other_bytes_are_a_message_or_refused_and_nothing_else() {
        byte[] good = HexFormat.of().parseHex("040200080710021a0608c8ba9ed0062202080142090900000000000000004a03010204");
        Seeds.forAllSeeds(3_000, random -> {
            byte[] bytes = good.clone();
            for (int i = 0; i < 3; i++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(json(HexFormat.of().formatHex(bytes, 0, random.nextInt(bytes.length + 1))))
                        .startsWith("{");
            } catch (Undecodable e) {
                assertThat(e.getMessage()).isNotEmpty();
            }
        });
    }

    @Test
    void a_registry_that_knows_no_serialized_form_is_refused_with_the_way_out() {
        assertThatThrownBy(() -> Schema.of(Encoded.PROTOBUF, List.of("syntax = \"proto3\"; message A {}")))
                .hasMessageContaining("write 'descriptors: FILE' with 'message: NAME'");
    }
}
