package dev.onefold.cli.seed;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.run.InputFile;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Export;
import dev.onefold.tables.ExportRows;
import dev.onefold.tables.FileRows;
import dev.onefold.tables.Folder;
import dev.onefold.tables.QueryRows;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.Seeder;
import dev.onefold.tables.SourceTable;
import dev.onefold.tables.TableRows;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;

/// Opens what `--from` names, and refuses what cannot be exact.
final class SeedSources {
    private static final String FILE = "file:";
    private static final int BEGIN_BYTES = 1 << 16;
    static final String DYNAMODB = "dynamodb:";
    static final String EXPORT = "export:";
    private static final String BUCKET = "s3://";
    private static final String JDBC = "jdbc:";

    /// An export is not a strong read, and the time in a stream's name is when it was asked for.
    private static final Duration EXPORT_BEHIND_STREAM = Duration.ofMinutes(5);

    private final Caller caller;
    private final SeedOptions options;
    private final Clients clients;
    private final Pipeline pipeline;
    private final long rate;

    /// @param rate read units of a table a second, else rows; 0 without a limit
    SeedSources(Caller caller, SeedOptions options, Clients clients, Pipeline pipeline, long rate) {
        this.caller = caller;
        this.options = options;
        this.clients = clients;
        this.pipeline = pipeline;
        this.rate = rate;
    }

    /// Opens it. Nothing of its rows is read.
    ///
    /// @throws CommandFailure with the reason why it is refused
    Opened open() throws IOException {
        Rules.require(() -> Seeder.requireSeedable(pipeline));
        String from = options.from;
        requireQuery(from);
        try {
            if (from.startsWith(DYNAMODB)) {
                return table(from.substring(DYNAMODB.length()));
            }
            if (from.startsWith(EXPORT)) {
                return export(from.substring(EXPORT.length()));
            }
        } catch (SdkException e) {
            throw new CommandFailure(ExitCode.DIRECTORY, from + " cannot be reached: " + Reason.of(e), e);
        } catch (IllegalArgumentException e) {
            throw refused(e.getMessage() + ".");
        } catch (IOException e) {
            throw refused(from + " cannot be read: " + e.getMessage() + ".");
        }
        return isDatabase(from) ? query(from) : file(from.startsWith(FILE) ? from.substring(FILE.length()) : from);
    }

    private static boolean isDatabase(String from) {
        return from.startsWith(JDBC) || from.matches("postgres(ql)?://.*");
    }

    private static CommandFailure refused(String message) {
        return new CommandFailure(ExitCode.DIFFERENT, message);
    }

    private void requireQuery(String from) {
        if (isDatabase(from) == (options.query == null)) {
            throw CommandFailure.usage("--query and a database in --from go together.");
        }
        boolean isTable = from.startsWith(DYNAMODB) || from.startsWith(EXPORT);
        if (!isTable && options.noStream && !isDatabase(from)) {
            throw CommandFailure.usage("--no-stream is for dynamodb:, export: and a database.");
        }
        if (options.noStream && RowVersions.areByPlace(pipeline) && !isDatabase(from)) {
            throw refused("The versions of pipeline " + pipeline.name() + " are places in the table's change stream, so"
                    + " --no-stream cannot be.");
        }
        if (options.stream != null && !(pipeline.input().format() instanceof Format.DynamoDbStream) && !isTable) {
            throw CommandFailure.usage("--stream is for a pipeline that reads the change stream of a DynamoDB table.");
        }
        boolean readsSlot = isDatabase(from) && pipeline.input().format() instanceof Format.Debezium;
        if (options.slot != null && (!readsSlot || options.noStream)) {
            throw CommandFailure.usage(
                    "--slot is for a database and a pipeline of Debezium's changes, without --no-stream.");
        }
        if (options.stream != null && options.noStream) {
            throw CommandFailure.usage("--stream and --no-stream contradict each other.");
        }
    }

    private void requireJson(String what) {
        if (pipeline.input().format() instanceof Format.Csv) {
            throw refused("Pipeline " + pipeline.name() + " reads CSV, and " + what
                    + " gives rows of JSON. Write the rows to a CSV file, and seed from it.");
        }
    }

