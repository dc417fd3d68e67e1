package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Events captured from stand-ins of the services, and the samples that the services' own libraries ship, against an
/// oracle that shares no code with the product.
class RealEventsTest {
    private static final String KINESIS = "kinesis-lambda-events.ndjson.gz";
    private static final String TABLE = "dynamodb-lambda-events.ndjson.gz";

    @Test
    void kinesis_events_decode_to_their_oracle() {
        JsonNode oracle = RealInput.oracle("kinesis");
        Map<String, Integer> perShard = new TreeMap<>();
        Map<String, JsonNode> latest = new HashMap<>();
        Set<String> places = new HashSet<>();
        Set<String> sequences = new HashSet<>();
        for (String line : RealInput.lines(KINESIS)) {
            for (Arrival arrival : Events.arrivals(line)) {
                perShard.merge(arrival.shard().replaceFirst(".*/", ""), 1, Integer::sum);
                assertThat(places.add(Events.place(arrival))).isTrue();
                sequences.add(arrival.shard() + arrival.sequence());
                JsonNode event = RealInput.json(arrival.data());
                latest.merge(
                        event.get("runner").asText(),
                        event,
                        (a, b) -> a.get("mat").asInt() >= b.get("mat").asInt() ? a : b);
            }
        }
        assertThat(places).hasSize(oracle.get("userRecords").asInt());
        assertThat(sequences).hasSize(oracle.get("kinesisRecords").asInt());
        JsonNode shards = oracle.get("userRecordsPerShard");
        assertThat(perShard).hasSize(shards.size());
        perShard.forEach(
                (shard, count) -> assertThat(count).isEqualTo(shards.get(shard).asInt()));
        assertThat(latest).hasSize(oracle.get("runners").asInt());
        assertThat(latest.values().stream()
                        .mapToLong(event -> event.get("metres").asLong())
                        .sum())
                .isEqualTo(oracle.get("metresTotalLatest").asLong());
    }

    @Test
    void the_parts_of_real_aggregated_records_have_their_partition_keys() {
        JsonNode oracle = RealInput.oracle("kinesis");
        int aggregated = 0;
        int parts = 0;
        for (String line : RealInput.lines(KINESIS)) {
            for (JsonNode record : RealInput.json(Events.utf8(line)).get("Records")) {
                List<Aggregated.UserRecord> found = Aggregated.split(Base64.getDecoder()
                        .decode(record.get("kinesis").get("data").asText()));
                if (found == null) {
                    continue;
                }
                aggregated++;
                parts += found.size();
                found.forEach(part -> assertThat(part.partitionKey())
                        .isEqualTo("bib-"
                                + RealInput.json(part.data()).get("runner").asText()));
            }
        }
        assertThat(aggregated).isEqualTo(oracle.get("aggregatedRecords").asInt());
        assertThat(parts + oracle.get("plainRecords").asInt())
                .isEqualTo(oracle.get("userRecords").asInt());
    }

    @Test
    void table_events_decode_to_their_oracle_through_an_ordinary_pipeline() {
        JsonNode oracle = RealInput.oracle("dynamodb");
        Pipeline pipeline = PipelineBuilder.named("favourites")
                .key("Keys.user", "Keys.item")
                .version("SequenceNumber")
                .delete("eventName = \"REMOVE\"")
                .rollup("by-user", rollup -> rollup.levels("NewImage.user").count("stars"))
                .rollup("by-item", rollup -> rollup.levels("NewImage.item").count("stars"))
                .build();
        Decoder decoder = new Decoder(pipeline);
        Map<String, Row> rows = new HashMap<>();
        int records = 0;
        for (String line : RealInput.lines(TABLE)) {
            for (Arrival arrival : Events.arrivals(line)) {
                records++;
                int length = arrival.data().length;
                assertThat(decoder.decode(Arrays.copyOf(arrival.data(), length + Decoder.PADDING), 0, length))
                        .isNull();
                Row row = Row.of(decoder.event());
                rows.merge(row.key, row, Row::later);
            }
        }
        assertThat(records).isEqualTo(oracle.get("records").asInt());
        List<Row> left = rows.values().stream()
                .filter(row -> row.kind == Event.Kind.COUNTED)
                .toList();
        assertThat(left).hasSize(oracle.get("rowsLeft").asInt());
        assertThat(stars(left, 0)).isEqualTo(counts(oracle.get("byUser")));
        assertThat(stars(left, 1)).isEqualTo(counts(oracle.get("byItem")));
    }

