package dev.onefold.core.event;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads changes of a DynamoDB table, in three forms: as Lambda and the API of its stream give them, with attributes
/// that have types (`dynamodb.NewImage.price.N`); as its Kinesis stream does, without a sequence number; and as
/// Onefold on AWS makes them, in plain JSON (`NewImage.price`). Not thread-safe.
///
/// The place of a change is its sequence number. Its generation is the second at which the stream was
/// switched on, which is in its ARN: a stream that is switched off and on again is another one, whose numbers
/// may start again. A Kinesis stream has neither; there the time of the change is the place, in microseconds.
final class DynamoDbScanner extends ChangeScanner {
    private static final int DIGITS_MAX = 40;
    private static final int MICROS_PER_MILLI = 1_000;

    private static final String BODY = "dynamodb";
    private static final Pattern EVENT = Pattern.compile("\\s*\\{\\s*\"Records\"\\s*:");
    private static final String EXPIRY = "dynamodb.amazonaws.com";

    private static final String TABLE = ":table/";

    private final Format.DynamoDbStream format;
    private final String wanted;
    private final boolean isRequired;
    private final int eventName = plan(List.of(), "eventName");
    private final int arn = plan(List.of(), "eventSourceARN");
    private final int tableName = plan(List.of(), "tableName");
    private final int[] byArn = {arn};
    private final int[] byName = {tableName};
    private final int principal = plan(List.of("userIdentity"), "principalId");
    private final int lowerPrincipal = plan(List.of("userIdentity"), "PrincipalId");
    private final int body = plan(List.of(), BODY);
    private final Form typed = new Form(List.of(BODY));
    private final Form plain = new Form(List.of());
    private String lastArn = "";
    private String lastTable = "";
    private long lastGeneration;

    /// Where the parts of a change are.
    private final class Form {
        final Image keys;
        final Image after;
        final Image before;
        final int sequence;
        final int time;
        final int precision;

        Form(List<String> names) {
            keys = new Image(path(names, List.of("Keys")).names());
            after = new Image(path(names, List.of("NewImage")).names());
            before = new Image(path(names, List.of("OldImage")).names());
            sequence = plan(names, "SequenceNumber");
            time = plan(names, "ApproximateCreationDateTime");
            precision = plan(names, "ApproximateCreationDateTimePrecision");
        }
    }

    DynamoDbScanner(Pipeline pipeline, Format.DynamoDbStream format, Fields fields) {
        super(pipeline, fields);
        this.format = format;
        wanted = format.table() == null ? "" : format.table();
        isRequired = pipeline.input().readsBy(3);
        planned(List.of(FieldPath.of(BODY, "Keys"), FieldPath.of(BODY, "NewImage"), FieldPath.of(BODY, "OldImage")));
    }

    @Override
    @Nullable
    Malformed read() {
        Form form = raw().kind[body] == Fields.COMPOSITE ? typed : plain;
        boolean isRemoved = is(eventName, "REMOVE");
        if (!isRemoved && !is(eventName, "INSERT") && !is(eventName, "MODIFY")) {
            return new Malformed(Reason.MALFORMED, "The record is no change of a DynamoDB table: " + nameless());
        }
        if (!form.keys.isThere()) {
            return new Malformed(Reason.MALFORMED, "The record is no change of a DynamoDB table: it has no Keys");
        }
        if (!isOfTable()) {
            if (!wanted.isEmpty()) {
                silence = ofOtherTable(isThere(arn) ? byArn : byName);
                return null;
            }
            String name = isThere(arn) ? lastTable : text(tableName);
            return new Malformed(
                    Reason.REFUSED,
                    "The record is of the table " + name + ", and the pipeline file names none: a record of another"
                            + " table with an equal key would be of the same row. Write under input: 'table: "
                            + name.substring(name.lastIndexOf('/') + 1) + "'");
        }
        boolean isKept = isRemoved && format.keepsExpired() && isExpiry();
        Image image = isRemoved ? form.before : form.after;
        if (!image.isThere() && (isKept || !isRemoved || !byPlace)) {
            return new Malformed(
                    Reason.REFUSED,
                    "The record has no " + (isRemoved ? "OldImage" : "NewImage")
                            + "; the table's stream must carry "
                            + (isRemoved ? "NEW_AND_OLD_IMAGES" : "NEW_IMAGE or NEW_AND_OLD_IMAGES"));
        }
        if (image.isThere()) {
            image.take();
        }
        Malformed malformed = form.keys.takeWholeKey("Keys");
        if (malformed != null) {
            return malformed;
        }
        kind = isRemoved && !isKept ? Kind.REMOVED : Kind.ROW;
        return byPlace ? place(form) : null;
    }

