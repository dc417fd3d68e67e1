package dev.onefold.core.event;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Identity.Part;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Decodes the records of one pipeline into events. A record that does not fit the pipeline is refused here.
/// It is one idea: the order in which a record is read, in which the first error is the reason. Not thread-safe.
public final class Decoder {
    /// Bytes that must exist in the array behind each record.
    public static final int PADDING = Math.max(JsonScanner.PADDING, Hash.PADDING);

    private static final BigInteger NANOS = BigInteger.valueOf(1_000_000_000);
    private static final int LONG_DIGITS = 18;

    private final Pipeline pipeline;
    private final Fields fields;
    private final @Nullable JsonScanner json;
    private final @Nullable Envelopes envelopes;
    private final @Nullable ChangeScanner changes;
    private ChangeScanner.@Nullable RowRecord rowRecords; // Made for the first row of a seeding or a repair.
    private @Nullable CsvScanner csv;
    private final Scalars scalars;
    private final Times times;
    private final @Nullable DerivedFields derived;
    private final Event event;

    private final boolean passesMark;
    private final boolean byMessage;
    private byte[] message = new byte[0];
    private final KeyPart[] keyParts;
    private final int versionSlot;
    private final VersionPart[] versionParts;
    private final @Nullable TimeType versionTime;
    private final int timeSlot;
    private final TimeType timeType;
    private final @Nullable CompiledCondition delete;
    private final @Nullable CompiledCondition filter;
    private final GroupReader[] groups;
    private final Measure.Input[] inputs;
    private final InputReader amounts;
    private final @Nullable ContentReader content;
    private final BytesOut contentBytes = new BytesOut();
    private final @Nullable Batching batching;
    private final KeyPart[] orderParts;
    private final @Nullable GroupReader compared;

    /// @throws dev.onefold.core.codec.ShapeException if no record of the format has a field that a function
    ///     takes
    public Decoder(Pipeline pipeline) {
        this.pipeline = pipeline;
        Input input = pipeline.input();
        Rollups rollups = rollups(pipeline);
        fields = new Fields(pipeline.fields());
        scalars = new Scalars(input.spellings());
        times = new Times(input);
        derived = DerivedFields.of(pipeline, fields, scalars);
        json = input.format() instanceof Format.Json ? new JsonScanner(fields) : null;
        envelopes = input.format() instanceof Format.Json wrapped
                        && !wrapped.unwrap().isEmpty()
                ? new Envelopes(wrapped.unwrap())
                : null;
        changes = ChangeScanner.of(pipeline, fields);
        csv = input.format() instanceof Format.Csv format && !format.columns().isEmpty()
                ? new CsvScanner(fields, input, new CsvHeader(format, format.columns()))
                : null;
        inputs = rollups.inputs().toArray(new Measure.Input[0]);
        event = new Event(rollups.all().size(), inputs.length);
        List<Part> key = switch (input.identity()) {
            case Identity.Versioned versioned -> versioned.parts();
            case Identity.ById byId -> byId.parts();
            case Identity.ByMessage _, Identity.ByPlace _ -> List.of();
        };
        byMessage = input.identity() instanceof Identity.ByMessage;
        passesMark = input.readsBy(3) && !(pipeline.fold() instanceof Batching);
        keyParts = parts(key, input.identity() instanceof Identity.ById ? "id" : "key");
        versionSlot = input.identity() instanceof Identity.Versioned versioned && versioned.version() != null
                ? fields.slot(versioned.version())
                : -1;
        versionTime = input.identity() instanceof Identity.Versioned versioned ? versioned.versionTime() : null;
        versionParts = VersionPart.all(input, fields);
        EventTime time = input.time();
        timeSlot = time == null ? -1 : fields.slot(time.field());
        timeType = time == null ? TimeType.AUTO : time.type();
        delete = input.delete() == null ? null : CompiledCondition.of(input.delete(), fields, input.spellings());
        filter = input.filter() == null ? null : CompiledCondition.of(input.filter(), fields, input.spellings());
        groups = rollups.all().stream()
                .map(rollup -> new GroupReader(rollup.levels(), fields, scalars, times))
                .toArray(GroupReader[]::new);
        amounts = new InputReader(inputs, fields, scalars, times);
        content = pipeline.fold() instanceof Processing processing && processing.code() != null
                ? ContentReader.of(processing.code().event(), input, fields, new ContentScalars(scalars, times))
                : null;
        batching = pipeline.fold() instanceof Batching found ? found : null;
        orderParts = parts(batching == null ? List.of() : batching.key(), "key");
        compared = batching == null || batching.compared().isEmpty()
                ? null
                : new GroupReader(
                        batching.compared().stream()
                                .map(field -> new Level(field.toString(), new Level.Source.Text(field), ""))
                                .toList(),
                        fields,
                        scalars,
                        times);
    }

