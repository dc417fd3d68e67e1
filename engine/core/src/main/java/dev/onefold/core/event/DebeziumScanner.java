package dev.onefold.core.event;

import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TableName.Origin;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads changes as Debezium writes them: the envelope (`before`, `after`, `source`, `op`) alone or under `value`
/// beside `key`, each with its schema (then under `payload`) or without. Not thread-safe.
///
/// The place of a change orders it behind all that was committed before. A transaction logs its changes before it
/// commits, and may wait for another one in between: an insert waits at a unique index while the row of its key is
/// deleted, and has the lower position and the later commit. So the position of a change alone is not its place. It is
///
/// - of PostgreSQL: the end of the commit before its transaction (`source.sequence`), then its own position. The first
///   transaction of a connector has no commit before it; there each change takes its own position, which is below its
///   commit;
/// - of SQL Server: the position of its commit, then its own, then its number among those of one position;
/// - of MySQL and MariaDB: file, position and row in the binary log, which is written in the order of the commits.
///
/// A row of a snapshot has no place in the log: a transaction that was open during the snapshot has lower places,
/// and would lose. The row is a seeding, whose number is the snapshot's time.
final class DebeziumScanner extends ChangeScanner {
    private static final int DIGITS_MAX = 20;
    private static final int FILE_DIGITS_MAX = 9;
    private static final int LSN_BITS = 64;
    private static final int POSITION_BITS = 40;
    private static final int ROW_BITS = 32;

    /// Bits of a log sequence number of SQL Server: of its file, the block of 512 bytes in it, and the record in that.
    private static final int[] PART_BITS = {24, 27, 12};

    private static final int SERIAL_BITS = 7;

    /// The placeholders for a value that the database did not provide: as text, and as bytes in base64 and in
    /// hexadecimal digits.
    private static final List<String> UNAVAILABLE = List.of(
            "__debezium_unavailable_value",
            "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
            "5f5f646562657a69756d5f756e617661696c61626c655f76616c7565");

    private static final int HEARTBEAT_MAX = 200;
    private static final Pattern HEARTBEAT =
            Pattern.compile("\\s*\\{(\\s*\"ts_[a-z]{2}\"\\s*:\\s*[0-9]+\\s*,?){1,3}\\}\\s*");
    private static final Pattern SEQUENCE = Pattern.compile("\\[(?:null|\"([0-9]{1,20})\"),\"([0-9]{1,20})\"]");
    private static final Pattern LSN = Pattern.compile("([0-9a-f]{8}):([0-9a-f]{8}):([0-9a-f]{4})");
    private static final byte[] NOTHING = {'n', 'u', 'l', 'l'};

    private final LogNames logs;
    private final boolean readsForms;
    private boolean isAvro;
    private final TableNames tables;
    private final @Nullable ConnectSchemas schemas;
    private final int[] origins;
    private final boolean byCommit;
    private final int valuePart = plan(List.of(), "value");
    private final int keyPart = plan(List.of(), "key");
    private final int valuePayload = plan(List.of("value"), "payload");
    private final int payload = plan(List.of(), "payload");
    private final int schema = plan(List.of("value"), "schema");
    private final int schemaAlone = plan(List.of(), "schema");
    private final Image keyAlone = new Image(List.of("key"));
    private final Image keyPayload = new Image(List.of("key", "payload"));
    private final Envelope[] envelopes = {
        new Envelope(List.of()),
        new Envelope(List.of("payload")),
        new Envelope(List.of("value")),
        new Envelope(List.of("value", "payload"))
    };

    /// Where the parts of a change are.
    private final class Envelope {
        final Image before;
        final Image after;
        final int op;
        final int status;
        final int id;
        final int count;
        final int ddl;
        final int source;
        final int ofTable;
        final int ofSchema;
        final int ofDatabase;
        final int ofCollection;
        final int time;
        final int snapshot;
        final int connector;
        final int log;
        final int snapshotTime;
        final int lsn;
        final int sequence;
        final int file;
        final int position;
        final int row;
        final int changeLsn;
        final int commitLsn;
        final int serial;
        final int server;
        final int[] alone;
        final int[] byCollection;
        final int[] byDatabase;
        final int[] bySchema;
        final int[] inFull;
        final int[] inMongo;

