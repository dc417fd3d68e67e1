package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.examples.Clone;
import dev.onefold.examples.Shell;
import dev.onefold.fixtures.SharedData;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Feeds of earthquakes, polled for 20 days, in batches of 100: 93 % of the messages are duplicates.
class EarthquakeBatchesTest {
    private static final String EVENTS = "usgs-earthquake-polls/polls-hour-day-significant.ndjson.gz";
    private static final String ORACLE = "usgs-earthquake-polls/oracle.json";

    @TempDir
    private Path folder;

    @Test
    void each_message_is_in_one_batch_in_the_order_of_its_first_delivery() throws IOException {
        JsonNode right = RealInput.oracle(ORACLE).get("hourDaySignificant");
        Shell shell = new Shell(folder.resolve("data"));
        Path pipeline = folder.resolve("batches.yaml");
        Files.writeString(pipeline, Clone.text("examples/earthquakes/batches.yaml"));
        Files.createDirectory(folder.resolve("drop"));

        Shell.Said said = shell.run("./onefold run " + pipeline + " --input " + SharedData.file(EVENTS) + " --seal");
        assertThat(said.code()).as(said.err()).isZero();

        List<List<String>> batches = batches(folder.resolve("drop"));
        assertThat(batches).hasSize(right.get("batchesOf100").asInt());
        assertThat(batches.subList(0, batches.size() - 1)).allMatch(batch -> batch.size() == 100);
        assertThat(hash(batches.getFirst()))
                .isEqualTo(right.get("sha256OfFirstBatch").asText());
        assertThat(hash(batches.getLast()))
                .isEqualTo(right.get("sha256OfLastBatch").asText());
        List<String> all = batches.stream().flatMap(List::stream).toList();
        assertThat(all).hasSize(right.get("uniqueMessages").asInt());
        assertThat(hash(all))
                .isEqualTo(right.get("sha256OfAllUniqueInFirstDeliveryOrder").asText());
        assertThat(shell.run("./onefold batches verify " + folder.resolve("drop"))
                        .code())
                .isZero();
        assertThat(shell.run("./onefold dead-letters " + pipeline + " list").out())
                .contains(right.get("sameIdentityDifferentContent").size() + " dead letters");
    }

    /// What the batches hold, as the oracle names messages.
    private static List<List<String>> batches(Path drop) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(drop)) {
            files = all.filter(file -> file.toString().endsWith(".ndjson"))
                    .sorted()
                    .toList();
        }
        ObjectMapper json = new ObjectMapper();
        List<List<String>> batches = new ArrayList<>();
        for (Path file : files) {
            List<String> names = new ArrayList<>();
            for (String line : Files.readAllLines(file)) {
                JsonNode message = json.readTree(line);
                names.add(message.get("id").asText() + "@" + message.get("updated"));
            }
            batches.add(names);
        }
        return batches;
    }

    private static String hash(List<String> names) {
        return Sha256.hex(String.join("\n", names).getBytes(StandardCharsets.UTF_8));
    }
}
