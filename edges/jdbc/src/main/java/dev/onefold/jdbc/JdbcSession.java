package dev.onefold.jdbc;

import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.TotalsTable.Session;
import dev.onefold.core.TotalsTable.Unavailable;
import dev.onefold.core.query.Answer;
import dev.onefold.jdbc.TotalsLayout.Table;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One transaction that brings published tables to a cut, or compares them. A writer locks the row of the
/// table `onefold_published` first, so that two of them follow one another.
final class JdbcSession implements Session {
    private static final String PUBLISHED = "onefold_published";
    private static final String CREATE = "create table if not exists onefold_published (name text primary key,"
            + " pipeline text not null, layout text not null, cut bigint not null, writer text not null,"
            + " at timestamp with time zone not null)";
    private static final String CLAIM = "insert into onefold_published (name, pipeline, layout, cut, writer, at)"
            + " values (?, ?, '', 0, '', now()) on conflict (name) do nothing";
    private static final String FIND = "select pipeline, layout, cut, writer, at from onefold_published where name = ?";
    private static final String MARK =
            "update onefold_published set layout = ?, cut = ?, writer = ?, at = ? where name = ?";
    private static final int ROWS_PER_REQUEST = 2_000;
    /// Greatest time for a statement over all rows of a table.
    private static final Duration WHOLE_MAX = Duration.ofHours(1);

    private final Connection connection;
    private final String pipeline;
    private final String name;
    private final TotalsLayout layout;
    private final List<Rows> rows = new ArrayList<>();
    private String foundLayout = "";
    private boolean isLaidOut;
    private @Nullable Mark found;
    private @Nullable Mark next;

    /// Rows that are not sent yet.
    private static final class Rows {
        final List<Answer.Line> put = new ArrayList<>();
        final List<List<String>> removed = new ArrayList<>();
        boolean isWhole;
    }

    /// Work of a session on the database.
    private interface Work {
        void run() throws SQLException;
    }

