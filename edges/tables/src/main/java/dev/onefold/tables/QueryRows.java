package dev.onefold.tables;

import dev.onefold.core.json.Json;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The rows of a query on PostgreSQL, of one snapshot. Numbers keep their digits, times are ISO 8601. It has no marks:
/// a query that is read again is read from its beginning.
public final class QueryRows implements RowSource {
    private static final String PART = "0";
    private static final int FETCH_ROWS = 10_000;
    private static final String LOGIN_SECONDS_MAX = "10";

    /// Some queries take long before their first row.
    private static final Duration ANSWER_MAX = Duration.ofHours(1);

    private static final Duration TRANSACTION_MAX = Duration.ofMinutes(30);
    private static final Duration POLL = Duration.ofMillis(100);

    private final Database database;
    private final String query;

    public QueryRows(Database database, String query) {
        this.database = database;
        this.query = query;
    }

    /// A database.
    ///
    /// @param url as JDBC has it: `jdbc:postgresql://host/name`
    /// @param properties user and password, if the URL has none
    public record Database(String url, Map<String, String> properties) {}

    @Override
    public String identity() {
        return "query:" + database.url().replaceFirst("\\?.*", "") + " " + query;
    }

    @Override
    public List<String> parts() {
        return List.of(PART);
    }

    @Override
    public Extent extent() {
        return new Extent(0, 0, 0);
    }

    /// The logical replication slots of the database that are ready: each later commit is in each of them. A
    /// slot whose log the server has removed is not ready.
    public List<String> slots() throws IOException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet slots = statement.executeQuery(
                        "select slot_name from pg_replication_slots s where slot_type = 'logical'"
                                + " and database = current_database() and confirmed_flush_lsn is not null"
                                + " and coalesce(to_jsonb(s)->>'wal_status', '') <> 'lost' order by 1")) {
            List<String> names = new ArrayList<>();
            while (slots.next()) {
                names.add(slots.getString(1));
            }
            return names;
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("connectTimeout", LOGIN_SECONDS_MAX);
        properties.setProperty("loginTimeout", LOGIN_SECONDS_MAX);
        properties.setProperty("socketTimeout", LOGIN_SECONDS_MAX);
        properties.setProperty("tcpKeepAlive", "true");
        properties.putAll(database.properties());
        Connection connection = DriverManager.getConnection(database.url(), properties);
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(ANSWER_MAX.toMillis()));
        return connection;
    }

    @Override
    public void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException {
        try (Connection connection = connect()) {
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false); // Without it the driver reads the whole result into memory.
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(FETCH_ROWS);
                try (ResultSet rows = statement.executeQuery(query)) {
                    read(rows, taker);
                }
            }
            connection.rollback();
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void read(ResultSet rows, Taker taker) throws SQLException, IOException, InterruptedException {
        ResultSetMetaData columns = rows.getMetaData();
        LineBlock block = new LineBlock();
        while (rows.next()) {
            block.add(line(rows, columns));
            if (block.isFull()) {
                int count = block.lines();
                if (!taker.take(block.rows(PART, BEGINNING, count))) {
                    return;
                }
            }
        }
        int count = block.lines();
        taker.take(block.rows(PART, END, count));
    }

    /// Waits until every transaction has ended that has written something and is open now, in any database of
    /// the server. The log may have given its changes already; a query sees them only when the transaction
    /// has ended.
    @Override
    public void awaitWriters(BooleanSupplier isStopped) throws IOException, InterruptedException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            // A number of its own: the end of a snapshot is only behind the last transaction that has ended.
            BigInteger next = number(statement, "select pg_current_xact_id()");
            Instant end = Instant.now().plus(TRANSACTION_MAX);
            while (!isStopped.getAsBoolean()
                    && number(statement, "select pg_snapshot_xmin(pg_current_snapshot())")
                                    .compareTo(next)
                            < 0) {
                if (Instant.now().isAfter(end)) {
                    throw new IOException("a transaction is open for more than " + TRANSACTION_MAX.toMinutes()
                            + " minutes; see pg_stat_activity and pg_prepared_xacts");
                }
                Thread.sleep(POLL);
            }
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// Whether the server only follows another one: it may not have what was committed there.
    public boolean isStandby() throws IOException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            return number(statement, "select pg_is_in_recovery()::int").signum() > 0;
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static BigInteger number(Statement statement, String query) throws SQLException {
        try (ResultSet answer = statement.executeQuery(query)) {
            answer.next();
            return new BigInteger(answer.getString(1));
        }
    }

    private static byte[] line(ResultSet row, ResultSetMetaData columns) throws SQLException, IOException {
        StringBuilder json = new StringBuilder("{");
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            json.append(i > 1 ? "," : "");
            Json.append(json, columns.getColumnLabel(i));
            append(json.append(':'), row, i, columns.getColumnTypeName(i));
        }
        return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void append(StringBuilder json, ResultSet row, int column, String type)
            throws SQLException, IOException {
        String text = row.getString(column);
        if (text == null) {
            json.append("null");
            return;
        }
        switch (type) {
            case "bool" -> json.append(row.getBoolean(column));
            case "int2", "int4", "int8", "serial", "bigserial", "smallserial", "oid", "numeric", "float4", "float8" -> {
                if (text.endsWith("NaN") || text.endsWith("Infinity")) {
                    Json.append(json, text);
                } else {
                    json.append(text);
                }
            }
            case "json", "jsonb" -> json.append(text.replace('\n', ' ').replace('\r', ' '));
            case "bytea" -> Json.append(json, Base64.getEncoder().encodeToString(row.getBytes(column)));
            case "timestamptz" -> appendTime(json, row, column, text, OffsetDateTime.class);
            case "timestamp" -> appendTime(json, row, column, text, LocalDateTime.class);
            case "date" -> appendTime(json, row, column, text, LocalDate.class);
            default -> {
                if (type.startsWith("_")) {
                    Json.append(json, list(row.getArray(column)));
                } else {
                    Json.append(json, text);
                }
            }
        }
    }

    private static void appendTime(StringBuilder json, ResultSet row, int column, String text, Class<?> type)
            throws SQLException {
        if (text.endsWith("infinity")) {
            Json.append(json, text);
            return;
        }
        Object time = row.getObject(column, type);
        Json.append(json, time instanceof OffsetDateTime at ? at.toInstant().toString() : String.valueOf(time));
    }

    private static List<@Nullable Object> list(Array array) throws SQLException, IOException {
        List<@Nullable Object> list = new ArrayList<>();
        for (Object each : (Object[]) array.getArray()) {
            list.add(value(each));
        }
        return list;
    }

    private static @Nullable Object value(@Nullable Object each) throws IOException {
        return switch (each) {
            case null -> null;
            case Number number -> number;
            case Boolean truth -> truth;
            case Object[] _ -> throw new IOException("An array of arrays cannot be read; select its parts");
            default -> each.toString();
        };
    }

    @Override
    public void close() {}
}
