package dev.onefold.core.event;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Identity.PartType;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.DecimalForm;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads by the schema that Kafka Connect writes with a record. A decimal is bytes: base64 of the digits as one
/// integer, whose scale is in the schema. Without the schema a text such as `8888` may be a number or such
/// bytes. A time is a number whose unit is in the schema, or a text. Not thread-safe.
final class ConnectSchemas {
    private static final String CONNECT = "org.apache.kafka.connect.data.";
    private static final String DECIMAL = CONNECT + "Decimal";
    private static final String VARIABLE = "io.debezium.data.VariableScaleDecimal";
    private static final String DEBEZIUM = "io.debezium.time.";
    private static final String ZONED = DEBEZIUM + "ZonedTimestamp";
    private static final Map<String, TimeType> TIMES = Map.of(
            CONNECT + "Date",
            TimeType.EPOCH_DAYS,
            CONNECT + "Timestamp",
            TimeType.EPOCH_MILLIS,
            DEBEZIUM + "Date",
            TimeType.EPOCH_DAYS,
            DEBEZIUM + "Timestamp",
            TimeType.EPOCH_MILLIS,
            DEBEZIUM + "MicroTimestamp",
            TimeType.EPOCH_MICROS,
            DEBEZIUM + "NanoTimestamp",
            TimeType.EPOCH_NANOS,
            DEBEZIUM + "IsoDate",
            TimeType.ISO,
            DEBEZIUM + "IsoTimestamp",
            TimeType.ISO,
            ZONED,
            TimeType.ISO);
    private static final String ADVICE =
            "Let the connector write schemas (value.converter.schemas.enable=true), or text:"
                    + " decimal.handling.mode=string, and under input 'decimals: text'";
    private static final int SCHEMAS_MAX = 64;
    private static final int TEXT_MAX = 600;
    private static final int FIELD = 0;
    private static final int NAME = 1;
    private static final int SCALE = 2;
    private static final int FIELDS = 3;
    private static final int NONE = Integer.MIN_VALUE;
    private static final int ITS_OWN = NONE + 1; // The value has the scale.

    private final Fields fields;
    private final @Nullable DecimalForm form;
    private final boolean[] isNumber;
    private final boolean readsTimes;
    private final List<Let> lets;
    private final Fields part = new Fields(List.of(
            FieldPath.of("field"), FieldPath.of("name"), FieldPath.of("parameters", "scale"), FieldPath.of("fields")));
    private final JsonScanner parts = new JsonScanner(part);
    private final Fields decimal = new Fields(List.of(FieldPath.of("scale"), FieldPath.of("value")));
    private final JsonScanner decimals = new JsonScanner(decimal);
    private final List<Known> known = new ArrayList<>();
    private byte[] copy = new byte[0];
    private int end;

    /// The name that a schema has for a time.
    ///
    /// @param type `null`: it is no point in time
    /// @param isLocal whether the database has it without a zone, also if it is written with `Z`
    /// @param isPart whether the field is derived from one that the schema describes
    record Time(String name, @Nullable TimeType type, boolean isLocal, boolean isPart) {}

    /// @param isOfRow whether the schema describes the row
    /// @param scales by slot: of a decimal; [#NONE] for another field
    /// @param times by slot; `null` if there are none
    private record Known(
            byte[] schema,
            int[] scales,
            boolean hasDecimals,
            boolean isOfRow,
            @Nullable Time @Nullable [] times) {}

    ConnectSchemas(Pipeline pipeline, @Nullable DecimalForm form, Fields fields) {
        this.fields = fields;
        this.form = form;
        readsTimes = pipeline.input().readsBy(3);
        lets = pipeline.input().lets();
        Set<FieldPath> numbers = numbers(pipeline);
        isNumber = new boolean[fields.paths.size()];
        for (int slot = 0; slot < isNumber.length; slot++) {
            isNumber[slot] = numbers.contains(fields.paths.get(slot));
        }
    }