    private record Row(String key, byte[] version, Event.Kind kind, List<String> groups) {
        static Row of(Event event) {
            List<String> groups = event.kind == Event.Kind.COUNTED
                    ? List.of(
                            latin1(event, event.groupFrom[0], event.groupTo[0] - 2),
                            latin1(event, event.groupFrom[1], event.groupTo[1] - 2))
                    : List.of();
            return new Row(
                    latin1(event, event.keyFrom, event.keyTo),
                    Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo),
                    event.kind,
                    groups);
        }

        static Row later(Row a, Row b) {
            return Arrays.compareUnsigned(a.version, b.version) >= 0 ? a : b;
        }

        private static String latin1(Event event, int from, int to) {
            return new String(event.data, from, to - from, StandardCharsets.ISO_8859_1);
        }
    }

    private static Map<String, Integer> stars(List<Row> rows, int rollup) {
        Map<String, Integer> stars = new TreeMap<>();
        rows.forEach(row -> stars.merge(row.groups.get(rollup), 1, Integer::sum));
        return stars;
    }

    private static Map<String, Integer> counts(JsonNode oracle) {
        Map<String, Integer> counts = new TreeMap<>();
        oracle.properties()
                .forEach(entry -> counts.put(entry.getKey(), entry.getValue().asInt()));
        return counts;
    }

    @Test
    void the_samples_that_the_services_libraries_ship_are_read_record_by_record() throws IOException {
        Path samples = RealInput.file("oracle.json").resolveSibling("samples");
        int read = 0;
        try (Stream<Path> files = Files.list(samples)) {
            for (Path file : files.sorted().toList()) {
                byte[] event = RealInput.bytes(file);
                if (file.getFileName().toString().contains("kafka")) {
                    assertThatThrownBy(() -> Invocation.read(event))
                            .isInstanceOf(UnreadableEvent.class)
                            .hasMessageContaining("Kafka");
                    continue;
                }
                JsonNode records = RealInput.json(event).get("Records");
                Invocation invocation = Invocation.read(event);
                if (records == null) {
                    assertThat(invocation).as(file.toString()).isEqualTo(new Invocation.Tick());
                    continue;
                }
                switch (invocation) {
                    case Invocation.Batch(List<Arrival> arrivals, var _) -> compare(records, arrivals);
                    case Invocation.Messages(List<Message> messages) ->
                        assertThat(messages)
                                .extracting(Message::body)
                                .containsExactlyElementsOf(records.findValuesAsText("body"));
                    case Invocation.Tick _ -> throw new AssertionError(file + " has records.");
                }
                read++;
            }
        }
        assertThat(read).isGreaterThanOrEqualTo(16);
    }

    private static void compare(JsonNode records, List<Arrival> arrivals) {
        assertThat(arrivals).hasSameSizeAs(records);
        for (int i = 0; i < records.size(); i++) {
            JsonNode kinesis = records.get(i).get("kinesis");
            Arrival arrival = arrivals.get(i);
            if (kinesis != null) {
                assertThat(arrival.sequence())
                        .isEqualTo(kinesis.get("sequenceNumber").asText());
                assertThat(arrival.data())
                        .isEqualTo(
                                Base64.getDecoder().decode(kinesis.get("data").asText()));
            } else {
                JsonNode plain = RealInput.json(arrival.data());
                assertThat(plain.get("eventName")).isEqualTo(records.get(i).get("eventName"));
                assertThat(plain.get("SequenceNumber"))
                        .isEqualTo(records.get(i).get("dynamodb").get("SequenceNumber"));
            }
        }
    }
}
