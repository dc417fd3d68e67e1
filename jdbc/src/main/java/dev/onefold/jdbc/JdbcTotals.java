package dev.onefold.jdbc;

import dev.onefold.core.TotalsTable;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Pipeline.Publishing;
import dev.onefold.receivers.Context;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;

/// Totals as tables of a PostgreSQL database: changed groups and how far the tables are, in one
/// transaction. The driver is on the class path of the process.
public final class JdbcTotals implements TotalsTable {
    private static final String CONNECT_SECONDS_MAX = "10";
    private static final Duration ANSWER_MAX = Duration.ofMinutes(5);

    private final String pipeline;
    private final String address;
    private final String table;
    private final Properties login;
    private final TotalsLayout layout;

    private JdbcTotals(Pipeline pipeline, Publishing publishing, Properties login) {
        this.pipeline = pipeline.name();
        address = publishing.address();
        table = publishing.table();
        this.login = login;
        layout = TotalsLayout.of(pipeline, table);
    }

    /// Opens the copy of a pipeline's totals. No connection is made.
    ///
    /// @throws IllegalArgumentException if the variable of the password is not set
    public static JdbcTotals open(Pipeline pipeline, Publishing publishing, Context.Environment environment) {
        Properties login = new Properties();
        login.setProperty("connectTimeout", CONNECT_SECONDS_MAX);
        login.setProperty("tcpKeepAlive", "true");
        publishing.user().ifPresent(user -> login.setProperty("user", user));
        publishing.password().ifPresent(variable -> {
            String password = environment.get(variable);
            if (password == null) {
                throw new IllegalArgumentException(
                        "The environment variable " + variable + " is not set. It holds the password of the database");
            }
            login.setProperty("password", password);
        });
        return new JdbcTotals(pipeline, publishing, login);
    }

    @Override
    public Session begin() {
        Connection connection = null;
        try {
            connection = DriverManager.getConnection(address, login);
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(ANSWER_MAX.toMillis()));
            connection.setAutoCommit(false);
            JdbcSession session = new JdbcSession(connection, pipeline, table, layout);
            session.find();
            return session;
        } catch (SQLException | Unavailable e) {
            closeAfter(e, connection);
            throw e instanceof Unavailable known ? known : unavailable((SQLException) e);
        }
    }

    private static void closeAfter(Exception failure, @org.jspecify.annotations.Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    static Unavailable unavailable(SQLException e) {
        SQLException cause = e.getNextException() == null ? e : e.getNextException();
        String message =
                Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
        return new Unavailable("The database says: " + message.replaceAll("\\s+", " "), e);
    }
}