    private static Set<FieldPath> numbers(Pipeline pipeline) {
        Input input = pipeline.input();
        Set<FieldPath> numbers = new HashSet<>();
        add(input.delete(), numbers);
        add(input.filter(), numbers);
        if (input.identity() instanceof Identity.Versioned versioned) {
            add(versioned, numbers);
        }
        input.lets().forEach(let -> add(let.term(), numbers));
        Rollups rollups = Rollups.of(pipeline);
        rollups.all().stream()
                .flatMap(rollup -> rollup.levels().stream())
                .filter(level -> level.source() instanceof Level.Source.Step)
                .forEach(level -> numbers.add(level.source().field()));
        for (Measure.Input each : rollups.inputs()) {
            add(each.where(), numbers);
            if (each instanceof Measure.Input.Decimal decimal
                    && decimal.source() instanceof Measure.Source.Product product) {
                numbers.addAll(product.fields());
            }
        }
        for (Let let : input.lets().reversed()) { // It may be made of others that are above it.
            if (numbers.contains(let.field())) {
                let.term().fields(numbers::add);
            }
        }
        return numbers;
    }

    /// The parts of key and version that are numbers; a time in texts is none.
    private static void add(Identity.Versioned identity, Set<FieldPath> numbers) {
        identity.parts().stream()
                .filter(part -> part.type() == PartType.INTEGER)
                .forEach(part -> numbers.add(part.field()));
        identity.composite().stream().filter(part -> !isText(part.time())).forEach(part -> numbers.add(part.field()));
        if (identity.version() != null && identity.composite().isEmpty() && !isText(identity.versionTime())) {
            numbers.add(identity.version());
        }
    }

    private static boolean isText(@Nullable TimeType type) {
        return type != null && type.isText();
    }

    private static void add(@Nullable Condition condition, Set<FieldPath> numbers) {
        switch (condition) {
            case null -> {}
            case Condition.And(List<Condition> all) -> all.forEach(each -> add(each, numbers));
            case Condition.Or(List<Condition> any) -> any.forEach(each -> add(each, numbers));
            case Condition.Not(Condition inner) -> add(inner, numbers);
            case Condition.Number number -> numbers.add(number.field());
            case Condition.Missing _, Condition.TextIn _, Condition.Truth _ -> {}
        }
    }

    /// All but the arguments of functions of texts.
    private static void add(Let.Term term, Set<FieldPath> numbers) {
        switch (term) {
            case Let.Field(FieldPath field) -> numbers.add(field);
            case Let.Text _, Let.Number _ -> {}
            case Let.If(Condition condition, Let.Term then, Let.Term otherwise) -> {
                add(condition, numbers);
                add(then, numbers);
                add(otherwise, numbers);
            }
            case Let.Call(Let.Function function, List<Let.Term> arguments) -> {
                switch (function) {
                    case LOWER, UPPER, TRIM, CONCAT, SUBSTRING, REPLACE, SPLIT -> {}
                    case COALESCE, DIVIDE, PLUS, MINUS, TIMES -> arguments.forEach(each -> add(each, numbers));
                }
            }
        }
    }

    /// Replaces decimals that are bytes by their digits, and notes which fields are times; or the reason why a
    /// decimal cannot be read.
    ///
    /// @param schema the field that has the record's schema
    /// @param isAvro whether the record is in the JSON form of Avro
    @Nullable
    Malformed read(Fields raw, int schema, int recordFrom, int recordTo, boolean isAvro) {
        if (raw.kind[schema] != Fields.COMPOSITE) {
            return unknown(isAvro);
        }
        Known of = known(raw, schema);
        fields.times = readsTimes ? of.times : null;
        if (!of.hasDecimals) {
            return of.isOfRow ? null : unknown(isAvro);
        }
        boolean isCopied = false;
        for (int slot = 0; slot < of.scales.length; slot++) {
            boolean hasOwn = of.scales[slot] == ITS_OWN && fields.kind[slot] == Fields.COMPOSITE;
            if (!hasOwn && (of.scales[slot] == NONE || !isText(slot))) {
                continue;
            }
            String digits =
                    of.scales[slot] != ITS_OWN ? digits(text(slot), of.scales[slot]) : hasOwn ? ownDigits(slot) : null;
            if (digits == null) {
                return Malformed.field(
                        fields.paths.get(slot),
                        "is '" + text(slot) + "', and the record's schema says that it is a decimal in base64");
            }
            if (!isCopied) {
                copy(recordFrom, recordTo);
                isCopied = true;
            }
            put(slot, digits);
        }
        return null;
    }

    private boolean isText(int slot) {
        return fields.kind[slot] == Fields.TEXT || fields.kind[slot] == Fields.ESCAPED_TEXT;
    }