    private Opened table(String name) throws IOException {
        requireJson("a table");
        SourceTable table = SourceTable.describe(clients.tables(), name).requireActive();
        table.requireKey(pipeline);
        String stream = options.noStream ? null : requireOn(table);
        requireGeneration(stream);
        TableRows rows = new TableRows(clients.tables(), table, options.segments(), Rate.of(rate));
        return new Opened(rows, "table " + name, Rate.of(0), stream);
    }

    private void requireGeneration(@Nullable String stream) {
        if (RowVersions.areByPlace(pipeline)) {
            Rules.require(() -> RowVersions.generation(pipeline, stream));
        }
    }

    private String requireOn(SourceTable table) {
        if (options.stream != null && SourceTable.isKinesis(options.stream)) {
            return table.requireSentTo(clients.tables(), options.stream);
        }
        String stream = table.stream();
        if (stream == null) {
            throw refused(
                    "The change stream of table " + table.name() + " is off: what changes while the table is read,"
                            + " and later, would be lost. Switch it on first, and let the pipeline read it; or, if the pipeline's"
                            + " live records come from elsewhere, say --no-stream.");
        }
        if (options.stream != null && !options.stream.equals(stream)) {
            throw refused("Table " + table.name() + " has another change stream now: " + stream + ", not "
                    + options.stream + ". Let the pipeline read that one first.");
        }
        return stream;
    }

    private Opened export(String place) throws IOException {
        requireJson("an export");
        Export export = Export.read(folder(place));
        SourceTable.requireNamed(pipeline, export.tableArn());
        String stream = options.noStream ? null : options.stream == null ? streamOf(export) : options.stream;
        requireGeneration(stream);
        if (stream != null && SourceTable.isKinesis(stream)) {
            throw refused("Nobody says since when the changes of the table go to " + stream
                    + ", so that it is not known" + " whether the export is younger. Seed from the table.");
        }
        if (stream != null) {
            Instant on = SourceTable.begin(stream);
            if (export.at().isBefore(on.plus(EXPORT_BEHIND_STREAM))) {
                throw refused("The export is of " + export.at() + ", and the change stream was switched on at " + on
                        + ": what changed in between may be in neither. Export the table again; an export is taken if"
                        + " it is at least " + EXPORT_BEHIND_STREAM.toMinutes() + " minutes younger than the stream.");
            }
        }
        ExportRows rows = new ExportRows(export, options.segments());
        return new Opened(rows, "the export of " + export.at(), Rate.of(rate), stream);
    }