        Envelope(List<String> names) {
            before = new Image(path(names, List.of("before")).names());
            after = new Image(path(names, List.of("after")).names());
            op = plan(names, "op");
            status = plan(names, "status");
            id = plan(names, "id");
            count = plan(names, "event_count");
            ddl = plan(names, "ddl");
            source = plan(names, "source");
            ofTable = plan(names, "source", "table");
            ofSchema = plan(names, "source", "schema");
            ofDatabase = plan(names, "source", "db");
            ofCollection = plan(names, "source", "collection");
            time = plan(names, "ts_ms");
            snapshot = plan(names, "source", "snapshot");
            connector = plan(names, "source", "connector");
            log = plan(names, "source", "name");
            snapshotTime = plan(names, "source", "ts_ms");
            lsn = plan(names, "source", "lsn");
            sequence = plan(names, "source", "sequence");
            file = plan(names, "source", "file");
            position = plan(names, "source", "pos");
            row = plan(names, "source", "row");
            changeLsn = plan(names, "source", "change_lsn");
            commitLsn = plan(names, "source", "commit_lsn");
            serial = plan(names, "source", "event_serial_no");
            server = plan(names, "source", "server_id");
            alone = new int[] {ofTable};
            byCollection = new int[] {ofDatabase, ofCollection};
            byDatabase = new int[] {ofDatabase, ofTable};
            bySchema = new int[] {ofSchema, ofTable};
            inFull = new int[] {ofDatabase, ofSchema, ofTable};
            inMongo = new int[] {ofDatabase, ofSchema, ofCollection};
        }

        /// The fields that name its table.
        int[] names() {
            if (isOfMongo()) {
                return byCollection;
            }
            return isNamed(ofSchema) ? hasDatabases() ? inFull : bySchema : isNamed(ofDatabase) ? byDatabase : alone;
        }

        boolean isOfMongo() {
            return is(connector, "mongodb") && isThere(ofCollection);
        }

        /// Whether it is in the JSON form of Avro: times and marks of snapshots are unions in every schema.
        boolean isAvro() {
            return raw().kind[time] == Fields.COMPOSITE || raw().kind[snapshot] == Fields.COMPOSITE;
        }

        /// Whether the log may have changes of several databases with equal schemas.
        boolean hasDatabases() {
            return is(connector, "sqlserver") && isNamed(ofDatabase);
        }

        boolean isNamed(int slot) {
            return isThere(slot) && raw().to[slot] > raw().from[slot];
        }
    }

    DebeziumScanner(Pipeline pipeline, Format.Debezium format, Fields fields) {
        super(pipeline, fields);
        readsForms = pipeline.input().readsBy(3);
        logs = new LogNames(format, readsForms);
        byCommit = pipeline.input().edition() != Edition.FIRST;
        schemas = readsForms || format.decimals() != null
                ? new ConnectSchemas(pipeline, format.decimals(), fields)
                : null;
        tables = new TableNames(format, pipeline.input());
        origins = Stream.of(Origin.values())
                .map(Origin::field)
                .mapToInt(fields.paths::indexOf)
                .toArray();
        planned(List.of());
    }

    /// The value of a tombstone, alone.
    @Override
    boolean isNothing(byte[] record, int from, int to) {
        return Arrays.equals(record, from, to, NOTHING, 0, NOTHING.length);
    }