    /// The beginning of a text that is longer than any number in bytes; its escapes are read.
    private String text(int slot) {
        byte[] bytes = fields.bytes;
        int from = fields.from[slot];
        int to = fields.to[slot];
        if (fields.kind[slot] == Fields.ESCAPED_TEXT) {
            bytes = fields.unescaped(slot);
            from = 0;
            to = bytes.length;
        }
        return new String(bytes, from, Math.min(to - from, TEXT_MAX + 1), StandardCharsets.UTF_8);
    }

    /// Refuses a text that may be a number in digits, or in bytes.
    private @Nullable Malformed unknown(boolean isAvro) {
        fields.lacksSchema = form == null;
        for (int slot = 0; slot < isNumber.length && form != DecimalForm.TEXT; slot++) {
            if (isNumber[slot]
                    && isText(slot)
                    && (form == DecimalForm.PRECISE || (isAvro ? !isOfUnion(slot) : isAmbiguous(slot)))) {
                return Malformed.field(
                        fields.paths.get(slot),
                        "is '" + text(slot) + "': "
                                + (form == DecimalForm.PRECISE
                                        ? "as a precise decimal its scale is in the schema, and the record has none. "
                                                + ADVICE
                                        : "that may be a number, or the bytes of one, and the record has no schema."
                                                + " If the connector writes numbers as text"
                                                + " (decimal.handling.mode=string), write under input: 'decimals: text';"
                                                + " otherwise set that mode"));
            }
        }
        return null;
    }

    /// Advice for a text that is no number and may be the bytes of one, as a part of a sentence; empty if it
    /// may not.
    static String advice(Fields fields, int slot) {
        if (!fields.lacksSchema || fields.kind[slot] != Fields.TEXT) {
            return "";
        }
        String text = new String(
                fields.bytes, fields.from[slot], fields.to[slot] - fields.from[slot], StandardCharsets.UTF_8);
        return text.length() % 4 == 0 && text.matches("[0-9A-Za-z+/]+={0,2}")
                ? ". If it is a decimal in base64, its scale is in the schema, and the record has none. " + ADVICE
                : "";
    }

    /// Whether Avro's JSON has said that it is a text. Another text may be bytes.
    private boolean isOfUnion(int slot) {
        int at = fields.from[slot] - 2;
        while (fields.bytes[at] == ' ') {
            at--;
        }
        return fields.bytes[at] == AvroJson.BLANK;
    }

    private boolean isAmbiguous(int slot) {
        byte[] bytes = fields.bytes;
        int from = fields.from[slot];
        int to = fields.to[slot];
        if (fields.kind[slot] == Fields.ESCAPED_TEXT) {
            bytes = fields.unescaped(slot);
            from = 0;
            to = bytes.length;
        }
        boolean is = to > from && (to - from) % 4 == 0;
        for (int i = from; i < to && is; i++) {
            byte b = bytes[i];
            is = b >= '0' && b <= '9' || b == 'e' || b == 'E' || b == '+';
        }
        return is;
    }

    /// Of a value with a scale of its own: `{"scale":2,"value":"BNI="}`.
    private @Nullable String ownDigits(int slot) {
        if (decimals.scan(fields.bytes, fields.from[slot], fields.to[slot]) != null) {
            return null;
        }
        boolean areKinds = decimal.kind[0] == Fields.NUMBER
                && (decimal.kind[1] == Fields.TEXT || decimal.kind[1] == Fields.ESCAPED_TEXT);
        String scale = areKinds ? decimal.text(0) : "";
        return scale.matches("-?[0-9]{1,3}") ? digits(decimal.text(1), Integer.parseInt(scale)) : null;
    }

    private @Nullable String digits(String text, int scale) {
        if (text.isEmpty() || text.length() > TEXT_MAX) {
            return null;
        }
        try {
            byte[] unscaled = Base64.getDecoder().decode(text);
            return new BigDecimal(new BigInteger(unscaled), scale).toPlainString();
        } catch (IllegalArgumentException e) { // Not base64, or nothing.
            return null;
        }
    }

    private void copy(int from, int to) {
        int length = to - from;
        end = length;
        if (copy.length < length + Decoder.PADDING) {
            copy = new byte[2 * length + Decoder.PADDING];
        }
        System.arraycopy(fields.bytes, from, copy, 0, length);
        fields.bytes = copy;
        for (int slot = 0; slot < fields.kind.length; slot++) {
            fields.from[slot] -= from;
            fields.to[slot] -= from;
        }
    }