    JdbcSession(Connection connection, String pipeline, String name, TotalsLayout layout) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.name = name;
        this.layout = layout;
        layout.tables().forEach(_ -> rows.add(new Rows()));
    }

    private static void attempt(Work work) {
        try {
            work.run();
        } catch (SQLException e) {
            throw JdbcTotals.unavailable(e);
        }
    }

    /// Locks the row with the progress of the tables, making it if need be, and reads it.
    void lock() throws SQLException {
        if (!exists(PUBLISHED)) {
            execute(CREATE);
            connection.commit();
        }
        // A longer wait for a lock is reported, like a database that hangs. The limit is local, because a pool
        // may give this connection to others later.
        execute("set local lock_timeout = '10s'");
        try (PreparedStatement claim = connection.prepareStatement(CLAIM)) {
            claim.setString(1, name);
            claim.setString(2, pipeline);
            claim.executeUpdate();
        }
        find(FIND + " for update");
    }

    /// Reads the row with the progress of the tables, if there is one.
    void find() throws SQLException {
        if (exists(PUBLISHED)) {
            find(FIND);
        }
    }

    private void find(String sql) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(sql)) {
            find.setString(1, name);
            try (ResultSet row = find.executeQuery()) {
                if (!row.next()) {
                    return;
                }
                if (!row.getString(1).equals(pipeline)) {
                    throw new Unavailable(
                            "The table " + name + " has the totals of pipeline " + row.getString(1)
                                    + ". Name another table under 'publish', or delete its row of onefold_published"
                                    + " together with the table",
                            null);
                }
                foundLayout = row.getString(2);
                isLaidOut = isLaidOut();
                if (row.getLong(3) > 0) {
                    found = new Mark(
                            row.getLong(3),
                            row.getString(4),
                            row.getTimestamp(5).toInstant());
                }
            }
        }
    }

    private boolean exists(String table) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement("select to_regclass(?) is not null")) {
            find.setString(1, TotalsLayout.quoted(table));
            try (ResultSet row = find.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private boolean isLaidOut() throws SQLException {
        if (!foundLayout.equals(layout.text())) {
            return false;
        }
        for (Table table : layout.tables()) {
            if (!exists(table.name())) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Optional<Mark> mark() {
        return Optional.ofNullable(found);
    }

    @Override
    public boolean isWhole() {
        return isLaidOut;
    }

    @Override
    public void begin(Mark mark) {
        next = mark;
        attempt(() -> {
            if (!isLaidOut) { // Only tables that the row names are dropped: they are ours.
                for (String old : TotalsLayout.names(foundLayout)) {
                    execute("drop table if exists " + TotalsLayout.quoted(old));
                }
                for (Table table : layout.tables()) {
                    requireFree(table);
                    execute(table.create());
                }
            }
        });
    }

    private void requireFree(Table table) throws SQLException {
        if (exists(table.name())) {
            throw new Unavailable(
                    "The table " + table.name() + " already exists, and onefold_published does not say that it is"
                            + " one of this pipeline. Drop it, or name another table under 'publish'",
                    null);
        }
    }

    @Override
    public void replace(int rollup) {
        rows.get(rollup).isWhole = true;
        attempt(() -> execute(layout.tables().get(rollup).createBeside()));
    }

    @Override
    public void put(int rollup, Answer.Line line) {
        List<Answer.Line> waiting = rows.get(rollup).put;
        waiting.add(line);
        if (waiting.size() >= ROWS_PER_REQUEST) {
            attempt(() -> sendPut(rollup));
        }
    }

    @Override
    public void remove(int rollup, List<String> group) {
        List<List<String>> waiting = rows.get(rollup).removed;
        if (!rows.get(rollup).isWhole) {
            waiting.add(group);
        }
        if (waiting.size() >= ROWS_PER_REQUEST) {
            attempt(() -> sendRemoved(rollup));
        }
    }

    private void sendPut(int rollup) throws SQLException {
        Table table = layout.tables().get(rollup);
        Rows waiting = rows.get(rollup);
        Mark mark = Objects.requireNonNull(next);
        if (waiting.put.isEmpty()) {
            return;
        }
        try (PreparedStatement put = connection.prepareStatement(table.put(waiting.isWhole))) {
            put.setLong(1, mark.cut());
            put.setTimestamp(2, Timestamp.from(mark.at()));
            int at = bindKeys(
                    put, 3, table, waiting.put.stream().map(Answer.Line::group).toList());
            for (int measure = 0; measure < table.measures().size(); measure++) {
                int each = measure;
                BigDecimal[] values = waiting.put.stream()
                        .map(line -> line.values().get(each))
                        .toArray(BigDecimal[]::new);
                put.setArray(at++, connection.createArrayOf("numeric", values));
            }
            put.executeUpdate();
        }
        waiting.put.clear();
    }

    private int bindKeys(PreparedStatement statement, int from, Table table, List<List<String>> groups)
            throws SQLException {
        int at = from;
        for (int level = 0; level < table.levels().size(); level++) {
            int each = level;
            Object[] values =
                    groups.stream().map(group -> Table.level(group, each)).toArray();
            statement.setArray(at++, connection.createArrayOf("text", values));
        }
        statement.setArray(
                at++,
                connection.createArrayOf(
                        "integer", groups.stream().map(List::size).toArray()));
        return at;
    }

    private void sendRemoved(int rollup) throws SQLException {
        List<List<String>> waiting = rows.get(rollup).removed;
        if (waiting.isEmpty()) {
            return;
        }
        Table table = layout.tables().get(rollup);
        try (PreparedStatement remove = connection.prepareStatement(table.remove())) {
            bindKeys(remove, 1, table, waiting);
            remove.executeUpdate();
        }
        waiting.clear();
    }

    @Override
    public void commit() {
        Mark mark = Objects.requireNonNull(next);
        attempt(() -> {
            if (rows.stream().anyMatch(each -> each.isWhole)) {
                connection.setNetworkTimeout(Runnable::run, Math.toIntExact(WHOLE_MAX.toMillis()));
            }
            for (int rollup = 0; rollup < rows.size(); rollup++) {
                sendPut(rollup);
                sendRemoved(rollup);
                if (rows.get(rollup).isWhole) {
                    Table table = layout.tables().get(rollup);
                    execute("analyze " + table.beside());
                    execute(table.removeOthers());
                    execute(table.putWhole());
                }
            }
            try (PreparedStatement write = connection.prepareStatement(MARK)) {
                write.setString(1, layout.text());
                write.setLong(2, mark.cut());
                write.setString(3, mark.writer());
                write.setTimestamp(4, Timestamp.from(mark.at()));
                write.setString(5, name);
                write.executeUpdate();
            }
            connection.commit();
        });
    }

    /// Compares the table of a roll-up with all groups of it.
    ///
    /// @param lines all groups
    /// @param most greatest number of differences that are returned
    List<JdbcTotals.Difference> compare(int rollup, Iterable<Answer.Line> lines, int most) {
        Table table = layout.tables().get(rollup);
        next = new Mark(0, "", Instant.EPOCH);
        replace(rollup);
        lines.forEach(line -> put(rollup, line));
        List<JdbcTotals.Difference> differences = new ArrayList<>();
        attempt(() -> {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(WHOLE_MAX.toMillis()));
            sendPut(rollup);
            execute("analyze " + table.beside());
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(table.differences(most))) {
                while (row.next()) {
                    differences.add(difference(table, row));
                }
            }
        });
        return differences;
    }

    private static JdbcTotals.Difference difference(Table table, ResultSet row) throws SQLException {
        int depthAt = table.levels().size() + 1;
        int cutAt = depthAt + 2 * table.measures().size() + 1;
        int depth = row.getInt(depthAt);
        List<String> group = new ArrayList<>();
        for (int level = 1; level <= depth; level++) {
            group.add(row.getString(level));
        }
        return new JdbcTotals.Difference(
                table.name(),
                group,
                row.getLong(cutAt),
                values(table, row, depthAt + 1, row.getBoolean(cutAt + 1)),
                values(table, row, depthAt + 1 + table.measures().size(), row.getBoolean(cutAt + 2)));
    }

    private static Optional<List<@Nullable BigDecimal>> values(Table table, ResultSet row, int from, boolean isMissing)
            throws SQLException {
        List<@Nullable BigDecimal> values = new ArrayList<>();
        for (int measure = 0; measure < table.measures().size(); measure++) {
            values.add(row.getBigDecimal(from + measure));
        }
        return isMissing ? Optional.empty() : Optional.of(Collections.unmodifiableList(values));
    }

    @Override
    public void close() {
        try (connection) {
            connection.rollback();
        } catch (SQLException gone) {
            return; // The database rolls back the open work of a closed connection.
        }
    }
}