    private KeyPart[] parts(List<Part> key, String setting) {
        return key.stream()
                .map(part -> new KeyPart(part, setting, pipeline.input(), fields, scalars))
                .toArray(KeyPart[]::new);
    }

    /// The roll-ups of events: those of a function are fed by its tables.
    private static Rollups rollups(Pipeline pipeline) {
        return pipeline.fold() instanceof Rollups rollups ? rollups : new Rollups(List.of());
    }

    /// The event that this decoder fills, always the same one.
    public Event event() {
        return event;
    }

    /// Whether the first line of each source names the columns, and must be given to [#header].
    public static boolean wantsHeader(Pipeline pipeline) {
        return pipeline.input().format() instanceof Format.Csv format
                && format.columns().isEmpty();
    }

    /// Takes the columns of the next records from the header line of their source. Returns the reason if the
    /// line is not a header, or lacks a column that the pipeline reads.
    public @Nullable Malformed header(byte[] line, int from, int to) {
        if (!(pipeline.input().format() instanceof Format.Csv format)) {
            throw new IllegalStateException("Only CSV has a header");
        }
        int begin = CsvScanner.hasMark(line, from, to) ? from + CsvScanner.MARK_BYTES : from;
        String text = new String(line, begin, CsvHeader.end(line, begin, to) - begin, StandardCharsets.UTF_8);
        boolean isUtf8 = TextBytes.utf8Ends(line, from, to) == to;
        String refusal = isUtf8 && !pipeline.input().readsBy(3) ? null : CsvHeader.refusal(text, isUtf8);
        CsvHeader header = CsvHeader.read(format, line, from, to);
        if (refusal != null || header == null) {
            return new Malformed(
                    Reason.MALFORMED,
                    "The header line " + (refusal == null ? "is not CSV" + CsvHeader.NAMES : refusal));
        }
        Malformed malformed = header.requireColumns(fields.paths.stream()
                .filter(path -> pipeline.input().let(path) == null)
                .toList());
        if (malformed != null) {
            return malformed;
        }
        csv = new CsvScanner(fields, pipeline.input(), header);
        return null;
    }

    /// Why a record seems to be another header than the one that was taken; `null` if it does not.
    public @Nullable String otherHeader(byte[] record, int from, int to) {
        return csv == null ? null : csv.otherHeader(record, from, to);
    }

    /// Takes the id that the source gives the next record; it is the record's id in a pipeline with `id:
    /// message`. Without it such a record can be checked, but has no id.
    public void message(byte[] id) {
        message = id;
    }

    /// Decodes a record that was sent.
    public @Nullable Malformed decode(byte[] record, int from, int to) {
        return decode(RecordKind.SENT, record, from, to);
    }

    /// Decodes the record at `[from, to)` into [#event]; `null`, or the reason why it is not an event.
    /// [#PADDING] bytes must exist behind it in the array.
    public @Nullable Malformed decode(RecordKind kind, byte[] record, int from, int to) {
        event.clear();
        if (to - from > Limits.RECORD_BYTES_MAX) {
            return tooLarge(to - from);
        }
        boolean isMarked = passesMark && CsvScanner.hasMark(record, from, to);
        return decodeUnmarked(kind, record, isMarked ? from + CsvScanner.MARK_BYTES : from, to);
    }

