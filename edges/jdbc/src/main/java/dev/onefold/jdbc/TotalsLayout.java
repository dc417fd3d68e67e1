package dev.onefold.jdbc;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.totals.PlainNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The tables that totals are published to, and their statements: one table a roll-up, with a column for
/// each level and each measure.
///
/// @param tables in the order of the roll-ups
record TotalsLayout(List<Table> tables) {
    private static final int NAME_LENGTH_MAX = 63; // Of PostgreSQL.
    private static final Set<String> OWN = Set.of("depth", "cut", "cut_at");

    TotalsLayout {
        tables = List.copyOf(tables);
    }

    /// The layout of a pipeline's totals.
    static TotalsLayout of(Pipeline pipeline, String table) {
        List<Rollup> rollups = Rollups.of(pipeline).all();
        String schema = table.substring(0, table.indexOf('.') + 1);
        String main = table.substring(schema.length());
        PlainNames names = new PlainNames(Set.of(main), NAME_LENGTH_MAX);
        return new TotalsLayout(IntStream.range(0, rollups.size())
                .mapToObj(number -> {
                    Rollup rollup = rollups.get(number);
                    boolean isMain = rollups.size() == 1 || rollup.name().equals(Rollup.MAIN);
                    String name = isMain ? main : names.next(main + "_" + PlainNames.plain(rollup.name()));
                    PlainNames columns = new PlainNames(OWN, NAME_LENGTH_MAX);
                    return new Table(
                            number,
                            schema + name,
                            rollup.levels().stream()
                                    .map(level -> columns.next(level.name()))
                                    .toList(),
                            rollup.figureNames().stream().map(columns::next).toList());
                })
                .toList());
    }

    /// A text that is equal for equal layouts. It begins each line with the name of a table.
    String text() {
        return tables.stream()
                .map(table ->
                        table.name + " " + String.join(",", table.levels) + ";" + String.join(",", table.measures))
                .collect(Collectors.joining("\n"));
    }

    /// The names of the tables in the text of a layout.
    static List<String> names(String text) {
        return text.lines().map(line -> line.substring(0, line.indexOf(' '))).toList();
    }

    /// A name as SQL writes it, also behind that of a schema.
    static String quoted(String name) {
        return Stream.of(name.split("\\.", -1)).map(part -> '"' + part + '"').collect(Collectors.joining("."));
    }

    /// A table of a roll-up.
    ///
    /// @param number of the roll-up, from 0
    /// @param levels names of columns
    /// @param measures names of columns
    record Table(int number, String name, List<String> levels, List<String> measures) {
        Table {
            levels = List.copyOf(levels);
            measures = List.copyOf(measures);
        }

        private List<String> key() {
            List<String> key =
                    new ArrayList<>(levels.stream().map(TotalsLayout::quoted).toList());
            key.add("depth");
            return key;
        }

        private List<String> columns() {
            List<String> columns = new ArrayList<>(key());
            measures.forEach(measure -> columns.add(quoted(measure)));
            columns.addAll(List.of("cut", "cut_at"));
            return columns;
        }

        String create() {
            return "create table " + quoted(name) + " ("
                    + levels.stream()
                            .map(level -> quoted(level) + " text not null, ")
                            .collect(Collectors.joining())
                    + "depth integer not null, "
                    + measures.stream()
                            .map(measure -> quoted(measure) + " numeric, ")
                            .collect(Collectors.joining())
                    + "cut bigint not null, cut_at timestamp with time zone not null, primary key ("
                    + String.join(", ", key()) + "))";
        }

        /// A table beside it that is gone with the transaction.
        String beside() {
            return "onefold_whole_" + number;
        }

        String createBeside() {
            return "create temporary table " + beside() + " (like " + quoted(name) + ") on commit drop";
        }

        private String unnested() {
            return " from unnest("
                    + "?::text[], ".repeat(levels.size()) + "?::integer[]" + ", ?::numeric[]".repeat(measures.size())
                    + ") as fresh ("
                    + Stream.concat(key().stream(), measures.stream().map(TotalsLayout::quoted))
                            .collect(Collectors.joining(", "))
                    + ")";
        }

        private String values() {
            return Stream.concat(key().stream(), measures.stream().map(TotalsLayout::quoted))
                    .map(column -> "fresh." + column)
                    .collect(Collectors.joining(", "));
        }

        /// Puts rows: an array for each level, one for the depths, and one for each measure; first the cut
        /// and its time.
        String put(boolean isBeside) {
            return "insert into " + (isBeside ? beside() : quoted(name)) + " as stored (" + String.join(", ", columns())
                    + ") select " + values() + ", given.cut, given.cut_at from (select ?::bigint as cut,"
                    + " ?::timestamp with time zone as cut_at) as given,"
                    + unnested().substring(" from".length())
                    + (isBeside ? "" : conflict());
        }

        /// A row that is as it was keeps its cut.
        private String conflict() {
            String set = Stream.concat(measures.stream().map(TotalsLayout::quoted), Stream.of("cut", "cut_at"))
                    .map(column -> column + " = excluded." + column)
                    .collect(Collectors.joining(", "));
            return " on conflict (" + String.join(", ", key()) + ") do update set " + set + " where ("
                    + measuresOf("stored") + ") is distinct from (" + measuresOf("excluded") + ")";
        }

        /// Puts all rows of the table beside it.
        String putWhole() {
            return "insert into " + quoted(name) + " as stored (" + String.join(", ", columns()) + ") select "
                    + String.join(", ", columns()) + " from " + beside() + conflict();
        }

        /// Removes the rows that the table beside it lacks.
        String removeOthers() {
            return "delete from " + quoted(name) + " as stored where not exists (select 1 from " + beside()
                    + " as fresh where " + sameKey() + ")";
        }

        /// The rows that differ from those of the table beside it: the levels and the depth, the measures of both, the
        /// cut of the row, and which of both is missing. Each side is `null` where it is missing.
        String differences(int most) {
            String levelsOfEither = key().stream()
                    .map(column -> "coalesce(stored." + column + ", fresh." + column + ")")
                    .collect(Collectors.joining(", "));
            return "select " + levelsOfEither + ", " + measuresOf("stored") + ", " + measuresOf("fresh")
                    + ", stored.cut, stored.depth is null, fresh.depth is null from " + quoted(name)
                    + " as stored full join " + beside() + " as fresh on " + sameKey()
                    + " where stored.depth is null or fresh.depth is null or (" + measuresOf("stored")
                    + ") is distinct from (" + measuresOf("fresh") + ") order by " + levelsOfEither + " limit " + most;
        }

        private String measuresOf(String side) {
            return measures.stream()
                    .map(measure -> side + "." + quoted(measure))
                    .collect(Collectors.joining(", "));
        }

        /// Removes rows: an array for each level, and one for the depths.
        String remove() {
            return "delete from " + quoted(name) + " as stored using unnest(" + "?::text[], ".repeat(levels.size())
                    + "?::integer[]) as fresh (" + String.join(", ", key()) + ") where " + sameKey();
        }

        private String sameKey() {
            return key().stream()
                    .map(column -> "stored." + column + " = fresh." + column)
                    .collect(Collectors.joining(" and "));
        }

        /// The value of a level in the row of a group; empty below the group's own levels. PostgreSQL has
        /// no text with the character 0, so that is written as `␀0`, and `␀` as `␀␀`.
        static String level(List<String> group, int level) {
            String value = level < group.size() ? group.get(level) : "";
            return value.replace("\u2400", "\u2400\u2400").replace("\0", "\u24000");
        }
    }
}
