package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Fold;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TableName;
import dev.onefold.core.pipeline.TimeType;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a pipeline from a document, as `docs/pipelines.md` describes it, and finds all its problems. Nothing
/// else decides whether a pipeline is valid: YAML, JSON text and the fluent API all come here. Not
/// thread-safe.
///
/// It is one idea: what one setting of an input may say depends on the others.
public final class PipelineReader {
    public static final String JSON = "json";
    public static final String CSV = "csv";
    public static final String DYNAMODB_STREAM = "dynamodb-stream";
    public static final String DEBEZIUM = "debezium";
    public static final String KEEP = "keep";
    private static final String RETRACT = "retract";

    /// The formats, with the settings that each has alone.
    static final SequencedMap<String, List<String>> FORMATS = formats();

    static final String INTEGER = "integer";
    static final char DELIMITER = ',';
    public static final String NONE = "none";

    public static final String FIRST = "first";

    private static final Pattern NAME = Pattern.compile("[a-z0-9](?:[a-z0-9-]*[a-z0-9])?");
    private static final Pattern TABLE_OF_DYNAMODB =
            Pattern.compile("(?:arn:[a-z0-9-]+:dynamodb:[a-z0-9-]+:[0-9]*:table/)?[A-Za-z0-9_.-]{3,255}");
    private static final String KEY_ADVICE = "write key and version to let the highest version of a key count";

    private final Problems problems = new Problems();

    private PipelineReader() {}

    /// The pipeline of the document, or all its problems.
    public static Reading read(Node file) {
        PipelineReader reader = new PipelineReader();
        Pipeline pipeline = reader.pipeline(file);
        return pipeline == null ? new Reading.Refused(reader.problems.inOrder()) : new Reading.Read(pipeline);
    }