    private @Nullable Malformed decodeUnmarked(RecordKind kind, byte[] record, int from, int to) {
        ChangeScanner change = kind == RecordKind.SENT ? changes : scanner(kind, record, from, to);
        if (kind == RecordKind.ROW && rowRecords == null) {
            return new Malformed(Reason.REFUSED, "The pipeline keeps no rows with versions that a seeding could bring");
        }
        if (csv != null) {
            int begin = csv.behindComments(record, from, to);
            boolean isComment = begin > from && begin == to;
            if (isComment || csv.isHeader(record, begin, to)) {
                event.silence = isComment ? Event.Silence.COMMENT : Event.Silence.HEADER;
                return null;
            }
            from = begin;
        }
        Malformed malformed = change != null
                ? change.scan(record, from, to)
                : json != null ? json(json, record, from, to) : csvScanner().scan(record, from, to);
        if (malformed != null) {
            if (change != null && change.hasKey()) {
                state(change);
            }
            return malformed.of(record, from, to);
        }
        if (change != null && change.kind() == ChangeScanner.Kind.NONE) {
            event.silence = change.silence;
            return null;
        }
        try {
            malformed = fill(change);
            return malformed == null && batching != null && event.kind == Event.Kind.COUNTED
                    ? member(batching, record, from, to)
                    : malformed;
        } catch (CompiledCondition.Unanswerable unanswerable) {
            return unanswerable.malformed;
        }
    }

    /// The scanner of a record that may be a row of a seeding or a repair.
    private @Nullable ChangeScanner scanner(RecordKind kind, byte[] record, int from, int to) {
        if (kind == RecordKind.UNMARKED && !ChangeScanner.RowRecord.begins(record, from, to)) {
            return changes;
        }
        rowRecords = rowRecords == null ? ChangeScanner.RowRecord.of(pipeline, fields) : rowRecords;
        return rowRecords == null ? changes : rowRecords;
    }

    private @Nullable Malformed json(JsonScanner scanner, byte[] record, int from, int to) {
        if (envelopes == null) {
            return scanner.scan(record, from, to);
        }
        Malformed malformed = envelopes.open(record, from, to);
        return malformed != null ? malformed : scanner.scan(envelopes.event(), envelopes.from(), envelopes.to());
    }

    /// The pipeline that it decodes for.
    public Pipeline pipeline() {
        return pipeline;
    }

    /// The identity that a sent record states.
    public RecordIdentity identity(byte[] record) {
        return identity(RecordKind.SENT, record);
    }

    /// The identity that a record states, as far as it can be read, even if the rest of the record is refused.
    public RecordIdentity identity(RecordKind kind, byte[] record) {
        if (json == null && csv == null && changes == null) {
            return RecordIdentity.NONE;
        }
        int to = record.length;
        while (to > 0 && (record[to - 1] == '\n' || record[to - 1] == '\r')) {
            to--;
        }
        decode(kind, Arrays.copyOf(record, record.length + PADDING), 0, to);
        return event.identity();
    }

    /// Whether a record reports no row.
    public boolean isSilent(byte[] record) {
        identity(record);
        return event.silence != null;
    }

    /// Takes the identity of a change that is refused.
    private void state(ChangeScanner change) {
        if (key(change) == null && change.version() != null) {
            position(change.version());
        }
    }

    /// The reason for a record over the limit.
    public static Malformed tooLarge(long bytes) {
        return new Malformed(
                Reason.TOO_LARGE,
                "The record has " + bytes + " bytes; at most " + Limits.RECORD_BYTES_MAX + " are allowed");
    }

    private CsvScanner csvScanner() {
        if (csv == null) {
            throw new IllegalStateException("The header line of the source was not given");
        }
        return csv;
    }

    private @Nullable Malformed fill(@Nullable ChangeScanner change) throws CompiledCondition.Unanswerable {
        Malformed malformed = key(change);
        if (malformed == null) {
            malformed = change != null && change.version() != null ? position(change.version()) : version();
        }
        if (malformed != null) {
            return malformed;
        }
        boolean isRemoved = isRemoved(change);
        malformed = isRemoved ? null : derive(DerivedFields.DELETE);
        if (malformed != null) {
            return malformed;
        }
        if (isRemoved || delete != null && delete.holds(fields, scalars)) {
            event.kind = Event.Kind.DELETE;
            return null;
        }
        malformed = derive(DerivedFields.FILTER);
        if (malformed != null) {
            return malformed;
        }
        if (timeSlot >= 0) {
            malformed = time(timeSlot, timeType);
            if (malformed != null) {
                return malformed;
            }
            String unlikely = times.unlikely(timeType);
            if (unlikely != null) {
                return Malformed.field(fields.paths.get(timeSlot), unlikely);
            }
            event.timeMs = times.seconds * 1_000 + times.nanos / 1_000_000;
        }
        if (filter != null && !filter.holds(fields, scalars)) {
            event.kind = Event.Kind.FILTERED;
            return null;
        }
        malformed = derive(DerivedFields.REST);
        return malformed != null ? malformed : contribution();
    }

