package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.NewVersion;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.pipeline.TimeType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// `docs/pipeline.schema.json` agrees with the reader.
class SchemaTest {
    private static final Path SCHEMA = Path.of("../..", "docs", "pipeline.schema.json");

    @Test
    void the_schema_and_the_reader_know_the_same_settings() throws IOException {
        Node schema = schema();
        for (Section.Kind section : Section.Kind.values()) {
            Node described = section == Section.Kind.FILE
                    ? schema
                    : at(schema, "$defs", section.name().toLowerCase(Locale.ROOT));
            assertThat(names(at(described, "properties")))
                    .as("settings of %s", section)
                    .containsExactlyElementsOf(section.names());
            assertThat(at(described, "additionalProperties"))
                    .as("other settings of %s", section)
                    .isInstanceOfSatisfying(
                            Node.Scalar.class, no -> assertThat(no.text()).isEqualTo("false"));
        }
    }

    @Test
    void the_schema_and_the_reader_know_the_same_words() throws IOException {
        Node definitions = at(schema(), "$defs");
        assertThat(texts(at(definitions, "input", "properties", "format", "enum")))
                .containsExactlyElementsOf(PipelineReader.FORMATS.keySet());
        assertThat(texts(at(definitions, "version", "properties", "type", "enum")))
                .isEqualTo(PipelineReader.versionTypes());
        assertThat(texts(at(definitions, "time", "properties", "type", "enum")))
                .isEqualTo(Stream.of(TimeType.values()).map(TimeType::word).toList());
        Node process = at(definitions, "process", "properties");
        assertThat(texts(at(process, "order", "enum")))
                .isEqualTo(Stream.of(Order.values()).map(Order::word).toList());
        assertThat(texts(at(process, "on-new-version", "enum")))
                .isEqualTo(Stream.of(NewVersion.values()).map(NewVersion::word).toList());
    }

    @Test
    void the_schema_and_the_reader_have_the_same_limits() throws IOException {
        Node schema = schema();
        assertThat(number(at(schema, "$defs", "name", "maxLength"))).isEqualTo(Limits.NAME_LENGTH_MAX);
        assertThat(number(at(schema, "properties", "rollups", "maxProperties"))).isEqualTo(Limits.ROLLUPS_MAX);
        Node rollup = at(schema, "$defs", "rollup", "properties");
        assertThat(number(at(rollup, "levels", "maxItems"))).isEqualTo(Limits.LEVELS_MAX);
        assertThat(number(at(rollup, "measures", "maxProperties"))).isEqualTo(Limits.MEASURES_MAX);
        assertThat(number(at(rollup, "measures", "propertyNames", "maxLength"))).isEqualTo(Limits.NAME_LENGTH_MAX);
        assertThat(number(at(schema, "$defs", "level", "properties", "name", "maxLength")))
                .isEqualTo(Limits.NAME_LENGTH_MAX);
        Node fields =
                ((Node.Sequence) at(schema, "$defs", "fields", "oneOf")).items().get(1);
        assertThat(number(at(fields, "maxItems"))).isEqualTo(Limits.KEY_FIELDS_MAX);
        Node let = at(schema, "$defs", "input", "properties", "let");
        assertThat(number(at(let, "maxProperties"))).isEqualTo(Limits.LETS_MAX);
        assertThat(number(at(let, "propertyNames", "maxLength"))).isEqualTo(Limits.NAME_LENGTH_MAX);
        Node process = at(schema, "$defs", "process", "properties");
        assertThat(number(at(process, "version", "maximum"))).isEqualTo(Processing.VERSION_MAX);
        assertThat(number(at(process, "keep", "maximum"))).isEqualTo(Processing.KEEP_MAX);
        assertThat(number(at(process, "keep", "default"))).isEqualTo(Processing.KEEP_DEFAULT);
        assertThat(number(at(process, "tables", "maxProperties"))).isEqualTo(Processing.TABLES_MAX);
        assertThat(number(at(process, "command", "maxItems"))).isEqualTo(Processing.Program.Command.WORDS_MAX);
    }

    @Test
    void every_reference_in_the_schema_leads_somewhere() throws IOException {
        Node schema = schema();
        List<String> references = references(schema).toList();
        assertThat(references).isNotEmpty();
        for (String reference : references) {
            String[] path = reference.substring("#/".length()).split("/");
            assertThat(at(schema, path)).as(reference).isNotNull();
        }
    }

    private static Stream<String> references(Node node) {
        return switch (node) {
            case Node.Scalar _ -> Stream.of();
            case Node.Sequence sequence -> sequence.items().stream().flatMap(SchemaTest::references);
            case Node.Mapping mapping ->
                mapping.entries().stream()
                        .flatMap(entry -> entry.name().text().equals("$ref")
                                ? Stream.of(((Node.Scalar) entry.value()).text())
                                : references(entry.value()));
        };
    }

    private static Node schema() throws IOException {
        Problems problems = new Problems();
        Node schema = JsonText.read(Files.readString(SCHEMA), problems);
        assertThat(problems.inOrder()).isEmpty();
        return schema;
    }

    private static Node at(Node node, String... path) {
        Node reached = node;
        for (String name : path) {
            reached = ((Node.Mapping) reached)
                    .entries().stream()
                            .filter(entry -> entry.name().text().equals(name))
                            .findFirst()
                            .orElseThrow(() -> new AssertionError("The schema has no " + String.join("/", path)))
                            .value();
        }
        return reached;
    }

    private static List<String> names(Node node) {
        return ((Node.Mapping) node)
                .entries().stream().map(entry -> entry.name().text()).toList();
    }

    private static List<String> texts(Node node) {
        return ((Node.Sequence) node)
                .items().stream().map(item -> ((Node.Scalar) item).text()).toList();
    }

    private static int number(Node node) {
        return Integer.parseInt(((Node.Scalar) node).text());
    }
}