    /// Reads the name of a pipeline or roll-up.
    static String name(Expression expression) {
        String name = expression.whole();
        if (name.length() > Limits.NAME_LENGTH_MAX || !NAME.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0,
                    name.isEmpty() ? "is empty" : "is not a name",
                    "write letters a-z, digits and hyphens, at most " + Limits.NAME_LENGTH_MAX
                            + ", no hyphen first or last");
        }
        return name;
    }

    /// Takes the name of a time type.
    static TimeType timeType(Expression expression) {
        List<String> words = Stream.of(TimeType.values()).map(TimeType::word).toList();
        return timeType(expression.oneOf(words, "is not a type of time")).orElseThrow();
    }

    private static Optional<TimeType> timeType(String word) {
        return Stream.of(TimeType.values())
                .filter(type -> type.word().equals(word))
                .findFirst();
    }

    private @Nullable Pipeline pipeline(Node file) {
        Section settings = Section.of(new Setting(file, "", problems), Section.Kind.FILE);
        if (settings == null) {
            return null;
        }
        settings.require("pipeline", "write the pipeline's name: letters a-z, digits and hyphens");
        String name = settings.read("pipeline", PipelineReader::name);
        Setting inputSetting =
                settings.require("input", "write what an event is under input: its format, key and version");
        Section input = inputSetting == null ? null : Section.of(inputSetting, Section.Kind.INPUT);
        if (input == null) {
            new RollupReader(new FieldGrammar(null), null).rollups(settings); // To find their problems, too.
            return null;
        }
        Origin origin = OriginReader.read(input);
        Format format = format(input);
        FieldGrammar fields = new FieldGrammar(format, LetReader.names(input));
        List<Let> lets = LetReader.lets(input, fields);
        boolean isOfChanges = format instanceof Format.Changes;
        Setting order = settings.has("batch") && !input.has("version") && !isOfChanges ? input.get("key") : null;
        Identity identity = identity(input, fields, isOfChanges, order != null);
        Typed<TimeType> time = typed(input, Section.Kind.TIME, fields, TimeType.AUTO, PipelineReader::onlyTimeType);
        Condition delete = input.read("delete", text -> ConditionParser.parse(text, fields));
        Condition filter = input.read("filter", text -> ConditionParser.parse(text, fields));
        Integer edition = input.read("edition", text -> Numbers.integer(text, Edition.FIRST, Edition.NEWEST));
        Input.Spellings spellings = ValuesReader.spellings(input);
        requireOrderOfTexts(input, spellings, identity);
        if (identity instanceof Identity.ById byId) {
            OriginReader.requirePartition(input, byId);
        }
        EventTime eventTime = time == null ? null : new EventTime(time.field, time.type);
        if (format instanceof Format.Debezium debezium && identity instanceof Identity.Versioned versioned) {
            requireOrigins(input, debezium, versioned.key());
        }
        Input event = format == null || identity == null
                ? null
                : new Input(
                        format,
                        identity,
                        eventTime,
                        delete,
                        filter,
                        edition == null ? Edition.UNSTATED : edition,
                        spellings,
                        lets);
        if (format instanceof Format.Changes && identity instanceof Identity.Versioned versioned) {
            refuseDerived(input, versioned, fields.derived());
        }
        RollupReader rollups = new RollupReader(fields, eventTime, spellings.zone());
        Fold fold = fold(settings, event, order, rollups, fields);
        Publishing publishing = PublishingReader.read(settings, fold);
        return name == null || event == null || fold == null || !problems.isEmpty()
                ? null
                : new Pipeline(name, event, fold, origin, publishing);
    }

    private static void requireOrderOfTexts(Section input, Input.Spellings spellings, @Nullable Identity identity) {
        if (spellings.zone() != null
                && !spellings.zone().getRules().isFixedOffset()
                && identity instanceof Identity.Versioned versioned
                && versioned.isVersionLocal()) {
            input.refuse(
                    "zone",
                    "changes its offset, and the version is a time in texts: an hour that comes twice has no order",
                    "write a zone that never does, such as UTC or +01:00; or leave it out and send times with an offset");
        }
    }

    /// A removal brings the key of its row alone, and is to be newer than the row.
    private static void refuseDerived(Section input, Identity.Versioned identity, List<FieldPath> derived) {
        boolean hasKey = identity.key().stream().anyMatch(derived::contains);
        boolean hasVersion = identity.version() != null && derived.contains(identity.version())
                || identity.composite().stream().anyMatch(part -> derived.contains(part.field()));
        if (hasKey || hasVersion) {
            input.refuse(
                    hasKey ? "key" : "version",
                    "has a derived field, and a change that removes a row may bring no more than the table's key",
                    "write fields of the table");
        }
    }

    /// Groups are freed with the rows in them.
    private static void refuseBesideKeep(Section settings, Identity identity) {
        if (identity instanceof Identity.ByPlace) {
            settings.refuse(
                    settings.has("rollup") ? "rollup" : "rollups",
                    "has keep, which frees groups with the rows in them, and records that count by their place leave no"
                            + " rows",
                    "write key and version, or id, under input; or leave keep out");
        } else if (identity instanceof Identity.ById byId && byId.horizon() != null) {
            settings.refuse("input", "has a horizon, and keep frees ids with their groups", "leave horizon out");
        }
    }

    private static @Nullable Fold fold(
            Section settings,
            @Nullable Input event,
            @Nullable Setting order,
            RollupReader rollups,
            FieldGrammar fields) {
        Setting batch = settings.get("batch");
        if (batch != null) {
            return new BatchReader(settings, event, order, fields).read(batch);
        }
        Setting process = settings.get("process");
        if (process != null) {
            return new ProcessReader(settings, event).read(process);
        }
        Rollups all = new Rollups(rollups.rollups(settings));
        if (all.areKept() && event != null) {
            refuseBesideKeep(settings, event.identity());
        }
        return all;
    }

    private @Nullable Format format(Section input) {
        String word = input.has("format") ? input.read("format", PipelineReader::formatWord) : JSON;
        List<String> columns = columns(input);
        Character delimiter = input.read("delimiter", PipelineReader::delimiter);
        Character quote = input.read("quote", PipelineReader::quote);
        Character decimal = input.read("decimal", PipelineReader::decimal);
        Character thousands = input.read("thousands", PipelineReader::thousands);
        List<String> nulls = nulls(input);
        Character comment = input.read("comment", PipelineReader::comment);
        Character escape = input.read("escape", PipelineReader::escape);
        Boolean isOnce = input.read("header", PipelineReader::isHeaderOnce);
        Boolean keepsExpired = input.read("expired", PipelineReader::keepsExpired);
        Instant stream = input.read("stream", PipelineReader::stream);
        List<TableName> tables = DYNAMODB_STREAM.equals(word) ? List.of() : tables(input);
        List<String> logs = logs(input);
        List<FieldPath> unwrap = unwrap(input);
        Input.Records records = input.read("records", PipelineReader::records);
        if (word == null) {
            return null;
        }
        refuseOthers(input, word);
        return switch (word) {
            case CSV -> {
                char between = delimiter == null ? DELIMITER : delimiter;
                char around = quote == null ? Format.Csv.QUOTE : quote;
                if (between == around) {
                    input.refuse("quote", "is the delimiter, too", "write another character, or 'quote: none'");
                }
                char point = decimal == null ? Format.Csv.POINT : decimal;
                char groups = thousands == null ? Format.Csv.NO_THOUSANDS : thousands;
                if (point == groups) {
                    input.refuse("thousands", "is the decimal separator, too", "write another one, or leave it out");
                }
                char remark = comment == null ? Format.Csv.NO_COMMENT : comment;
                if (comment != null && (remark == between || remark == around)) {
                    input.refuse("comment", "is the delimiter or the quote, too", "write another character");
                }
                char before = escape == null ? Format.Csv.NO_ESCAPE : escape;
                if (escape != null && (before == between || before == around || before == remark)) {
                    input.refuse(
                            "escape", "is the delimiter, the quote or the comment, too", "write another character");
                }
                yield new Format.Csv(
                        between, columns, around, point, groups, nulls, remark, before, isOnce != null && isOnce);
            }
            case DYNAMODB_STREAM ->
                new Format.DynamoDbStream(tableOfDynamoDb(input), stream, keepsExpired != null && keepsExpired);
            case DEBEZIUM -> {
                input.require("table", "write the name of the table: a connector's log may have several");
                yield new Format.Debezium(tables, logs, input.read("decimals", PipelineReader::decimals));
            }
            default -> new Format.Json(unwrap, records == null ? Input.Records.LINES : records);
        };
    }

    /// Refuses the settings that other formats have alone.
    private static void refuseOthers(Section input, String word) {
        List<String> own = FORMATS.getOrDefault(word, List.of());
        FORMATS.values().stream()
                .flatMap(List::stream)
                .distinct()
                .filter(name -> input.has(name) && !own.contains(name))
                .forEach(name -> {
                    List<String> formats = FORMATS.keySet().stream()
                            .filter(format ->
                                    FORMATS.getOrDefault(format, List.of()).contains(name))
                            .toList();
                    input.refuse(
                            name,
                            "is for " + String.join(" and ", formats) + " only",
                            "write 'format: " + formats.getFirst() + "', or leave it out");
                });
    }

    /// A stream has the changes of one table, and rows of two may have equal keys.
    private static @Nullable String tableOfDynamoDb(Section input) {
        return input.read("table", expression -> {
            String name = expression.whole();
            if (!TABLE_OF_DYNAMODB.matcher(name).matches()) {
                throw expression.refuseFrom(
                        0,
                        name.contains("/stream/") ? "is the ARN of a stream" : "is not the name of a table",
                        "write the name or the ARN of one table, such as Orders or"
                                + " arn:aws:dynamodb:eu-west-1:123456789012:table/Orders");
            }
            return name;
        });
    }

    private static Input.DecimalForm decimals(Expression expression) {
        boolean isText = expression
                .oneOf(
                        List.of(Input.DecimalForm.TEXT.word(), Input.DecimalForm.PRECISE.word()),
                        "is not a form of decimals")
                .equals(Input.DecimalForm.TEXT.word());
        expression.end("write the word alone");
        return isText ? Input.DecimalForm.TEXT : Input.DecimalForm.PRECISE;
    }

    private static Input.Records records(Expression expression) {
        List<Input.Records> all = List.of(Input.Records.values());
        List<String> words = all.stream().map(Input.Records::word).toList();
        String word = expression.oneOf(words, "is not how a file holds its records");
        expression.end("write the word alone");
        return all.get(words.indexOf(word));
    }

    private static boolean keepsExpired(Expression expression) {
        return expression
                .oneOf(List.of(RETRACT, KEEP), "is not what is done with a row that expires")
                .equals(KEEP);
    }

    /// The label of a stream, alone or at the end of its ARN.
    private static Instant stream(Expression expression) {
        String text = expression.whole();
        try {
            return LocalDateTime.parse(text.substring(text.lastIndexOf('/') + 1))
                    .toInstant(ZoneOffset.UTC);
        } catch (DateTimeException e) {
            throw expression.refuseFrom(
                    0,
                    "does not end in the time at which a table's stream was switched on",
                    "write the stream's ARN, such as arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/"
                            + "2026-11-01T09:30:00.000");
        }
    }

    private static List<TableName> tables(Section input) {
        Setting setting = input.get("table");
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            TableName table = setting.read(PipelineReader::table);
            return table == null ? List.of() : List.of(table);
        }
        if (setting.items().isEmpty()) {
            setting.refuse("", "is empty", "write the names of the tables");
        }
        return setting.distinct(PipelineReader::table, "name each table once");
    }

    private static TableName table(Expression expression) {
        String name = expression.whole();
        if (name.isBlank()) {
            throw expression.refuseFrom(0, "is empty", "write the name of the table");
        }
        TableName table = TableName.of(name);
        for (String part : table.parts()) {
            if (part.indexOf(TableName.ANY) != part.lastIndexOf(TableName.ANY)) {
                throw expression.refuseFrom(
                        0, "has '*' twice between two dots", "write it once, as in public.orders_*");
            }
        }
        return table;
    }

    /// Refuses a key in which rows of several tables may be equal.
    private static void requireOrigins(Section input, Format.Debezium format, List<FieldPath> key) {
        boolean hasDatabase = key.contains(TableName.Origin.DATABASE.field());
        boolean hasSchema = key.contains(TableName.Origin.SCHEMA.field());
        String missing = format.varies(TableName::table, true) && !key.contains(TableName.Origin.TABLE.field())
                ? "table"
                : format.varies(TableName::schema, false) && !hasSchema && !hasDatabase
                        ? "schema"
                        : format.varies(TableName::database, false) && !hasDatabase ? "database" : "";
        if (!missing.isEmpty()) {
            String mysql = missing.equals("schema") ? " (database where tables have no schema, as in MySQL)" : "";
            input.refuse(
                    "key",
                    "does not say of which " + missing + " a row is, and rows of several may have equal keys",
                    "write 'key: [{origin: " + missing + "}, …]'" + mysql);
        }
    }

    private static List<String> logs(Section input) {
        Setting setting = input.get("logs");
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            setting.refuseKind("a list of names of connectors (topic.prefix), the oldest first");
            return List.of();
        }
        return setting.distinct(PipelineReader::log, "name each connector once, or each of its servers");
    }

    private static String log(Expression expression) {
        String text = expression.whole();
        if (text.indexOf(Format.Debezium.SERVER) >= 0 && !text.matches("[^/]+/[0-9]{1,10}")) {
            throw expression.refuseFrom(
                    0,
                    "is not a connector with a server",
                    "write its name (topic.prefix), and for MySQL behind it the server's id: grid/223344");
        }
        return text;
    }

    private static List<FieldPath> unwrap(Section input) {
        Setting setting = input.get("unwrap");
        if (setting != null && setting.node() instanceof Node.Mapping) {
            setting.refuseKind("a field or a list of fields");
            return List.of();
        }
        FieldGrammar fields = new FieldGrammar(null);
        List<FieldPath> unwrap = ValuesReader.some(setting, each -> each.read(fields::alone), FieldPath::toString);
        if (unwrap.size() > Limits.UNWRAPS_MAX) {
            input.refuse(
                    "unwrap",
                    "has " + unwrap.size() + " fields",
                    "write at most " + Limits.UNWRAPS_MAX + ", the outermost first");
        }
        return unwrap;
    }

    private static SequencedMap<String, List<String>> formats() {
        SequencedMap<String, List<String>> formats = new LinkedHashMap<>();
        formats.put(JSON, List.of("unwrap", "records"));
        formats.put(
                CSV,
                List.of(
                        "columns",
                        "delimiter",
                        "quote",
                        "decimal",
                        "thousands",
                        "nulls",
                        "comment",
                        "escape",
                        "header"));
        formats.put(
                Origin.Encoded.AVRO.word(),
                List.of(OriginReader.REGISTRY, OriginReader.SCHEMAS, OriginReader.KEY_FORMAT));
        formats.put(
                Origin.Encoded.PROTOBUF.word(),
                List.of(
                        OriginReader.REGISTRY,
                        OriginReader.DESCRIPTORS,
                        OriginReader.MESSAGE,
                        OriginReader.KEY_FORMAT));
        formats.put(Origin.Encoded.JSON_SCHEMA.word(), List.of(OriginReader.REGISTRY, OriginReader.KEY_FORMAT));
        formats.put(DYNAMODB_STREAM, List.of("stream", "expired", "table"));
        formats.put(DEBEZIUM, List.of("table", "logs", "decimals", OriginReader.REGISTRY, OriginReader.SCHEMAS));
        return Collections.unmodifiableSequencedMap(formats);
    }

    private static String formatWord(Expression expression) {
        String word = expression.whole();
        List<String> words = List.copyOf(FORMATS.keySet());
        if (!words.contains(word)) {
            throw expression.refuseFrom(0, "is not a format", NearestWord.advice(word, words));
        }
        return word;
    }

    private static char delimiter(Expression expression) {
        String text = expression.whole();
        char first = text.isEmpty() ? '"' : text.charAt(0);
        if (text.length() != 1 || first == '"' || first > '~' || first < ' ' && first != '\t') {
            throw expression.refuseFrom(
                    0,
                    text.isEmpty() ? "is empty" : "is not a delimiter",
                    "write one ASCII character in quotes, but not a double quote or line break: \",\", \";\", \"|\", \"\\t\"");
        }
        return first;
    }

    private static char quote(Expression expression) {
        String text = expression.whole();
        char first = text.isEmpty() ? ' ' : text.charAt(0);
        if (text.equals(NONE)) {
            return Format.Csv.NO_QUOTE;
        }
        if (text.length() != 1 || first > '~' || first <= ' ') {
            throw expression.refuseFrom(
                    0,
                    text.isEmpty() ? "is empty" : "is not a quote",
                    "write one ASCII character, such as \"'\", or none if quotes are ordinary characters");
        }
        return first;
    }

    private static char comment(Expression expression) {
        String text = expression.whole();
        if (text.length() != 1 || text.charAt(0) > '~' || text.charAt(0) <= ' ') {
            throw expression.refuseFrom(
                    0, "does not begin a line that is a comment", "write one ASCII character in quotes, such as \"#\"");
        }
        return text.charAt(0);
    }

    private static boolean isHeaderOnce(Expression expression) {
        String word = expression.whole();
        if (!word.equals(FIRST) && !word.equals("again")) {
            throw expression.refuseFrom(
                    0, "does not say which records are headers", NearestWord.advice(word, List.of("again", FIRST)));
        }
        return word.equals(FIRST);
    }

    private static char escape(Expression expression) {
        String text = expression.whole();
        char first = text.isEmpty() ? ' ' : text.charAt(0);
        if (text.length() != 1 || first > '~' || first <= ' ' || Character.isLetterOrDigit(first)) {
            throw expression.refuseFrom(0, "is not an escape", "write one ASCII character in quotes, such as '\\'");
        }
        return first;
    }

    /// Texts; in YAML, `NULL` without quotes is none.
    private static List<String> nulls(Section input) {
        Setting setting = input.get("nulls");
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            setting.refuseKind("a list of the values that are missing, such as [NULL, \"-\"]");
        }
        return setting.distinctItems(
                item -> item.node() instanceof Node.Scalar scalar && scalar.isNull()
                        ? scalar.text()
                        : item.read(Expression::whole),
                "name it once");
    }

    private static char decimal(Expression expression) {
        return separator(expression, ".,", "\",\" for numbers such as 1234,50");
    }

    private static char thousands(Expression expression) {
        return separator(
                expression,
                ".,'_ \u00a0\u202f\u2019",
                "what is between groups of three digits: \".\", \",\", \"'\", \"_\", \" \", or another space or apostrophe"
                        + " by its number: \"\\u00a0\", \"\\u202f\" or \"\\u2019\"");
    }

    private static char separator(Expression expression, String allowed, String right) {
        String text = expression.whole();
        if (text.length() != 1 || allowed.indexOf(text.charAt(0)) < 0) {
            throw expression.refuseFrom(0, "is not a separator in numbers", "write " + right);
        }
        return text.charAt(0);
    }

    private List<String> columns(Section input) {
        Setting setting = input.get("columns");
        if (setting == null) {
            return List.of();
        }
        String right = "a list of names, or leave it out when the first line of each file names the columns";
        if (!(setting.node() instanceof Node.Sequence)) {
            setting.refuseKind(right);
        } else if (setting.items().isEmpty()) {
            setting.refuse("", "is empty", "write " + right);
        }
        return setting.distinct(Expression::whole, "give each column a name of its own");
    }

    /// @param isKeyOfOrder whether the key identifies no record: by it batches wait for each other
    private @Nullable Identity identity(Section input, FieldGrammar fields, boolean isOfChanges, boolean isKeyOfOrder) {
        boolean versioned = input.has("key") && (input.has("version") || isOfChanges);
        if (isOfChanges && input.has("id")) {
            input.refuse(
                    "id",
                    "is not possible here: each record is a version of a row",
                    "write key with the table's key, or 'format: json'");
            return null;
        }
        if (isOfChanges && !input.has("key")) {
            input.require("key", "write the fields that are the table's key, in the order of your choice");
        }
        refuseMixedIdentities(input, versioned || isOfChanges, input.has("key") && !isKeyOfOrder);
        List<Identity.Part> key = isKeyOfOrder ? List.of() : new ValuesReader(fields).parts(input.get("key"));
        Setting several = input.get("version");
        boolean isComposite = several != null && several.node() instanceof Node.Sequence;
        List<Identity.VersionPart> composite =
                several != null && isComposite ? new ValuesReader(fields).versionParts(several) : List.of();
        Typed<Optional<TimeType>> version = isComposite
                ? null
                : typed(input, Section.Kind.VERSION, fields, Optional.empty(), PipelineReader::versionType);
        boolean byMessage = isMessage(input.get("id"));
        List<Identity.Part> id = byMessage ? List.of() : new ValuesReader(fields).parts(input.get("id"));
        Duration horizon = input.read("horizon", PipelineReader::horizon);
        if (input.has("horizon") && !input.has("id")) {
            input.refuse("horizon", "is for pipelines with an id only", "write id, or leave horizon out");
        } else if (input.has("horizon") && !input.has("time")) {
            input.refuse("horizon", "needs to know the time of a record", "write time: FIELD, or leave horizon out");
        } else if (input.has("horizon") && byMessage) {
            input.refuse("horizon", "is not possible with id: message", "leave it out, or write id: FIELD");
        }
        if (byMessage) {
            return new Identity.ByMessage();
        }
        if (input.has("id")) {
            return new Identity.ById(id, horizon);
        }
        if (versioned && !input.has("version")) {
            return new Identity.Versioned(key, null, null);
        }
        if (versioned && !composite.isEmpty()) {
            return Identity.Versioned.of(key, composite);
        }
        if (versioned) {
            return version == null ? null : new Identity.Versioned(key, version.field, version.type.orElse(null));
        }
        return new Identity.ByPlace();
    }

    /// Whether an id is the one that the source gives a record. A field of that name is in a list: `id:
    /// [message]`.
    private static boolean isMessage(@Nullable Setting id) {
        return id != null
                && id.node() instanceof Node.Scalar scalar
                && scalar.text().strip().equals(Identity.ByMessage.WORD);
    }

    private static void refuseMixedIdentities(Section input, boolean versioned, boolean hasKey) {
        if (input.has("id")) {
            for (String name : List.of("key", "version", "delete")) {
                if (name.equals("key") ? hasKey : input.has(name)) {
                    input.refuse(
                            name,
                            "stands beside id, but a pipeline with an id replaces and deletes nothing",
                            "leave out " + name + " or id");
                }
            }
        } else if (hasKey && !versioned) {
            input.refuse(
                    "key",
                    "has no version beside it: nothing would say which of two records is newer",
                    "write version: FIELD; or write id in place of key if each record counts");
        } else if (input.has("version") && !versioned) {
            input.refuse(
                    "version", "has no key beside it: nothing would say what it is a version of", "write key: FIELD");
        }
        if (input.has("delete") && !input.has("id") && !versioned) {
            input.refuse(
                    "delete", "needs key and version: without them nothing is ever replaced or deleted", KEY_ADVICE);
        }
    }

    private static Duration horizon(Expression expression) {
        int start = expression.offset();
        Duration horizon = expression.duration(Limits.DURATION_DAYS_MAX);
        if (horizon.compareTo(Duration.ofDays(Limits.HORIZON_DAYS_MIN)) < 0) {
            throw expression.refuseFrom(
                    start,
                    "is shorter than a day, and the clocks of senders may be a day behind",
                    "write a horizon from " + Limits.HORIZON_DAYS_MIN + "d to " + Limits.DURATION_DAYS_MAX + "d");
        }
        expression.end("write one number and one unit, like 36h");
        return horizon;
    }

    private record Typed<T>(FieldPath field, T type) {}

    /// A field alone, or with its type.
    private <T> @Nullable Typed<T> typed(
            Section input, Section.Kind kind, FieldGrammar fields, T untyped, Function<Expression, T> types) {
        String name = kind.title();
        Setting setting = input.get(name);
        if (setting == null) {
            return null;
        }
        if (!(setting.node() instanceof Node.Mapping)) {
            FieldPath field = setting.read(fields::alone);
            return field == null ? null : new Typed<>(field, untyped);
        }
        Section section = Section.of(setting, kind);
        if (section == null || section.require("field", "write the field that holds the " + name) == null) {
            return null;
        }
        FieldPath field = section.read("field", fields::alone);
        T type = section.has("type") ? section.read("type", types) : untyped;
        return field == null || type == null ? null : new Typed<>(field, type);
    }

    /// The types of a version, as they are written; all but the first are types of time.
    static List<String> versionTypes() {
        return Stream.concat(
                        Stream.of(INTEGER),
                        Stream.of(TimeType.values())
                                .filter(type -> type != TimeType.AUTO)
                                .map(TimeType::word))
                .toList();
    }

    static Optional<TimeType> versionType(Expression expression) {
        String word = expression.whole();
        if (!versionTypes().contains(word)) {
            String wrong =
                    word.equals(TimeType.AUTO.word()) ? "leaves open how versions compare" : "is not a type of version";
            throw expression.refuseFrom(0, wrong, NearestWord.advice(word, versionTypes()));
        }
        return timeType(word);
    }

    private static TimeType onlyTimeType(Expression expression) {
        TimeType type = timeType(expression);
        expression.end("write the type alone");
        return type;
    }
}