    /// Whether the record is of the pipeline's table; one that names none is.
    private boolean isOfTable() {
        if (!isThere(arn)) {
            return !isThere(tableName)
                    || (wanted.isEmpty() ? !isRequired : is(tableName, wanted.substring(wanted.lastIndexOf('/') + 1)));
        }
        readArn();
        return wanted.isEmpty()
                ? !isRequired
                : lastTable.equals(wanted) || !wanted.contains(TABLE) && lastTable.endsWith(TABLE + wanted);
    }

    private void readArn() {
        if (!is(arn, lastArn)) {
            lastArn = text(arn);
            int stream = lastArn.indexOf("/stream/");
            lastTable = stream < 0 ? lastArn : lastArn.substring(0, stream);
            Instant began = began(lastArn);
            lastGeneration = began == null ? -1 : began.getEpochSecond();
        }
    }

    private String nameless() {
        return isThere(eventName)
                ? "its eventName is '" + text(eventName) + "', not INSERT, MODIFY or REMOVE"
                : EVENT.matcher(record()).lookingAt()
                        ? "it is an event of Lambda, which holds many. Make each a line: jq -c '.Records[]'"
                        : "it has no eventName";
    }

    private boolean isExpiry() {
        return is(principal, EXPIRY) || is(lowerPrincipal, EXPIRY);
    }

    private @Nullable Malformed place(Form form) {
        if (!isThere(form.sequence)) {
            return timed(form);
        }
        BigInteger sequence = whole(form.sequence, DIGITS_MAX);
        if (sequence == null) {
            return new Malformed(
                    Reason.REFUSED, "The SequenceNumber is '" + text(form.sequence) + "', not 1 to 40 digits");
        }
        long generation = generation();
        if (generation < 0) {
            return new Malformed(
                    Reason.REFUSED,
                    "The record does not say which stream it is of: it has "
                            + (isThere(arn) ? "the eventSourceARN '" + text(arn) + "'" : "no eventSourceARN")
                            + ". If all records without one are of one stream, write its ARN under input: 'stream: arn:…'");
        }
        version = Version.of(generation, sequence, 0).number();
        return null;
    }

    /// The generation of the record's stream; below 0 if it is unknown.
    private long generation() {
        if (!isThere(arn)) {
            return format.stream() == null ? -1 : format.stream().getEpochSecond();
        }
        readArn();
        return lastGeneration;
    }

    /// The time at which a stream was switched on, in UTC, by the label at the end of its ARN; `null` if that
    /// is not a label.
    static @Nullable Instant began(String arn) {
        try {
            return LocalDateTime.parse(arn.substring(arn.lastIndexOf('/') + 1)).toInstant(ZoneOffset.UTC);
        } catch (DateTimeException e) {
            return null;
        }
    }

    /// A Kinesis stream of a table has no sequence number of the table.
    private @Nullable Malformed timed(Form form) {
        BigInteger time = whole(form.time, DIGITS_MAX / 2);
        boolean isMicros = is(form.precision, "MICROSECOND");
        if (time == null || form == plain) {
            return new Malformed(
                    Reason.REFUSED,
                    "The record has no SequenceNumber, which a table's stream gives, and no whole"
                            + " ApproximateCreationDateTime, which its Kinesis stream gives");
        }
        version = Version.of(
                        Version.TIMED_GENERATION,
                        isMicros ? time : time.multiply(BigInteger.valueOf(MICROS_PER_MILLI)),
                        0)
                .number();
        return null;
    }
}
