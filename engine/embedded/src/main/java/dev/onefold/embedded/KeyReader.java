package dev.onefold.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.fold.KeyedFold;
import dev.onefold.embedded.guard.Answers;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.rows.Keys.TableRow;
import dev.onefold.embedded.view.View;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SequencedSet;
import java.util.function.Function;
import java.util.function.Supplier;

/// Reads the keys and tables of a function.
///
/// The rows of a table are found by a look at every record of its shards: about 0.1 s for a million. Those of
/// one key are in one shard.
final class KeyReader {
    private static final Comparator<TableRow> ORDER =
            Comparator.comparing(row -> row.id().key());
    private static final long ROW_OVERHEAD_BYTES = 120;

    private final Guard guard;
    private final Supplier<View> serving;
    private final EngineLimits settings;

    KeyReader(Guard guard, Supplier<View> serving, EngineLimits settings) {
        this.guard = guard;
        this.serving = serving;
        this.settings = settings;
    }

    Optional<KeyState> state(List<String> key) {
        return guard.reading(() -> {
            View view = serving.get();
            return view.fold.keyed().state(Key.bytes(view.pipeline, key));
        });
    }

    <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
        Objects.requireNonNull(query, "The query is null");
        Objects.requireNonNull(reader, "The reader is null");
        return reader.apply(tables(query));
    }

    private TableAnswer tables(TableQuery query) {
        return guard.reading(() -> {
            View view = serving.get();
            KeyedFold fold = view.fold.keyed();
            Processing processing = fold.processing();
            Budget budget = new Budget(Math.min(
                    Answers.bytesMax(settings.stateBytesMax()),
                    Runtime.getRuntime().maxMemory() / 4));
            List<TableAnswer.Table> tables = new ArrayList<>();
            for (String name : query.tables()) {
                int table = processing
                        .table(name)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "There is no table " + name + "; there is " + processing.tableNames()));
                First first = new First(query.limit(), budget);
                Optional<List<String>> key = query.key();
                if (key.isPresent() && processing.tables().get(table).isShared(view.pipeline.input())) {
                    fold.forEachSharedRow(table, key.get(), first::add);
                } else {
                    fold.forEachRow(
                            table,
                            key.map(parts -> Key.bytes(view.pipeline, parts)).orElse(null),
                            first::add);
                }
                tables.add(table(name, processing, first.sorted()));
            }
            return new TableAnswer(
                    tables,
                    new Answer.Cut(
                            view.state.sources.covered(), settings.clock().instant()));
        });
    }

    /// Limits the heap that the rows of one answer take.
    private static final class Budget {
        private final long bytesMax;
        private long bytes;

        Budget(long bytesMax) {
            this.bytesMax = bytesMax;
        }

        void change(TableRow row, int sign) {
            bytes += sign
                    * (ROW_OVERHEAD_BYTES
                            + row.content().length
                            + row.id().key().bytes().length);
            if (bytes > bytesMax) {
                throw new EngineException(
                        EngineException.Kind.ANSWER_REFUSED,
                        "The rows of the answer take more than " + bytesMax
                                + " bytes of memory. Ask for less: a key, or a limit.");
            }
        }
    }

    /// The first rows in their order.
    private static final class First {
        private final long limit;
        private final Budget budget;
        private final PriorityQueue<TableRow> rows = new PriorityQueue<>(ORDER.reversed());

        First(long limit, Budget budget) {
            this.limit = limit;
            this.budget = budget;
        }

        void add(TableRow row) {
            if (rows.size() == limit && ORDER.compare(row, rows.peek()) > 0) {
                return;
            }
            rows.add(row);
            budget.change(row, 1);
            if (rows.size() > limit) {
                budget.change(rows.remove(), -1);
            }
        }

        List<TableRow> sorted() {
            List<TableRow> sorted = new ArrayList<>(rows);
            sorted.sort(ORDER);
            return sorted;
        }
    }

    private static TableAnswer.Table table(String name, Processing processing, List<TableRow> rows) {
        Type.Fields type =
                processing.code() == null ? null : processing.code().tables().get(name);
        SequencedSet<String> columns = new LinkedHashSet<>();
        if (type != null) {
            type.components().forEach(component -> columns.add(component.name()));
        } else {
            rows.forEach(
                    row -> columns.addAll(Value.read(row.content()).components().keySet()));
        }
        return new TableAnswer.Table(name, List.copyOf(columns), new Decoded(rows));
    }

    /// Rows that are decoded when they are read.
    private static final class Decoded extends AbstractList<Value.Fields> {
        private final List<TableRow> rows;

        Decoded(List<TableRow> rows) {
            this.rows = rows;
        }

        @Override
        public Value.Fields get(int index) {
            return Value.read(rows.get(index).content());
        }

        @Override
        public int size() {
            return rows.size();
        }
    }
}
