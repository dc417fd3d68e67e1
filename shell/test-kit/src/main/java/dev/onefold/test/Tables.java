package dev.onefold.test;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/// The tables of a function and the contexts of its keys, at some point. Immutable.
public final class Tables {
    private final Pipeline pipeline;
    private final Processing processing;
    private final SortedMap<RowId, byte[]> rows = new TreeMap<>();
    private final Map<Tuple, byte[]> contexts = new TreeMap<>();

    Tables(Pipeline pipeline, Processing processing, Map<Tuple, Folded> keys) {
        this.pipeline = pipeline;
        this.processing = processing;
        keys.forEach((key, folded) -> {
            rows.putAll(folded.rows());
            contexts.put(key, folded.context());
        });
    }

    /// The rows of a table as JSON, in the order of their keys.
    ///
    /// @throws IllegalArgumentException if there is no such table
    public List<String> rows(String table) {
        return rows(table, content -> Value.read(content).toJson());
    }

    /// The rows of a table, in the order of their keys.
    ///
    /// @throws IllegalArgumentException if there is no such table
    public <R extends Record> List<R> rows(String table, Class<R> type) {
        Codec<R> codec = Codec.of(type);
        return rows(table, content -> codec.decode(content, null));
    }

    private <T> List<T> rows(String table, Function<byte[], T> form) {
        int number = processing
                .table(table)
                .orElseThrow(() -> new IllegalArgumentException(
                        "There is no table " + table + "; there is " + processing.tableNames()));
        return rows.entrySet().stream()
                .filter(row -> row.getKey().table() == number)
                .map(row -> form.apply(row.getValue()))
                .toList();
    }

    /// The context of a key as JSON; empty if no event of it has come.
    ///
    /// @param key its parts, as texts
    public Optional<String> context(String... key) {
        return bytes(key).map(bytes -> Value.read(bytes).toJson());
    }

    /// The context of a key; empty if no event of it has come.
    ///
    /// @param key its parts, as texts
    public <C extends Record> Optional<C> context(Class<C> type, String... key) {
        return bytes(key).map(bytes -> Codec.of(type).decode(bytes, null));
    }

    private Optional<byte[]> bytes(String... key) {
        return Optional.ofNullable(contexts.get(new Tuple(Key.bytes(pipeline, List.of(key)))));
    }
}
