package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Feed;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Contribution;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Computes the contributions of table rows to the roll-ups that they feed. A row is read as the JSON that it is
/// in an answer, so that levels, measures and missing values have the same meaning as for an event. Not
/// thread-safe.
public final class Feeds {
    /// Of the groups that one step may touch.
    public static final int GROUPS_MAX = 24;

    private static final byte[] PADDING = new byte[Decoder.PADDING];

    private final List<@Nullable Table> tables = new ArrayList<>();
    private final boolean feedsAny;
    private final BytesOut json = new BytesOut();

    /// A table that feeds roll-ups.
    private static final class Table {
        final List<Integer> rollups; // Their places among those of the pipeline.
        final Pipeline pipeline;
        final Decoder decoder;
        final ComponentJson components;
        byte @Nullable [] content; // Of the row that was read last ...

        @Nullable
        Part part; // ... and its contribution.

        Table(List<Integer> rollups, Pipeline pipeline) {
            this.rollups = rollups;
            this.pipeline = pipeline;
            decoder = new Decoder(pipeline);
            components = new ComponentJson(pipeline.fields().stream()
                    .map(path -> FieldPath.of(path.names().getFirst()).toString())
                    .collect(Collectors.toCollection(LinkedHashSet::new)));
        }
    }

    /// The contribution of a row.
    ///
    /// @param rollups the places of the roll-ups that it feeds; the groups of the contribution are in this
    ///     order
    /// @param pipeline a pipeline whose records are the rows of the table, and whose roll-ups are those that the
    ///     table feeds
    public record Part(List<Integer> rollups, Pipeline pipeline, Contribution contribution) {}

    public Feeds(Processing processing) {
        feedsAny = !processing.feeds().isEmpty();
        for (Processing.Table table : processing.tables()) {
            List<Integer> places = new ArrayList<>();
            for (int i = 0; i < processing.feeds().size(); i++) {
                if (processing.feeds().get(i).table().equals(table.name())) {
                    places.add(i);
                }
            }
            Pipeline rows = rows(processing, table.name());
            tables.add(places.isEmpty() ? null : new Table(List.copyOf(places), rows));
        }
    }

    /// The pipeline whose records are the rows of a table.
    static Pipeline rows(Processing processing, String table) {
        return new Pipeline(
                table,
                new Input(new Input.Format.Json(), new Identity.ByPlace(), null, null, null),
                new Rollups(processing.feeds().stream()
                        .filter(feed -> feed.table().equals(table))
                        .map(Feed::rollup)
                        .toList()));
    }

    /// Whether a table feeds a roll-up.
    public boolean isFed(int table) {
        return tables.get(table) != null;
    }

    /// The contribution of a row; empty if its table feeds no roll-up.
    ///
    /// @throws UnfitRowException if the row cannot feed its roll-ups: no step writes such a row
    public Optional<Part> part(int table, byte[] content) {
        Table fed = tables.get(table);
        if (fed == null) {
            return Optional.empty();
        }
        Malformed malformed = read(fed, content);
        if (malformed != null) {
            throw new UnfitRowException(
                    "A row of table " + fed.pipeline.name() + " cannot feed its roll-ups: " + malformed.message());
        }
        return Optional.ofNullable(fed.part);
    }

    /// A row that was written for other roll-ups cannot feed these.
    public static final class UnfitRowException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnfitRowException(String message) {
            super(message);
        }
    }

    /// Why a row cannot feed the roll-ups of its table; `null` if it can.
    @Nullable
    String refusal(int table, byte[] content) {
        Table fed = tables.get(table);
        Malformed malformed = fed == null ? null : read(fed, content);
        return malformed == null
                ? null
                : "wrote a row into table " + tables.get(table).pipeline.name() + " that cannot feed its roll-ups: "
                        + malformed.message();
    }

    /// Reads a row, if it is not the very one that was read last.
    @SuppressWarnings("ReferenceEquality") // The content of a row is never changed.
    private @Nullable Malformed read(Table table, byte[] content) {
        if (table.content == content) {
            return null;
        }
        json.clear();
        table.components.write(content, json);
        int length = json.length();
        Malformed malformed =
                table.decoder.decode(json.raw(PADDING, 0, PADDING.length).toBytes(), 0, length);
        table.content = malformed == null ? content : null;
        table.part = malformed == null
                ? new Part(table.rollups, table.pipeline, Contribution.of(table.pipeline, table.decoder.event()))
                : null;
        return malformed;
    }

    private record Touched(int rollup, Tuple group) {}

    /// Whether writes to these rows may touch too many groups: each row leaves a group of a roll-up, and joins one.
    boolean mayBeTooMany(Collection<RowId> rows) {
        int touched = 0;
        for (RowId row : feedsAny ? rows : List.<RowId>of()) {
            Table fed = tables.get(row.table());
            touched += fed == null ? 0 : 2 * fed.rollups.size();
        }
        return touched > GROUPS_MAX;
    }

    /// Why changes are too many for one step; `null` if they are not.
    @Nullable
    String tooMany(List<RowChange> changes) {
        Set<Touched> touched = new HashSet<>();
        for (RowChange change : changes) {
            touch(change.row().table(), change.before(), touched);
            touch(change.row().table(), change.after(), touched);
        }
        return touched.size() <= GROUPS_MAX
                ? null
                : "touches " + touched.size() + " groups of roll-ups; one step touches at most " + GROUPS_MAX;
    }

    private void touch(int table, byte @Nullable [] content, Set<Touched> touched) {
        if (content != null && isFed(table)) {
            Part part = part(table, content).orElseThrow();
            for (int i = 0; i < part.contribution.groups().size(); i++) {
                touched.add(new Touched(
                        part.rollups.get(i), part.contribution.groups().get(i)));
            }
        }
    }
}