    private String streamOf(Export export) {
        String name = export.tableArn().substring(export.tableArn().lastIndexOf('/') + 1);
        SourceTable table;
        try {
            table = SourceTable.describe(clients.tables(), name);
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "Table " + name + " cannot be asked for its change stream: " + Reason.of(e)
                            + "\nSay which stream the pipeline reads, with --stream.",
                    e);
        }
        if (!table.id().equals(export.tableId())) {
            throw refused("The export is of another table: " + name + " was made again since.");
        }
        table.requireKey(pipeline);
        return requireOn(table);
    }

    private Folder folder(String place) {
        if (place.startsWith(BUCKET)) {
            String path = place.substring(BUCKET.length());
            int slash = path.indexOf('/');
            String bucket = slash < 0 ? path : path.substring(0, slash);
            String prefix = slash < 0 ? "" : path.substring(slash + 1);
            return new Folder.InBucket(
                    clients.objects(), bucket, prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/");
        }
        Path folder = caller.path(place);
        if (!Files.isDirectory(folder)) {
            throw CommandFailure.usage("There is no folder " + caller.shown(folder) + ".");
        }
        return new Folder.OnDisk(folder);
    }

    private Opened query(String from) throws IOException {
        requireJson("a query");
        Map<String, String> properties = new TreeMap<>();
        put(properties, "user", caller.environment().get("PGUSER"));
        put(properties, "password", caller.environment().get("PGPASSWORD"));
        String url = from.startsWith(JDBC) ? from : jdbc(from, properties);
        QueryRows rows = new QueryRows(new QueryRows.Database(url, properties), String.valueOf(options.query));
        if (pipeline.input().format() instanceof Format.Debezium && !options.noStream) {
            String slot = requireSlot(rows);
            return new Opened(rows, "the query (slot " + slot + ")", Rate.of(rate), null);
        }
        return new Opened(rows, "the query", Rate.of(rate), null);
    }

    /// The slot through which Debezium reads the log.
    private String requireSlot(QueryRows rows) throws IOException {
        List<String> slots;
        try {
            slots = rows.slots();
        } catch (IOException e) {
            throw refused("The database cannot be read: " + e.getMessage());
        }
        String named = options.slot;
        if (slots.isEmpty()) {
            throw refused(
                    "The database has no logical replication slot that is ready, so its changes do not go to Debezium"
                            + " yet: what changes while the rows are read, and later, would be lost. Start the connector first; or, if"
                            + " the changes come from elsewhere, say --no-stream.");
        }
        if (named != null && !slots.contains(named)) {
            throw refused("The database has no logical replication slot " + named + " that is ready. Ready are: "
                    + String.join(", ", slots) + ".");
        }
        if (named == null && slots.size() > 1) {
            throw refused("The database has several logical replication slots: " + String.join(", ", slots)
                    + ". Say with --slot which one Debezium reads: what another one has does not come here.");
        }
        return named == null ? slots.getFirst() : named;
    }

    /// JDBC knows no user in front of the host.
    private static String jdbc(String from, Map<String, String> properties) {
        URI uri;
        try {
            uri = new URI(from);
        } catch (URISyntaxException e) {
            throw CommandFailure.usage("'" + from + "' is not the address of a database, such as"
                    + " postgresql://user@localhost:5432/orders.");
        }
        String user = uri.getUserInfo();
        if (user != null) {
            int colon = user.indexOf(':');
            put(properties, "user", colon < 0 ? user : user.substring(0, colon));
            put(properties, "password", colon < 0 ? null : user.substring(colon + 1));
        }
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        String more = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        return "jdbc:postgresql://" + uri.getHost() + port + uri.getRawPath() + more;
    }

    private static void put(Map<String, String> properties, String name, @Nullable String value) {
        if (value != null) {
            properties.put(name, value);
        }
    }

    private Opened file(String name) throws IOException {
        if (name.contains("://")) {
            throw CommandFailure.usage("'" + name + "' is no source of rows. A source is a file, dynamodb:TABLE,"
                    + " export:FOLDER, export:s3://BUCKET/PREFIX, or postgresql://HOST/DATABASE with --query.");
        }
        if (Files.exists(caller.path(name)) && !Files.isRegularFile(caller.path(name))) {
            throw CommandFailure.usage(name + " is not a file that can be read again.");
        }
        InputFile file = InputFile.of(caller, name);
        String plain = file.path().toString().replaceFirst("\\.(gz|zst)$", "");
        boolean csv = plain.endsWith(".csv") || plain.endsWith(".tsv");
        boolean reads = pipeline.input().format() instanceof Format.Csv;
        if (reads && !csv && !plain.endsWith(".txt")) {
            requireJson("the file");
        }
        if (!csv && !reads) {
            requireLines(file);
        }
        FileRows.Form form = reads || !csv
                ? new FileRows.Form.Lines(Decoder.wantsHeader(pipeline), RecordEnds.ofSource(pipeline))
                : new FileRows.Form.Csv(plain.endsWith(".tsv") ? '\t' : ',');
        FileRows.Content content = FileRows.Content.of(
                file.path(), file.read(), () -> JsonRecords.of(RecordEnds.of(pipeline), file.open()));
        RowSource rows = new FileRows(content, form);
        requireGeneration(options.stream);
        return new Opened(rows, caller.shown(file.path()), Rate.of(rate), options.stream);
    }

    private void requireLines(InputFile file) throws IOException {
        byte[] begin;
        try (InputStream in = file.open()) {
            begin = in.readNBytes(BEGIN_BYTES);
        }
        Records seen = JsonRecords.seen(begin, begin.length);
        Records read = RecordEnds.of(pipeline).ofFiles();
        if (seen != Records.LINES && read == Records.LINES) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    caller.shown(file.path()) + " holds " + JsonRecords.described(seen)
                            + ", and its rows are read as one object a line. Write them so: jq -c "
                            + (seen == Records.ARRAY ? "'.[]'" : ".") + " FILE > NEW");
        }
    }
}