    @Override
    @Nullable
    Malformed read() {
        boolean isTombstone = isNull(valuePart) && raw().kind[keyPart] != Fields.MISSING
                || isNull(valuePayload) && raw().kind[schema] != Fields.MISSING;
        if (isTombstone) {
            return null;
        }
        Envelope envelope = envelopes[isThere(valuePart) ? isThere(valuePayload) ? 3 : 2 : isThere(payload) ? 1 : 0];
        if (readsForms && !isPlain && (envelope.isAvro() || envelope.isOfMongo())) {
            isPlain = true;
            isAvro = envelope.isAvro();
            return again(
                    isAvro
                            ? AvroJson.plain(raw().bytes, recordFrom, recordTo)
                            : documents(envelope.before.slot(), envelope.after.slot()),
                    recordTo - recordFrom);
        }
        isAvro &= isPlain;
        Silence reported = nothing(envelope);
        if (reported != null) {
            silence = reported;
            return null;
        }
        if (isThere(envelope.op) && !isThere(envelope.ofTable) && !envelope.isOfMongo()) {
            return new Malformed(Reason.MALFORMED, "The change does not say of which table it is (source.table)");
        }
        if (isThere(envelope.op)) {
            TableNames.Fit fit = tables.fit(raw(), envelope.names(), envelope.ofDatabase);
            if (fit == TableNames.Fit.OTHER) {
                silence = ofOtherTable(envelope.names());
                return null;
            }
            if (fit == TableNames.Fit.OPEN) {
                return open(envelope);
            }
        }
        if (is(envelope.op, "t")) {
            return new Malformed(
                    Reason.REFUSED,
                    "The table was emptied at once (op t), which names no row, so all its rows still count. Fold the log"
                            + " into a new data directory, from a later snapshot on");
        }
        boolean isRemoved = is(envelope.op, "d");
        boolean isSnapshot = is(envelope.op, "r");
        if (!isRemoved && !isSnapshot && !is(envelope.op, "c") && !is(envelope.op, "u")) {
            return new Malformed(
                    Reason.MALFORMED,
                    "The record is no change of Debezium: it has "
                            + (isThere(envelope.op) ? "the op '" + text(envelope.op) + "'" : "no op")
                            + ", and c, u, d, r, t and m are known"
                            + (isThere(envelope.op) ? "" : OtherChanges.advice(record())));
        }
        Malformed malformed = row(envelope, isRemoved);
        if (malformed != null) {
            return malformed;
        }
        kind = isRemoved ? Kind.REMOVED : Kind.ROW;
        return byPlace ? isSnapshot ? snapshot(envelope) : place(envelope) : null;
    }

    /// The record with its documents in the place of the texts in which MongoDB's connector writes them.
    private byte[] documents(int... images) {
        byte[] form = Arrays.copyOf(
                Arrays.copyOfRange(raw().bytes, recordFrom, recordTo), recordTo - recordFrom + Decoder.PADDING);
        for (int image : images) {
            if (raw().kind[image] == Fields.TEXT || raw().kind[image] == Fields.ESCAPED_TEXT) {
                int from = raw().from[image] - recordFrom - 1;
                int to = raw().to[image] - recordFrom + 1;
                int length = TextBytes.unescape(raw().bytes, raw().from[image], raw().to[image], form, from);
                Arrays.fill(form, from + length, to, AvroJson.BLANK);
            }
        }
        return form;
    }

    private Malformed open(Envelope envelope) {
        String name = joined(envelope.names());
        String origin = isThere(envelope.ofSchema) ? "schema" : "database";
        return new Malformed(
                Reason.REFUSED,
                "The change is of the table " + name + ", and 'table: " + tables + "' leaves its schema or database"
                        + " open: several may have a table of that name. Write under input: 'table: "
                        + tables.advice(name) + "'. To count those of several, write a list or a pattern there, and"
                        + " under input: 'key: [{origin: " + origin + "}, …]'");
    }

    /// The report of a record that is of no table; `null` if it may be of one. Rows without an envelope may have
    /// fields of these names.
    private @Nullable Silence nothing(Envelope envelope) {
        if (is(envelope.op, "m")) {
            return Silence.MESSAGE;
        }
        if (raw().kind[envelope.op] == Fields.MISSING) {
            boolean isMark = (is(envelope.status, "BEGIN") || is(envelope.status, "END"))
                    && isThere(envelope.id)
                    && raw().kind[envelope.count] != Fields.MISSING;
            if (isMark) {
                return Silence.MARK;
            }
            if (isThere(envelope.ddl) && raw().kind[envelope.source] == Fields.COMPOSITE) {
                return Silence.SCHEMA;
            }
        }
        return isHeartbeat(envelope) ? Silence.HEARTBEAT : null;
    }

