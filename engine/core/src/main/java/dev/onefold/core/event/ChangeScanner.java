package dev.onefold.core.event;

import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TableName.Origin;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Finds the fields of a table's row in the record of a change, and the kind of the change. Not thread-safe.
abstract sealed class ChangeScanner permits DebeziumScanner, DynamoDbScanner, ChangeScanner.RowRecord {
    /// The kind of a record, by its report on a row.
    enum Kind {
        /// It reports no row.
        NONE,
        /// It reports the row as it is.
        ROW,
        /// It reports that the row is gone.
        REMOVED
    }

    /// The fields of the table, filled for the decoder.
    final Fields fields;

    /// The slots of the key among them.
    final int[] key;

    /// The slots of those of the key that are fields of the table.
    private final int[] ownKey;

    /// Whether versions are places in the table's log.
    final boolean byPlace;

    private final List<FieldPath> paths = new ArrayList<>();
    private @Nullable Fields raw;
    private @Nullable JsonScanner scanner;

    /// The tables other than the pipeline's that were seen, as many as are named.
    private final List<OtherTable> otherTables = new ArrayList<>();

    Kind kind = Kind.NONE;

    /// Why it reports no row; as long as it does not.
    Silence silence = Silence.TOMBSTONE;

    @Nullable
    BigInteger version;

    /// Whether the record was brought into a plain form.
    boolean isPlain;

    private boolean hasKey;
    int recordFrom;
    int recordTo;

    ChangeScanner(Pipeline pipeline, Fields fields) {
        this.fields = fields;
        Identity identity = pipeline.input().identity();
        key = identity instanceof Identity.Versioned versioned
                ? versioned.key().stream().mapToInt(fields::slot).toArray()
                : new int[0];
        ownKey = Arrays.stream(key)
                .filter(slot -> Stream.of(Origin.values())
                        .noneMatch(origin -> origin.field().equals(fields.paths.get(slot))))
                .toArray();
        byPlace = identity instanceof Identity.Versioned versioned && versioned.version() == null;
    }

    /// The scanner for the changes in a pipeline's records; `null` if its format has no changes.
    static @Nullable ChangeScanner of(Pipeline pipeline, Fields fields) {
        return switch (pipeline.input().format()) {
            case Format.DynamoDbStream format -> new DynamoDbScanner(pipeline, format, fields);
            case Format.Debezium format -> new DebeziumScanner(pipeline, format, fields);
            case Format.Json _, Format.Csv _ -> null;
        };
    }

    /// Fills the fields from the record at `[from, to)`; `null` if it is well-formed, also if it reports no
    /// change.
    final @Nullable Malformed scan(byte[] record, int from, int to) {
        kind = Kind.NONE;
        silence = Silence.TOMBSTONE;
        isPlain = false;
        version = null;
        hasKey = false;
        recordFrom = from;
        recordTo = to;
        fields.clear(record);
        if (isNothing(record, from, to)) {
            return null;
        }
        Malformed malformed = scanner().scan(record, from, to);
        return malformed != null ? malformed : read();
    }

    /// Reads the record in another form of the same record.
    final @Nullable Malformed again(byte[] form, int length) {
        recordFrom = 0;
        recordTo = length;
        fields.clear(form);
        Malformed malformed = scanner().scan(form, 0, length);
        return malformed != null ? malformed : read();
    }

    /// Whether the key of the row is among the fields, also if the record is refused.
    final boolean hasKey() {
        return hasKey;
    }

    /// The whole record.
    final String record() {
        return new String(fields.bytes, recordFrom, recordTo - recordFrom, StandardCharsets.UTF_8);
    }

    final Kind kind() {
        return kind;
    }

    /// The version that the record's place in the log gives; `null` if a field has the version.
    final @Nullable BigInteger version() {
        return version;
    }

    private record OtherTable(byte[][] names, Silence silence) {}

    /// Of a change of another table.
    ///
    /// @param names the fields that name the table, the last one its own name
    final Silence ofOtherTable(int[] names) {
        for (OtherTable each : otherTables) {
            boolean same = each.names.length == names.length;
            for (int i = 0; i < names.length && same; i++) {
                same = Arrays.equals(
                        each.names[i], 0, each.names[i].length, raw().bytes, raw().from[names[i]], raw().to[names[i]]);
            }
            if (same) {
                return each.silence;
            }
        }
        if (otherTables.size() == Silence.TABLES_MAX || joined(names).length() > Silence.NAME_CHARS_MAX) {
            return Silence.UNNAMED;
        }
        Silence found = new Silence(true, "of " + joined(names));
        byte[][] bytes = new byte[names.length][];
        Arrays.setAll(bytes, i -> Arrays.copyOfRange(raw().bytes, raw().from[names[i]], raw().to[names[i]]));
        otherTables.add(new OtherTable(bytes, found));
        return found;
    }

