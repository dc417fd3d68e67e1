package dev.onefold.oracle.generate;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Makes the records of one pipeline. Keys and versions come from small pools, so that versions meet: later,
/// earlier, the same again, and the same with other content.
final class RandomRecords {
    private static final int RECORDS_MIN = 5;
    private static final int RECORDS_MAX = 60;
    private static final List<Value> WRONG = List.of(
            new Value.Raw("{}"),
            new Value.Raw("[]"),
            new Value.Raw("[1,2]"),
            new Value.Raw("{\"a\":{\"b\":1}}"),
            new Value.Text("x"),
            new Value.Flag(true));

    private final Chance chance;
    private final RandomPipeline pipeline;
    private final Damage damage;
    private final List<Map<Field, Value>> events = new ArrayList<>();
    private final List<byte[]> lines = new ArrayList<>();

    RandomRecords(Chance chance, RandomPipeline pipeline) {
        this.chance = chance;
        this.pipeline = pipeline;
        damage = new Damage(chance, pipeline.isCsv(), pipeline.delimiter());
        if (pipeline.hasHeader()) {
            lines.add(bytes(new CsvLines(chance, pipeline.delimiter()).header(pipeline.fields())));
        }
        for (int count = chance.between(RECORDS_MIN, RECORDS_MAX); count > 0; count--) {
            lines.add(record());
        }
    }

    List<byte[]> lines() {
        return lines;
    }

    private byte[] record() {
        int kind = events.isEmpty() ? 99 : chance.between(0, 99);
        if (kind < 8) {
            return lines.get(chance.between(pipeline.hasHeader() ? 1 : 0, lines.size() - 1));
        }
        if (kind < 18) {
            return write(chance.of(events)); // The same event, spelled otherwise.
        }
        if (kind < 32) {
            return write(otherContent(chance.of(events)));
        }
        if (kind < 36) {
            return twice(chance.of(events));
        }
        if (kind < 40) {
            Map<Field, Value> broken = new LinkedHashMap<>(fresh());
            broken.put(chance.of(pipeline.fields()), damage.value());
            return write(broken);
        }
        Map<Field, Value> event = fresh();
        events.add(event);
        return kind < 46 ? damage.line(write(event)) : write(event);
    }

    private Map<Field, Value> fresh() {
        Map<Field, Value> event = new LinkedHashMap<>();
        for (Field field : pipeline.fields()) {
            boolean identity = pipeline.key().contains(field) || field.equals(pipeline.version());
            event.put(field, value(field, identity ? 1 : 5));
        }
        return event;
    }

    private Value value(Field field, int strangePercent) {
        if (chance.percent(strangePercent)) {
            return chance.percent(50) ? new Value.Absent() : new Value.Null();
        }
        if (chance.percent(1)) {
            return chance.of(WRONG);
        }
        return chance.of(field.pool());
    }

    /// The same key and version, and something else in one or two other fields.
    private Map<Field, Value> otherContent(Map<Field, Value> event) {
        Map<Field, Value> other = new LinkedHashMap<>(event);
        List<Field> content = new ArrayList<>(pipeline.fields());
        content.removeAll(pipeline.key());
        content.removeIf(field -> field.equals(pipeline.version()));
        for (int count = chance.between(1, 2); count > 0; count--) {
            Field field = chance.of(content);
            other.put(field, value(field, 10));
        }
        return other;
    }

    /// One of the fields stands in the object twice, with the same or another value. CSV has no such thing.
    private byte[] twice(Map<Field, Value> event) {
        byte[] line = write(event);
        Field field = chance.of(pipeline.fields());
        String again = new Spelling(chance).json(chance.of(field.pool()), field);
        if (pipeline.isCsv() || field.path().size() > 1 || again == null) {
            return line;
        }
        String text = new String(line, StandardCharsets.UTF_8);
        String name = new Spelling(chance).quoted(field.path().getFirst());
        return bytes("{" + name + ":" + again + "," + text.substring(text.indexOf('{') + 1));
    }

    private byte[] write(Map<Field, Value> event) {
        if (pipeline.isCsv()) {
            return bytes(new CsvLines(chance, pipeline.delimiter()).write(pipeline.fields(), event));
        }
        String json = new JsonLines(chance).write(event);
        if (!pipeline.isWrapped()) {
            return bytes(json);
        }
        String inner = chance.percent(50) ? json : new Spelling(chance).quoted(json);
        return bytes("{\"Type\":\"Notification\",\"Message\":" + inner + "}");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