    /// A heartbeat has times, and nothing else.
    private boolean isHeartbeat(Envelope envelope) {
        if (!isThere(envelope.time) || isThere(envelope.op)) {
            return false;
        }
        int whole = envelope == envelopes[3] ? valuePayload : envelope == envelopes[2] ? valuePart : payload;
        String text = envelope == envelopes[0] ? record() : text(whole);
        return text.length() <= HEARTBEAT_MAX && HEARTBEAT.matcher(text).matches();
    }

    private @Nullable Malformed row(Envelope envelope, boolean isRemoved) {
        Image image = isRemoved ? envelope.before : envelope.after;
        if (image.isThere()) {
            image.take();
        } else if (!isRemoved) {
            return new Malformed(
                    Reason.MALFORMED,
                    "The change has no after, which says how the row is"
                            + (envelope.isOfMongo()
                                    ? ". It is a patch of MongoDB; let the connector send whole documents:"
                                            + " capture.mode=change_streams_update_full"
                                    : ""));
        } else if (envelope.isOfMongo()) {
            return new Malformed(
                    Reason.MALFORMED,
                    "The removal has no before, the document that was removed. Let the connector send it:"
                            + " capture.mode=change_streams_update_full_with_pre_image");
        }
        Image own = keyPayload.isThere() ? keyPayload : keyAlone;
        Malformed malformed = own.isThere() && !envelope.isOfMongo() ? own.takeWholeKey("The key of the change") : null;
        int[] named = envelope.isOfMongo() ? envelope.inMongo : envelope.inFull;
        for (int i = 0; i < origins.length; i++) {
            if (origins[i] >= 0) {
                fields.set(origins[i], raw().kind[named[i]], raw().from[named[i]], raw().to[named[i]]);
            }
        }
        if (malformed != null) {
            return malformed;
        }
        for (int slot = 0; slot < fields.kind.length && !isRemoved; slot++) {
            if (isUnavailable(slot)) {
                return Malformed.field(
                        fields.paths.get(slot),
                        "is not in the change, because the database left it out; say ALTER TABLE … REPLICA IDENTITY"
                                + " FULL there");
            }
        }
        int described = isThere(valuePart) ? schema : schemaAlone;
        return schemas == null || isRemoved && !isThere(described)
                ? null
                : schemas.read(raw(), described, recordFrom, recordTo, isAvro);
    }