    /// The texts of fields with dots between them.
    final String joined(int[] slots) {
        return Arrays.stream(slots).mapToObj(this::text).collect(Collectors.joining("."));
    }

    /// Whether the record is valid although it is not an object: it reports no row.
    boolean isNothing(byte[] record, int from, int to) {
        return false;
    }

    /// Determines the change from the fields of the record.
    abstract @Nullable Malformed read();

    /// Plans for a field of the record.
    final int plan(FieldPath path) {
        int slot = paths.indexOf(path);
        if (slot < 0) {
            paths.add(path);
            slot = paths.size() - 1;
        }
        return slot;
    }

    final int plan(List<String> names, String... more) {
        return plan(path(names, List.of(more)));
    }

    static FieldPath path(List<String> names, List<String> more) {
        List<String> all = new ArrayList<>(names);
        all.addAll(more);
        return new FieldPath(all);
    }

    /// Ends the planning.
    final void planned(List<FieldPath> items) {
        Fields all = new Fields(paths);
        raw = all;
        scanner = new JsonScanner(all, items);
    }

    private JsonScanner scanner() {
        if (scanner == null) {
            throw new IllegalStateException("Nothing was planned for");
        }
        return scanner;
    }

    final Fields raw() {
        if (raw == null) {
            throw new IllegalStateException("Nothing was planned for");
        }
        return raw;
    }

    final boolean isThere(int slot) {
        return !raw().isMissing(slot);
    }

    final boolean isNull(int slot) {
        return raw().kind[slot] == Fields.NULL;
    }

    /// Whether a field of the record is this text.
    final boolean is(int slot, String text) {
        return is(raw(), slot, text);
    }

    static boolean is(Fields all, int slot, String text) {
        if (all.kind[slot] == Fields.ESCAPED_TEXT) {
            return all.text(slot).equals(text);
        }
        int from = all.from[slot];
        boolean same = all.kind[slot] == Fields.TEXT && all.to[slot] - from == text.length();
        for (int i = 0; same && i < text.length(); i++) {
            same = all.bytes[from + i] == text.charAt(i);
        }
        return same;
    }

    /// The text of a field, for a message or a number; empty if the field is missing.
    final String text(int slot) {
        return raw().text(slot);
    }

    /// The number in a field, 0 and more, of at most `digitsMax` digits; `null` if the field is not such a
    /// number.
    final @Nullable BigInteger whole(int slot, int digitsMax) {
        byte kind = raw().kind[slot];
        String text = kind == Fields.NUMBER || kind == Fields.TEXT || kind == Fields.ESCAPED_TEXT ? text(slot) : "";
        boolean good = !text.isEmpty() && text.length() <= digitsMax;
        for (int i = 0; i < text.length() && good; i++) {
            good = text.charAt(i) >= '0' && text.charAt(i) <= '9';
        }
        return good ? new BigInteger(text) : null;
    }

    /// The fields of a row in one part of a record.
    final class Image {
        private final int whole;
        private final int[] slots;

        /// @param names lead to the part
        Image(List<String> names) {
            whole = names.isEmpty() ? -1 : plan(new FieldPath(names));
            slots = fields.paths.stream()
                    .mapToInt(path -> plan(path(names, path.names())))
                    .toArray();
        }

        /// The field of the record that has the part.
        int slot() {
            return whole;
        }

        boolean isThere() {
            return whole >= 0 && raw().kind[whole] == Fields.COMPOSITE;
        }

        /// How many fields are here, whether the pipeline reads them or not. The bytes were found to be JSON.
        int size() {
            Fields all = raw();
            int depth = 0;
            int colons = 0;
            boolean isText = false;
            for (int i = all.from[whole]; i < all.to[whole]; i++) {
                switch (all.bytes[i]) {
                    case '\\' -> i++;
                    case '"' -> isText = !isText;
                    case '{', '[' -> depth += isText ? 0 : 1;
                    case '}', ']' -> depth -= isText ? 0 : 1;
                    case ':' -> colons += isText || depth > 1 ? 0 : 1;
                    default -> {}
                }
            }
            return colons;
        }

        /// Takes the key alone, which must be all that is here: with a part of it, several rows would be one.
        @Nullable
        Malformed takeWholeKey(String what) {
            takeKey();
            String difference = size() == ownKey.length
                    ? unknown()
                    : " has " + size() + " fields, and the pipeline's key " + ownKey.length;
            return difference == null
                    ? null
                    : new Malformed(
                            Reason.REFUSED,
                            what + difference + "; write the table's whole key under 'key', and nothing else");
        }

        /// That a field of the pipeline's key is not here, whatever stands for it where it is missing.
        private @Nullable String unknown() {
            for (int slot : ownKey) {
                if (fields.kind[slot] == Fields.MISSING) {
                    return " has no field " + fields.paths.get(slot) + ", which is in the pipeline's key";
                }
            }
            return null;
        }

