package dev.onefold.jdbc;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Writes the rows of a batch and a row with the batch's number in one transaction, so a batch is in the
/// database once, even if the answer is lost. The number's row is written first: an attempt that is still
/// under way elsewhere holds it.
///
/// Each attempt has a connection of its own. The driver is on the class path of the process.
public final class JdbcReceiver implements Receiver {
    private static final String FIND = "select sha256 from onefold_batches where pipeline = ? and number = ?";
    private static final String MARK = "insert into onefold_batches (pipeline, number, sha256, at) values (?, ?, ?, ?)";
    private static final String CREATE = "create table onefold_batches (pipeline varchar(200) not null,"
            + " number varchar(200) not null, sha256 varchar(64) not null, at timestamp not null,"
            + " primary key (pipeline, number))";
    private static final int ROWS_PER_REQUEST = 1_000;
    private static final int DIGITS_MAX = 1_000;
    private static final Duration ANSWER_MAX = Duration.ofMinutes(10);

    private final String address;
    private final Properties login;
    private final InsertStatement insert;

    private JdbcReceiver(String address, Properties login, InsertStatement insert) {
        this.address = address;
        this.login = login;
        this.insert = insert;
    }

    /// Opens the receiver. No connection is made.
    ///
    /// @throws IllegalArgumentException if the statement names no field, or the variable of the password is not set
    public static Receiver open(Batching batching, Context context) {
        Destination destination = batching.deliver();
        String address = destination.target().getFirst();
        Properties login =
                Login.of(address, destination.option("user"), destination.option("password"), context.environment());
        InsertStatement insert = InsertStatement.of(destination.option("insert").orElse(""));
        return new JdbcReceiver(address, login, insert);
    }

    @Override
    public Optional<String> trouble() {
        try {
            Driver _ = DriverManager.getDriver(address);
            return Optional.empty();
        } catch (SQLException e) {
            return Optional.of(
                    "No driver knows the database's address. Put the driver's jar on the class path, or correct the"
                            + " address, which begins like jdbc:postgresql://host/");
        }
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        try (Connection connection = DriverManager.getConnection(address, login)) {
            limit(connection);
            connection.setAutoCommit(false);
            Outcome outcome = write(connection, handover);
            if (!(outcome instanceof Outcome.Done)) {
                connection.rollback();
                return outcome;
            }
            return commit(connection);
        } catch (SQLException e) {
            return new Outcome.NotNow(said(e), null); // Without a commit the database keeps nothing of it.
        }
    }