    private static boolean isRemoved(@Nullable ChangeScanner change) {
        return change != null && change.kind() == ChangeScanner.Kind.REMOVED;
    }

    private @Nullable Malformed derive(int step) {
        return derived == null ? null : derived.derive(step, false);
    }

    private @Nullable Malformed contribution() throws CompiledCondition.Unanswerable {
        if (content != null) {
            return content(content);
        }
        for (int rollup = 0; rollup < groups.length; rollup++) {
            event.groupFrom[rollup] = event.length;
            Malformed malformed = groups[rollup].append(event);
            if (malformed != null) {
                return malformed;
            }
            event.groupTo[rollup] = event.length;
        }
        Malformed malformed = amounts.append(event);
        return malformed != null ? malformed : tooLarge();
    }

    /// Checks a record that goes into a batch as it is, and computes its content hash. The key comes first: a
    /// record that went into a batch under other settings has it, too.
    private @Nullable Malformed member(Batching wanted, byte[] record, int from, int to) {
        Malformed withoutKey = orderParts.length > 0 ? orderKey() : null;
        if (withoutKey != null) {
            return withoutKey;
        }
        if (Batching.lineBytes(to - from) > wanted.bytes()) {
            return new Malformed(
                    Reason.TOO_LARGE,
                    "The record has " + Batching.lineBytes(to - from) + " bytes with its line end; a batch has at most "
                            + wanted.bytes());
        }
        for (int i = from; csv != null && i < to; i++) {
            if (record[i] == '\n' || record[i] == '\r') {
                return new Malformed(Reason.MALFORMED, "The record has a line break; in a batch it is one line");
            }
        }
        Malformed malformed = null;
        if (wanted.compare() == null) {
            event.contentHash = Hash.of(record, from, to);
        } else if (compared != null) {
            int start = event.length;
            malformed = compared.append(event);
            event.contentHash = Hash.of(event.data, start, event.length);
        }
        return malformed;
    }

    /// Computes the hash of the key by which batches wait for each other.
    private @Nullable Malformed orderKey() {
        int start = event.length;
        Malformed malformed = append(orderParts);
        if (malformed == null) {
            event.orderHash = Hash.of(event.data, start, event.length);
        }
        return malformed;
    }

    private @Nullable Malformed content(ContentReader reader) {
        contentBytes.clear();
        Malformed malformed = reader.write(contentBytes);
        if (malformed == null && contentBytes.length() > Limits.ROW_BYTES_MAX) {
            return tooLarge("The fields of the event have ", contentBytes.length(), "; an event", Limits.ROW_BYTES_MAX);
        }
        if (malformed == null) {
            event.appendContent(contentBytes);
        }
        return malformed;
    }

    private @Nullable Malformed tooLarge() {
        if (event.length <= Math.min(Limits.GROUP_BYTES_MAX, Limits.TEXT_BYTES_MAX)) {
            return null; // Each part of it is small enough, too.
        }
        if (event.length > Limits.ROW_BYTES_MAX) {
            return tooLarge(
                    "The key, groups and texts of the record have ", event.length, "; a row", Limits.ROW_BYTES_MAX);
        }
        for (int rollup = 0; rollup < groups.length; rollup++) {
            int length = event.groupTo[rollup] - event.groupFrom[rollup];
            if (length > Limits.GROUP_BYTES_MAX) {
                String whose = "The group of roll-up "
                        + Rollups.of(pipeline).all().get(rollup).name() + " has ";
                return tooLarge(whose, length, ", with two for the end of each level; a group", Limits.GROUP_BYTES_MAX);
            }
        }
        for (int input = 0; input < inputs.length; input++) {
            int length = event.textTo[input] - event.textFrom[input];
            if (event.present[input] && inputs[input] instanceof Measure.Input.Text && length > Limits.TEXT_BYTES_MAX) {
                String whose = "The text of " + inputs[input].value() + " has ";
                return tooLarge(whose, length, "; a text that is counted", Limits.TEXT_BYTES_MAX);
            }
        }
        return null;
    }