    private boolean isUnavailable(int slot) {
        for (String text : UNAVAILABLE) {
            if (is(fields, slot, text)) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Malformed snapshot(Envelope envelope) {
        BigInteger time = whole(envelope.snapshotTime, DIGITS_MAX);
        return time == null
                ? new Malformed(Reason.REFUSED, "The row of a snapshot has no source.ts_ms, the time of the snapshot")
                : set(envelope, BigInteger.ZERO, time);
    }

    private @Nullable Malformed place(Envelope envelope) {
        if (byCommit && isThere(envelope.lsn) && !isThere(envelope.sequence)) {
            return new Malformed(
                    Reason.REFUSED,
                    "The change has no source.sequence, which says after which commit it came; older versions of"
                            + " Debezium do not write it, and source.lsn alone does not order changes. If a field"
                            + " of the row grows with each change, write under input: 'version: FIELD'");
        }
        BigInteger position = position(envelope);
        return position == null
                ? new Malformed(
                        Reason.REFUSED,
                        "The change has no position in the log that Onefold reads"
                                + (isThere(envelope.connector)
                                        ? ": source.connector is '" + text(envelope.connector) + "'"
                                        : "")
                                + "; it reads "
                                + (byCommit
                                        ? "sequence of PostgreSQL, file, pos and row of MySQL, commit_lsn and change_lsn of"
                                                + " SQL Server"
                                        : "lsn of PostgreSQL, file, pos and row of MySQL, change_lsn of SQL Server")
                                + ". If a field of the row grows with each change, write it"
                                + " under input: 'version: FIELD'")
                : set(envelope, position, BigInteger.ZERO);
    }

    private @Nullable BigInteger position(Envelope envelope) {
        if (isThere(envelope.lsn)) {
            return byCommit ? sequence(text(envelope.sequence), readsForms) : whole(envelope.lsn, DIGITS_MAX);
        }
        if (isThere(envelope.file)) {
            BigInteger file = lastDigits(text(envelope.file));
            BigInteger position = bounded(envelope.position, POSITION_BITS);
            BigInteger row = bounded(envelope.row, ROW_BITS);
            return file == null || position == null || row == null
                    ? null
                    : file.shiftLeft(POSITION_BITS)
                            .or(position)
                            .shiftLeft(ROW_BITS)
                            .or(row);
        }
        if (byCommit) {
            BigInteger commit = lsn(text(envelope.commitLsn));
            BigInteger change = lsn(text(envelope.changeLsn));
            BigInteger nth = bounded(envelope.serial, SERIAL_BITS);
            return commit == null || change == null || nth == null
                    ? null
                    : commit.shiftLeft(LSN_BITS - 1)
                            .or(change)
                            .shiftLeft(SERIAL_BITS)
                            .or(nth);
        }
        BigInteger serial = bounded(envelope.serial, ROW_BITS);
        BigInteger lsn = hexadecimal(text(envelope.changeLsn));
        return lsn == null || serial == null ? null : lsn.shiftLeft(ROW_BITS).or(serial);
    }

    /// The place that PostgreSQL's connector states, such as `["22472592","22472360"]`: the end of the last
    /// commit before the transaction, and the position of the change.
    private static @Nullable BigInteger sequence(String text, boolean mayHaveBlanks) {
        Matcher parts = SEQUENCE.matcher(text.replace("\\", "").replace(mayHaveBlanks ? " " : "\\", ""));
        if (!parts.matches()) {
            return null;
        }
        BigInteger change = new BigInteger(parts.group(2));
        BigInteger commit = parts.group(1) == null ? change : new BigInteger(parts.group(1));
        return change.bitLength() > LSN_BITS || commit.bitLength() > LSN_BITS
                ? null
                : commit.shiftLeft(LSN_BITS).or(change);
    }

    /// A log sequence number of SQL Server in few bits; `null` if it is not one, or a part of it is too
    /// great.
    private static @Nullable BigInteger lsn(String text) {
        Matcher parts = LSN.matcher(text);
        if (!parts.matches()) {
            return null;
        }
        BigInteger lsn = BigInteger.ZERO;
        for (int i = 0; i < PART_BITS.length; i++) {
            BigInteger part = new BigInteger(parts.group(i + 1), 16);
            if (part.bitLength() > PART_BITS[i]) {
                return null;
            }
            lsn = lsn.shiftLeft(PART_BITS[i]).or(part);
        }
        return lsn;
    }

    private @Nullable BigInteger bounded(int slot, int bits) {
        BigInteger number = whole(slot, DIGITS_MAX);
        return number == null || number.bitLength() > bits ? null : number;
    }

    /// The number of a log file, such as 3 of `mysql-bin.000003`.
    private static @Nullable BigInteger lastDigits(String file) {
        String digits = file.substring(file.lastIndexOf('.') + 1);
        return digits.matches("[0-9]{1," + FILE_DIGITS_MAX + "}") ? new BigInteger(digits) : null;
    }

    /// A log sequence number of SQL Server, such as `00000027:00000758:0005`.
    private static @Nullable BigInteger hexadecimal(String lsn) {
        return lsn.matches("[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}") ? new BigInteger(lsn.replace(":", ""), 16) : null;
    }

    private @Nullable Malformed set(Envelope envelope, BigInteger position, BigInteger number) {
        String log = text(envelope.log);
        int generation = logs.generation(log);
        Malformed refused = generation < 0
                ? logs.unlisted(log)
                : isThere(envelope.file) ? logs.otherServer(log, whole(envelope.server, DIGITS_MAX)) : null;
        if (refused != null) {
            return refused;
        }
        try {
            version = Version.of(generation, position, number.longValueExact()).number();
            return null;
        } catch (ArithmeticException | IllegalArgumentException e) {
            return new Malformed(Reason.REFUSED, "The place of the change is too great: " + position + "/" + number);
        }
    }
}
