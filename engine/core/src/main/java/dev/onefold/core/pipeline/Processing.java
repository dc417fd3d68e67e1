package dev.onefold.core.pipeline;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A user's function per key, the tables that it writes, and the roll-ups that the tables feed.
///
/// @param program the function's code
/// @param version raised by the user when the results of the function change; 1 to [#VERSION_MAX]
/// @param keep number of events per key that a late event may be folded before, or of runs of versions that
///     are remembered
/// @param feeds the roll-ups of tables
/// @param code properties of the function, found when it was loaded; `null` in a pipeline as its user writes
///     it
public record Processing(
        Program program,
        int version,
        NewVersion onNewVersion,
        Order order,
        int keep,
        List<Table> tables,
        List<Feed> feeds,
        @Nullable Code code)
        implements Fold {
    public static final int VERSION_MAX = 1_000_000;
    public static final int KEEP_MAX = 1_000;
    public static final int KEEP_DEFAULT = 100;
    public static final int TABLES_MAX = 16;

    public Processing {
        tables = List.copyOf(tables);
        feeds = List.copyOf(feeds);
    }

    /// The code of the function, as the pipeline file names it.
    public sealed interface Program {
        /// Its name in a message.
        String name();

        /// A Java class.
        ///
        /// @param jar a file beside the pipeline file that has the class; `null`: the class path has it
        record JavaClass(String name, @Nullable String jar) implements Program {}

        /// A command in any language, which is started in the folder of the pipeline file.
        ///
        /// @param words the program and its arguments
        record Command(List<String> words) implements Program {
            public static final int WORDS_MAX = 100;

            public Command {
                words = List.copyOf(words);
            }

            @Override
            public String name() {
                return String.join(" ", words);
            }
        }
    }

    /// The events of a key that are folded, and their order.
    public enum Order {
        /// An event above the highest version seen; lower ones are stale.
        LATEST,
        /// Each event once, as it comes.
        EVERY,
        /// As if all events had come in the order of their versions.
        IN_ORDER;

        /// As it is written in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /// The treatment of the contexts when the function's version is raised.
    public enum NewVersion {
        /// The events that are kept are folded again.
        REFOLD,
        /// The contexts are used as they are.
        CONTINUE;

        /// As it is written in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// A table that the function writes.
    ///
    /// @param key one or two components of its rows. If the pipeline's key is not among them, the table is shared:
    ///     several keys write its rows, and each row has one owner
    public record Table(String name, List<String> key) {
        public static final int KEY_FIELDS_MAX = 2;

        public Table {
            key = List.copyOf(key);
        }

        /// Whether several keys of a pipeline with this input write its rows.
        public boolean isShared(Input input) {
            return input.identity() instanceof Identity.Versioned versioned
                    && !versioned.key().stream().map(FieldPath::toString).allMatch(key::contains);
        }
    }

    /// A roll-up of the rows of a table.
    public record Feed(String table, Rollup rollup) {}

    /// The properties of the function, as they were found when it was loaded.
    ///
    /// @param sha256 of the jar, or of the command's files; empty if there are none
    /// @param tables the row types of the tables for which the function declares them
    public record Code(String sha256, Type.Fields context, Type.Fields event, SortedMap<String, Type.Fields> tables) {
        public Code {
            tables = new TreeMap<>(tables);
        }
    }

    /// Its name in a message: that of the class, or the words of the command.
    public String programName() {
        return program.name();
    }

    /// The roll-ups of its tables, in their order.
    public Rollups rollups() {
        return new Rollups(feeds.stream().map(Feed::rollup).toList());
    }

    /// Whether several keys of a pipeline with this input write the rows of some table.
    public boolean sharesRows(Input input) {
        return tables.stream().anyMatch(table -> table.isShared(input));
    }

    /// The number of a table; empty if there is none of this name.
    public Optional<Integer> table(String name) {
        for (int i = 0; i < tables.size(); i++) {
            if (tables.get(i).name().equals(name)) {
                return Optional.of(i);
            }
        }
        return Optional.empty();
    }

    /// The names of the tables, for a message.
    public String tableNames() {
        return tables.stream().map(Table::name).collect(Collectors.joining(", "));
    }

    /// The order of this word.
    public static Optional<Order> order(String word) {
        return Arrays.stream(Order.values())
                .filter(order -> order.word().equals(word))
                .findFirst();
    }

    @Override
    public Processing stored() {
        List<Feed> stored = feeds.stream()
                .map(feed -> new Feed(feed.table(), feed.rollup().stored()))
                .toList();
        return new Processing(program, version, onNewVersion, order, keep, tables, stored, code);
    }

    @Override
    public Processing inTexts() {
        List<Feed> read = feeds.stream()
                .map(feed -> new Feed(feed.table(), feed.rollup().inTexts()))
                .toList();
        return new Processing(program, version, onNewVersion, order, keep, tables, read, code);
    }

    /// The same with the properties of its function.
    public Processing with(@Nullable Code found) {
        return new Processing(program, version, onNewVersion, order, keep, tables, feeds, found);
    }
}
