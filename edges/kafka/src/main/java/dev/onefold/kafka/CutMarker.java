package dev.onefold.kafka;

import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/// The last record of a cut in each partition; with another key, the word of an owner that it owns the topic.
///
/// @param pipeline whose totals the topic has
/// @param generation of the owner: of two owners the later one has the greater one
/// @param partitions those that groups are in: the first ones of the topic
/// @param mark of the cut; of an owner its own name, and the time at which it began
record CutMarker(String pipeline, long generation, int partitions, Mark mark) {
    static final String KEY = ":onefold";
    static final String OWNER_KEY = ":onefold-owner";
    static final String CUT_HEADER = "onefold-cut";
    static final String GENERATION_HEADER = "onefold-generation";

    /// The headers of each record of a cut.
    List<Header> headers() {
        return List.of(header(CUT_HEADER, mark.cut()), header(GENERATION_HEADER, generation));
    }

    private static Header header(String name, long number) {
        return new RecordHeader(name, Long.toString(number).getBytes(StandardCharsets.US_ASCII));
    }

    /// @param changes records of the cut in the partition, this one left out
    byte[] json(long changes) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("pipeline", pipeline);
        json.put("cut", mark.cut());
        json.put("generation", generation);
        json.put("changes", changes);
        json.put("partitions", partitions);
        json.put("writer", mark.writer());
        json.put("at", mark.at().toString());
        return Json.of(json).getBytes(StandardCharsets.UTF_8);
    }

    /// Reads a marker; empty if it is none.
    static Optional<CutMarker> read(byte[] value) {
        Node json = JsonText.read(new String(value, StandardCharsets.UTF_8), new Problems());
        if (!(json instanceof Node.Mapping marker)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new CutMarker(
                    text(marker, "pipeline"),
                    Long.parseLong(text(marker, "generation")),
                    Integer.parseInt(text(marker, "partitions")),
                    new Mark(
                            Long.parseLong(text(marker, "cut")),
                            text(marker, "writer"),
                            Instant.parse(text(marker, "at")))));
        } catch (IllegalArgumentException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String text(Node.Mapping marker, String name) {
        return marker.find(name) instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /// Whether this one was written behind the other one.
    boolean isBehind(CutMarker other) {
        return generation > other.generation || generation == other.generation && mark.cut() > other.mark.cut();
    }
}
