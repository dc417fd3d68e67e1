package dev.onefold.jdbc;

import dev.onefold.core.TotalsTable;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.query.Answer;
import dev.onefold.receivers.Context;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Totals as tables of a PostgreSQL database: changed groups and the progress of the tables, in one
/// transaction. The driver is on the class path of the process.
public final class JdbcTotals implements TotalsTable {
    /// A column or a table is missing, or is of another type.
    private static final Set<String> OTHER_TABLE = Set.of("42703", "42P01", "42804");

    /// Encodings that have all characters.
    private static final Set<String> TAKES_ALL = Set.of("UTF8", "SQL_ASCII");

    private static final Duration ANSWER_MAX = Duration.ofMinutes(1);

    private final String pipeline;
    private final String address;
    private final String table;
    private final Properties login;
    private final TotalsLayout layout;

    private JdbcTotals(Pipeline pipeline, Publishing.Database publishing, Properties login) {
        this.pipeline = pipeline.name();
        address = publishing.address();
        table = publishing.table();
        this.login = login;
        layout = TotalsLayout.of(pipeline, table);
    }

    /// Opens the copy of a pipeline's totals. No connection is made.
    ///
    /// @throws IllegalArgumentException if the variable of the password is not set
    public static JdbcTotals open(Pipeline pipeline, Publishing.Database publishing, Context.Environment environment) {
        Properties login = Login.of(publishing.address(), publishing.user(), publishing.password(), environment);
        return new JdbcTotals(pipeline, publishing, login);
    }

    /// A row that differs from the totals.
    ///
    /// @param group as the table has it
    /// @param cut the last cut in which the row has changed; 0 if there is no row
    /// @param stored its measures; empty if there is no row
    /// @param expected the right measures; empty if there should be no row
    public record Difference(
            String table,
            List<String> group,
            long cut,
            Optional<List<@Nullable BigDecimal>> stored,
            Optional<List<@Nullable BigDecimal>> expected) {
        public Difference {
            group = List.copyOf(group);
        }
    }

    @Override
    public Session begin() {
        return session(JdbcSession::lock);
    }

    /// Compares the table of a roll-up with all groups of it. Writes nothing but a temporary table, and
    /// delays no other session.
    ///
    /// @param rollup its place in the pipeline
    /// @param lines all groups
    /// @param most greatest number of differences that are returned
    /// @throws Unavailable if the database cannot be asked, or does not have the tables of this pipeline
    public List<Difference> compare(int rollup, Iterable<Answer.Line> lines, int most) {
        try (JdbcSession session = session(JdbcSession::find)) {
            if (!session.isWhole()) {
                throw new Unavailable(
                        "The tables of " + table + " are not there, or have not the columns of this pipeline."
                                + " 'onefold run' makes them",
                        null);
            }
            return session.compare(rollup, lines, most);
        }
    }

    /// The beginning of a session.
    private interface Beginning {
        void of(JdbcSession session) throws SQLException;
    }

    private JdbcSession session(Beginning beginning) {
        Connection connection = null;
        try {
            connection = DriverManager.getConnection(address, login);
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(ANSWER_MAX.toMillis()));
            connection.setAutoCommit(false);
            requireEncoding(connection);
            JdbcSession session = new JdbcSession(connection, pipeline, table, layout);
            beginning.of(session);
            return session;
        } catch (SQLException | Unavailable e) {
            closeAfter(e, connection);
            throw e instanceof Unavailable known ? known : unavailable((SQLException) e);
        }
    }

    /// Without this check, the first group with a character that the database does not have would stop the
    /// publishing, perhaps after months.
    private static void requireEncoding(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("show server_encoding")) {
            String encoding = row.next() ? row.getString(1) : "";
            if (!TAKES_ALL.contains(encoding)) {
                throw new Unavailable(
                        "The database has the encoding " + encoding
                                + ", which does not have all characters that a group may have. Publish to a database"
                                + " with the encoding UTF8",
                        null);
            }
        }
    }

    private static void closeAfter(Exception failure, @Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    /// Only the first line of the message is used: the next ones may quote values of rows.
    static Unavailable unavailable(SQLException e) {
        SQLException cause = e.getNextException() == null ? e : e.getNextException();
        String message =
                Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
        String first = message.lines().findFirst().orElse(message).replaceFirst("\\.$", "");
        return new Unavailable(
                "The database says: " + first
                        + (OTHER_TABLE.contains(Objects.requireNonNullElse(cause.getSQLState(), ""))
                                ? ". If somebody has changed the tables, drop them, and they are made again"
                                : ""),
                e);
    }
}