    private static void limit(Connection connection) throws SQLException {
        try {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(ANSWER_MAX.toMillis()));
        } catch (SQLFeatureNotSupportedException unlimited) {
            return; // The address may have a limit of the driver's own.
        }
    }

    private static Outcome commit(Connection connection) {
        try {
            connection.commit();
            return new Outcome.Done();
        } catch (SQLException e) {
            return new Outcome.Unknown("The commit was not answered: " + said(e));
        }
    }

    private Outcome write(Connection connection, Handover handover) throws SQLException, InterruptedException {
        Manifest manifest = handover.manifest();
        String stored = stored(connection, manifest);
        if (stored != null) {
            return stored.equals(manifest.sha256())
                    ? new Outcome.Done()
                    : new Outcome.Conflict("The table onefold_batches has batch " + manifest.id() + " with SHA-256 "
                            + stored + ", and not " + manifest.sha256());
        }
        try (PreparedStatement mark = connection.prepareStatement(MARK)) {
            mark.setString(1, manifest.pipeline());
            mark.setString(2, manifest.number().toString());
            mark.setString(3, manifest.sha256());
            mark.setTimestamp(4, Timestamp.from(manifest.sealed()));
            mark.executeUpdate();
        }
        try (PreparedStatement rows = connection.prepareStatement(insert.sql());
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(handover.open(), StandardCharsets.UTF_8))) {
            return insert(rows, lines);
        } catch (BatchUpdateException e) {
            return refused(e);
        } catch (IOException e) {
            throw stopped(e);
        }
    }

    private static InterruptedException stopped(IOException cause) {
        boolean _ = Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("Interrupted while a batch was read");
        interrupted.initCause(cause);
        return interrupted;
    }

    /// The digest that the table has for this number; `null` if it has none. The table is created if it is missing.
    private static @Nullable String stored(Connection connection, Manifest manifest) throws SQLException {
        try {
            return find(connection, manifest);
        } catch (SQLException missing) {
            connection.rollback();
            try (Statement create = connection.createStatement()) {
                create.executeUpdate(CREATE);
                connection.commit();
            } catch (SQLException notCreated) {
                notCreated.addSuppressed(missing);
                connection.rollback();
                try {
                    return find(connection, manifest); // Another attempt may have created it in the meantime.
                } catch (SQLException e) {
                    throw notCreated;
                }
            }
            return find(connection, manifest);
        }
    }

    private static @Nullable String find(Connection connection, Manifest manifest) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setString(1, manifest.pipeline());
            find.setString(2, manifest.number().toString());
            try (ResultSet found = find.executeQuery()) {
                return found.next() ? found.getString(1) : null;
            }
        }
    }

    private Outcome insert(PreparedStatement rows, BufferedReader lines)
            throws SQLException, IOException, InterruptedException {
        int record = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String wrong = bind(rows, line);
            if (!wrong.isEmpty()) {
                return new Outcome.Refused("The record at place " + record + " " + wrong);
            }
            rows.addBatch();
            if (++record % ROWS_PER_REQUEST == 0) {
                rows.executeBatch();
                if (Thread.interrupted()) {
                    throw new InterruptedException("Interrupted while rows were written");
                }
            }
        }
        rows.executeBatch();
        return new Outcome.Done();
    }

    /// Sets the values of one row; returns the problem of the record, or an empty text.
    private String bind(PreparedStatement rows, String line) throws SQLException {
        if (!(JsonText.read(line, new Problems()) instanceof Node.Mapping fields)) {
            return "is not a JSON object";
        }
        for (int i = 0; i < insert.fields().size(); i++) {
            String name = insert.fields().get(i);
            Node value = fields.find(name);
            if (value != null && !(value instanceof Node.Scalar)) {
                return "has a list or an object as " + name + ", which is not a value of a column";
            }
            if (!bind(rows, i + 1, (Node.Scalar) value)) {
                return "has a number of more than " + DIGITS_MAX + " digits as " + name;
            }
        }
        return "";
    }

    /// Sets one value; returns false for a number with too many digits.
    private static boolean bind(PreparedStatement rows, int place, Node.@Nullable Scalar value) throws SQLException {
        if (value == null || value.isNull()) {
            rows.setNull(place, Types.NULL);
        } else if (value.quoted()) {
            rows.setString(place, value.text());
        } else if (value.text().equals("true") || value.text().equals("false")) {
            rows.setBoolean(place, value.text().equals("true"));
        } else {
            BigDecimal number = number(value.text());
            if (number == null) {
                return false;
            }
            rows.setBigDecimal(place, number);
        }
        return true;
    }

    private static @Nullable BigDecimal number(String text) {
        try {
            BigDecimal number = new BigDecimal(text);
            return number.precision() > DIGITS_MAX || Math.abs((long) number.scale()) > DIGITS_MAX ? null : number;
        } catch (NumberFormatException e) {
            return null; // Its exponent is beyond all bounds.
        }
    }

    /// If a value does not fit, or a constraint is violated, the content is refused; any other failure may
    /// pass.
    private static Outcome refused(BatchUpdateException e) {
        SQLException cause = e.getNextException() == null ? e : e.getNextException();
        String state = cause.getSQLState() == null ? "" : cause.getSQLState();
        return state.startsWith("22") || state.startsWith("23")
                ? new Outcome.Refused(said(cause))
                : new Outcome.NotNow(said(cause), null);
    }

    private static String said(SQLException e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return "The database says: " + message.replaceAll("\\s+", " ");
    }
}