    private static Malformed tooLarge(String whose, int length, String what, int limit) {
        return new Malformed(Reason.TOO_LARGE, whose + length + " bytes" + what + " has at most " + limit);
    }

    private @Nullable Malformed key(@Nullable ChangeScanner change) {
        event.keyFrom = 0;
        Malformed malformed = derived == null ? null : derived.derive(DerivedFields.IDENTITY, isRemoved(change));
        if (malformed != null) {
            return malformed;
        }
        if (byMessage) {
            event.append(message, 0, message.length);
        }
        Malformed wrong = append(keyParts);
        event.keyTo = wrong == null ? event.length : event.keyTo;
        return wrong;
    }

    private @Nullable Malformed append(KeyPart[] parts) {
        int bytes = 0;
        for (KeyPart part : parts) {
            String wrong = part.read();
            if (wrong != null) {
                return Malformed.field(part.path(), wrong);
            }
            bytes += part.to - part.from;
            if (bytes > Limits.KEY_BYTES_MAX) {
                return new Malformed(Reason.TOO_LARGE, "The key has over " + Limits.KEY_BYTES_MAX + " bytes");
            }
            if (parts.length == 1) {
                event.append(part.bytes, part.from, part.to);
            } else {
                event.appendPart(part.bytes, part.from, part.to);
            }
        }
        return null;
    }

    private @Nullable Malformed position(BigInteger version) {
        event.appendVersion(version);
        return null;
    }

    private @Nullable Malformed version() {
        if (versionParts.length > 0) {
            return composite();
        }
        if (versionSlot < 0) {
            return null;
        }
        return fields.isMissing(versionSlot)
                ? Malformed.field(fields.paths.get(versionSlot), "is missing; it is the version")
                : version(versionSlot, versionTime);
    }

    /// One number of the parts of a version, with as many digits for each.
    private @Nullable Malformed composite() {
        BigInteger version = BigInteger.ZERO;
        for (VersionPart part : versionParts) {
            BigInteger number = part.instead;
            if (!fields.isMissing(part.slot)) {
                int start = event.length;
                Malformed malformed = version(part.slot, part.time);
                if (malformed != null) {
                    return malformed;
                }
                number = VersionBytes.number(event.data, event.versionFrom);
                event.length = start;
                event.versionFrom = 0;
                event.versionTo = 0;
            }
            if (number == null || number.signum() < 0 || number.compareTo(part.highest) > 0) {
                String wrong = number == null
                        ? "is missing; it is a part of the version. If it may be, write for it under version: "
                                + Malformed.part(fields.paths.get(part.slot), "missing", "highest")
                                + ", or an integer in place of highest"
                        : "is " + number + "; as one of " + versionParts.length
                                + " parts of a version it is from 0, and has at most "
                                + Identity.VersionPart.digits(versionParts.length) + " digits";
                return Malformed.field(fields.paths.get(part.slot), wrong);
            }
            version = version.multiply(part.unit).add(number);
        }
        return position(version);
    }

    /// A part of a version of several fields.
    ///
    /// @param highest the greatest number that it can be
    /// @param unit above it
    private record VersionPart(
            int slot, @Nullable TimeType time, @Nullable BigInteger instead, BigInteger highest, BigInteger unit) {
        static VersionPart[] all(Input input, Fields fields) {
            List<Identity.VersionPart> parts =
                    input.identity() instanceof Identity.Versioned versioned ? versioned.composite() : List.of();
            return parts.stream().map(part -> of(part, parts.size(), fields)).toArray(VersionPart[]::new);
        }

        private static VersionPart of(Identity.VersionPart part, int count, Fields fields) {
            BigInteger unit = BigInteger.TEN.pow(Identity.VersionPart.digits(count));
            BigInteger highest = unit.subtract(BigInteger.ONE);
            String missing = part.missing();
            return new VersionPart(
                    fields.slot(part.field()),
                    part.time(),
                    missing == null
                            ? null
                            : missing.equals(Identity.VersionPart.HIGHEST) ? highest : new BigInteger(missing),
                    highest,
                    unit);
        }
    }

