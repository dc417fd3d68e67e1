package dev.onefold.core.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Processor;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The state that a runtime stores of one key, as bytes; each change is stored as a runtime must store it.
final class StoredKey implements Store {
    byte @Nullable [] head;
    final TreeMap<Long, byte[]> kept = new TreeMap<>();
    byte @Nullable [] base;
    final Map<RowId, byte[]> rows = new TreeMap<>();
    int reads;

    @Override
    public List<Kept> kept(long from) {
        reads++;
        return kept.tailMap(from).values().stream().map(Kept::read).toList();
    }

    @Override
    public Base base() {
        return Base.read(Objects.requireNonNull(base));
    }

    @Override
    public Map<RowId, byte[]> rows(Collection<RowId> wanted) {
        Map<RowId, byte[]> found = new HashMap<>(rows);
        found.keySet().retainAll(wanted);
        return found;
    }

    @Nullable
    Head head() {
        return head == null ? null : Head.read(head);
    }

    void put(Change change) {
        Head before = head();
        assertThat(change.head().revision()).isEqualTo(before == null ? 1 : before.revision() + 1);
        head = change.head().encoded();
        change.kept()
                .forEach(each ->
                        assertThat(kept.put(each.ordinal(), each.encoded())).isNull());
        change.dropped().forEach(ordinal -> assertThat(kept.remove(ordinal)).isNotNull());
        if (change.dropsBase()) {
            base = null;
        } else if (change.base() != null) {
            base = change.base().encoded();
        }
        change.rows().forEach(row -> {
            assertThat(rows.get(row.row())).isEqualTo(row.before());
            if (row.after() == null) {
                rows.remove(row.row());
            } else {
                rows.put(row.row(), row.after());
            }
        });
        assertThat(kept).hasSize(change.head().window().count());
    }

    Map<String, String> table() {
        Map<String, String> table = new TreeMap<>();
        rows.forEach((row, content) -> table.put(
                row.table() + row.key().toString(), Value.read(content).toJson()));
        return table;
    }

    String context() {
        return Value.read(Head.read(Objects.requireNonNull(head)).context()).toJson();
    }

    static final byte[] KEY = "k".getBytes(StandardCharsets.UTF_8);

    /// A function behind a pipeline with this section.
    static StepFunction function(String process, String rollups, Processor<?, ?> processor) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{" + process + "}"
                + rollups + "}";
        Pipeline pipeline = switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
        return new StepFunction(LoadedFunction.of(pipeline, processor), StepFunction.Caller.DIRECT, impurity -> {
            throw new AssertionError(impurity.toString());
        });
    }

    static Arrival arrival(int version, byte[] content, boolean redriven) {
        byte[] origin = (version + "/" + Arrays.hashCode(content)).getBytes(StandardCharsets.UTF_8);
        return new Arrival(
                VersionBytes.of(BigInteger.valueOf(version)),
                content,
                origin,
                redriven ? Arrival.Way.REDRIVEN : Arrival.Way.ARRIVED);
    }

    /// The content of an event with these fields.
    static <E extends Record> byte[] content(Codec<E> codec, E event) {
        byte[] fields = codec.encode(event);
        return Arrival.counted(fields, 0, fields.length);
    }

    /// Folds one event in a step of its own.
    Verdict fold(StepFunction function, int version, byte[] content) {
        KeyFold fold = new KeyFold(function, KEY, head(), this);
        Verdict verdict = fold.fold(arrival(version, content, false));
        letters = fold.hasChanged() ? fold.change().letters() : List.of();
        if (fold.hasChanged()) {
            put(fold.change());
        }
        return verdict;
    }

    /// Of the last event.
    List<Change.Letter> letters = List.of();
}