    private void put(int slot, String digits) {
        if (copy.length < end + digits.length() + Decoder.PADDING) {
            copy = Arrays.copyOf(copy, 2 * copy.length + digits.length() + Decoder.PADDING);
            fields.bytes = copy;
        }
        for (int i = 0; i < digits.length(); i++) {
            copy[end + i] = (byte) digits.charAt(i);
        }
        fields.set(slot, Fields.TEXT, end, end + digits.length());
        end += digits.length();
    }

    private Known known(Fields raw, int schema) {
        for (Known each : known) {
            if (Arrays.equals(each.schema, 0, each.schema.length, raw.bytes, raw.from[schema], raw.to[schema])) {
                return each;
            }
        }
        if (known.size() == SCHEMAS_MAX) {
            known.clear();
        }
        byte[] bytes = Arrays.copyOfRange(raw.bytes, raw.from[schema], raw.to[schema] + Decoder.PADDING);
        int length = bytes.length - Decoder.PADDING;
        int[] scales = new int[fields.paths.size()];
        Arrays.fill(scales, NONE);
        @Nullable Time[] times = new Time[scales.length];
        boolean isOfRow = false;
        for (int[] each : fieldsOf(bytes, 0, length)) {
            parts.scan(bytes, each[0], each[1]);
            if (ChangeScanner.is(part, FIELD, "before") || ChangeScanner.is(part, FIELD, "after")) {
                isOfRow = true;
                for (int[] field : fieldsOf(bytes, each[0], each[1])) {
                    parts.scan(bytes, field[0], field[1]);
                    note(scales, times);
                }
            }
        }
        noteDerived(times);
        boolean hasDecimals = Arrays.stream(scales).anyMatch(scale -> scale != NONE);
        boolean hasTimes = Arrays.stream(times).anyMatch(Objects::nonNull);
        Known found = new Known(Arrays.copyOf(bytes, length), scales, hasDecimals, isOfRow, hasTimes ? times : null);
        known.add(found);
        return found;
    }

    /// Notes the scale of the field whose schema was scanned if it is a decimal, or its type if it is a time.
    private void note(int[] scales, @Nullable Time[] times) {
        String name = textOf(NAME);
        int slot = name.isEmpty() ? -1 : fields.paths.indexOf(FieldPath.of(textOf(FIELD)));
        String scale = textOf(SCALE);
        if (slot >= 0 && name.equals(DECIMAL) && scale.matches("-?[0-9]{1,3}")) {
            scales[slot] = Integer.parseInt(scale);
        } else if (slot >= 0 && name.equals(VARIABLE)) {
            scales[slot] = ITS_OWN;
        } else if (slot >= 0
                && (name.startsWith(DEBEZIUM) || name.equals(CONNECT + "Time") || TIMES.containsKey(name))) {
            times[slot] = new Time(name, TIMES.get(name), !name.equals(ZONED), false);
        }
    }

    /// Notes the derived fields that are made of times. Their own values have no schema.
    private void noteDerived(@Nullable Time[] times) {
        Map<FieldPath, Time> derived = new HashMap<>();
        for (Let let : lets) {
            let.term().fields(read -> {
                int slot = fields.paths.indexOf(read);
                Time time = slot >= 0 && times[slot] != null ? times[slot] : derived.get(read);
                if (time != null) {
                    derived.put(let.field(), new Time(time.name(), null, time.isLocal(), true));
                }
            });
        }
        derived.forEach((field, time) -> {
            int slot = fields.paths.indexOf(field);
            if (slot >= 0) {
                times[slot] = time;
            }
        });
    }

    private String textOf(int slot) {
        return part.kind[slot] == Fields.TEXT || part.kind[slot] == Fields.ESCAPED_TEXT ? part.text(slot) : "";
    }

    /// The ranges of the schemas of the fields in the schema of a structure.
    private List<int[]> fieldsOf(byte[] bytes, int from, int to) {
        List<int[]> found = new ArrayList<>();
        if (parts.scan(bytes, from, to) != null || part.kind[FIELDS] != Fields.COMPOSITE) {
            return found;
        }
        int depth = 0;
        int begin = 0;
        boolean isText = false;
        for (int at = part.from[FIELDS] + 1; at < part.to[FIELDS] - 1; at++) {
            switch (bytes[at]) {
                case '\\' -> at++;
                case '"' -> isText = !isText;
                case '{', '[' -> begin = !isText && depth++ == 0 ? at : begin;
                case '}', ']' -> {
                    if (!isText && --depth == 0) {
                        found.add(new int[] {begin, at + 1});
                    }
                }
                default -> {}
            }
        }
        return found;
    }
}