        /// Takes all fields of the row from here.
        void take() {
            for (int slot = 0; slot < slots.length; slot++) {
                take(slot);
            }
            hasKey = true;
        }

        /// Takes the key alone.
        void takeKey() {
            hasKey = true;
            for (int slot : key) {
                take(slot);
            }
        }

        private void take(int slot) {
            Fields all = raw();
            int there = slots[slot];
            fields.set(slot, all.kind[there], all.from[there], all.to[there]);
        }
    }

    /// Reads the row of a seeding or a repair, in the form that [dev.onefold.core.form.RowLine] writes. Such
    /// a record is known by the way it came, [RecordKind#ROW]. Not thread-safe.
    static final class RowRecord extends ChangeScanner {
        /// The first name in such a record.
        private static final String NAME = "$onefold";

        private static final byte[] BEGINNING = ("{\"" + NAME + "\":").getBytes(StandardCharsets.US_ASCII);
        private static final int DIGITS_MAX = 40;

        private final int generation = plan(List.of(NAME), "generation");
        private final int position = plan(List.of(NAME), "position");
        private final int number = plan(List.of(NAME), "number");
        private final int stated = plan(List.of(NAME), "version");
        private final int removed = plan(List.of(NAME), "removed");
        private final Image row = new Image(List.of("row"));
        private final Pipeline pipeline;
        private byte[] lastPlace = {};
        private @Nullable BigInteger lastVersion;

        RowRecord(Pipeline pipeline, Fields fields) {
            super(pipeline, fields);
            this.pipeline = pipeline;
            planned(List.of());
        }

        /// For a pipeline whose rows have versions, and whose records are JSON; `null` for another.
        static @Nullable RowRecord of(Pipeline pipeline, Fields fields) {
            return pipeline.fold() instanceof Rollups
                            && pipeline.input().identity() instanceof Identity.Versioned
                            && !(pipeline.input().format() instanceof Format.Csv)
                    ? new RowRecord(pipeline, fields)
                    : null;
        }

        /// Whether a record that was stored before kinds were noted has the form.
        static boolean begins(byte[] record, int from, int to) {
            return to - from >= BEGINNING.length
                    && Arrays.equals(record, from, from + BEGINNING.length, BEGINNING, 0, BEGINNING.length);
        }

        @Override
        @Nullable
        Malformed read() {
            if (!row.isThere()) {
                return new Malformed(Reason.MALFORMED, "The record of a seeding or repair has no row");
            }
            row.take();
            kind = raw().kind[removed] == Fields.TRUE ? Kind.REMOVED : Kind.ROW;
            if (!byPlace) {
                return isThere(stated) ? stated() : null;
            }
            if (isLastPlace()) {
                version = lastVersion; // All rows of a seeding have one.
                return null;
            }
            BigInteger of = whole(generation, DIGITS_MAX);
            BigInteger at = whole(position, DIGITS_MAX);
            BigInteger nth = whole(number, DIGITS_MAX);
            if (of == null || at == null || nth == null) {
                return new Malformed(
                        Reason.MALFORMED, "The record of a seeding or repair needs generation, position and number");
            }
            return place(of, at, nth);
        }

        /// Whether generation, position and number are in this order, and have the same bytes as in the
        /// record before.
        private boolean isLastPlace() {
            Fields all = raw();
            int from = all.from[generation];
            int to = all.to[number];
            return lastVersion != null
                    && isThere(generation)
                    && isThere(position)
                    && isThere(number)
                    && from < all.from[position]
                    && all.from[position] < all.from[number]
                    && Arrays.equals(all.bytes, from, to, lastPlace, 0, lastPlace.length);
        }

        private @Nullable Malformed place(BigInteger of, BigInteger at, BigInteger nth) {
            try {
                version = Version.of(of.longValueExact(), at, nth.longValueExact())
                        .number();
                Fields all = raw();
                if (all.from[generation] < all.to[number]) {
                    lastPlace = Arrays.copyOfRange(all.bytes, all.from[generation], all.to[number]);
                    lastVersion = version;
                }
                return null;
            } catch (ArithmeticException | IllegalArgumentException e) {
                return new Malformed(
                        Reason.REFUSED,
                        "The record of a seeding or repair has the place " + of + "/" + at + "/" + nth
                                + ", which is too great");
            }
        }

        /// Takes the version of a removal, which need not be in a field of the row.
        private @Nullable Malformed stated() {
            String text = text(stated);
            if (text.length() > Limits.VERSION_DIGITS_MAX) {
                return new Malformed(
                        Reason.TOO_LARGE,
                        "The record of a repair has a version of " + text.length()
                                + " characters; a version has at most " + Limits.VERSION_DIGITS_MAX);
            }
            try {
                version = Version.parse(pipeline, text).number();
                return null;
            } catch (RuntimeException e) {
                return new Malformed(
                        Reason.REFUSED, "The record of a repair has the version '" + text + "', which is none");
            }
        }
    }
}