    private @Nullable Malformed timed(int slot, TimeType type) {
        Malformed malformed = time(slot, type);
        if (malformed != null) {
            return malformed;
        }
        if (type.ordersEqualTimes()) {
            return position(times.ordered.order);
        }
        if (Math.abs(times.seconds) < Long.MAX_VALUE / 2_000_000_000L) {
            event.appendVersion(times.seconds * 1_000_000_000L + times.nanos);
            return null;
        }
        BigInteger nanos = BigInteger.valueOf(times.seconds).multiply(NANOS).add(BigInteger.valueOf(times.nanos));
        return position(nanos);
    }

    private @Nullable Malformed version(int slot, @Nullable TimeType type) {
        if (type != null) {
            return timed(slot, type);
        }
        boolean escaped = scalars.isEscaped(fields, slot);
        byte[] bytes = escaped ? scalars.bytes : fields.bytes;
        int from = escaped ? 0 : fields.from[slot];
        int to = escaped ? scalars.textLength : fields.to[slot];
        int at = from < to && bytes[from] == '-' ? from + 1 : from;
        int digits = to - at;
        long value = 0;
        boolean good =
                (escaped || fields.kind[slot] == Fields.NUMBER || fields.kind[slot] == Fields.TEXT) && digits > 0;
        for (int i = at; i < to && good; i++) {
            int digit = bytes[i] - '0';
            good = digit >= 0 && digit <= 9;
            value = value * 10 + digit;
        }
        if (!good) {
            BigDecimal number = pipeline.input().readsBy(Edition.OF_VALUES) ? scalars.number(fields, slot) : null;
            if (number != null
                    && (number.signum() == 0 || number.stripTrailingZeros().scale() <= 0)) {
                long length = number.precision() - (long) number.scale();
                return length <= Limits.VERSION_DIGITS_MAX
                        ? position(number.toBigInteger())
                        : tooManyDigits(slot, length);
            }
            String date = to - from >= 10 && bytes[from + 4] == '-' && bytes[from + 7] == '-'
                    ? ". If it is a time, write for it under version: "
                            + Malformed.part(fields.paths.get(slot), "type", TimeType.ISO.word())
                    : "";
            String excerpt = Malformed.excerpt(bytes, from, to);
            return Malformed.number(
                    fields,
                    slot,
                    "is " + (escaped ? scalars.asSent(excerpt, fields, slot) : excerpt)
                            + ", which is not an integer; it is the version"
                            + date
                            + OrderedTimes.advice(bytes, from, to));
        }
        if (digits <= LONG_DIGITS) {
            event.appendVersion(at > from ? -value : value);
            return null;
        }
        while (at < to - 1 && bytes[at] == '0') {
            at++;
        }
        if (to - at > Limits.VERSION_DIGITS_MAX) {
            return tooManyDigits(slot, to - at);
        }
        BigInteger number = new BigInteger(new String(bytes, at, to - at, StandardCharsets.US_ASCII));
        event.appendVersion(bytes[from] == '-' ? number.negate() : number);
        return null;
    }

    private Malformed tooManyDigits(int slot, long digits) {
        return new Malformed(
                Reason.TOO_LARGE,
                "Field " + fields.paths.get(slot) + " has " + digits + " digits; a version has at most "
                        + Limits.VERSION_DIGITS_MAX);
    }

    private @Nullable Malformed time(int slot, TimeType type) {
        FieldPath path = fields.paths.get(slot);
        if (fields.isMissing(slot)) {
            return Malformed.field(path, "is missing; it is a time");
        }
        String wrong = times.read(fields, slot, scalars, type);
        return wrong == null ? null : Malformed.field(path, wrong);
    }

    /// The key and the version that a record states, as [Event] encodes them.
    ///
    /// @param key `null` if the record has none, or it cannot be read
    /// @param version likewise
    public record RecordIdentity(byte @Nullable [] key, byte @Nullable [] version) {
        /// Of a record that states nothing.
        public static final RecordIdentity NONE = new RecordIdentity(null, null);

        /// Whether it states this key.
        public boolean isOf(byte[] other) {
            return key != null && java.util.Arrays.equals(key, other);
        }

        /// A number that is the same for the same key, and 0 where there is none.
        public long keyHash() {
            if (key == null) {
                return 0;
            }
            byte[] padded = java.util.Arrays.copyOf(key, key.length + Hash.PADDING);
            return Hash.of(padded, 0, key.length);
        }
    }
}
