package dev.onefold.core.event;

import dev.onefold.core.event.CompiledCondition.Unanswerable;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Let.Term;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Computes the derived fields of a record, and puts them among its fields: each before the first step of
/// reading that needs it, so that one that cannot be computed refuses only a record that is read so far. Not
/// thread-safe.
final class DerivedFields {
    /// The steps of reading, in their order.
    static final int IDENTITY = 0;

    static final int DELETE = 1;
    static final int FILTER = 2;
    static final int REST = 3;

    /// A value is `null`, where it is missing, a [String] or a [BigDecimal].
    private interface Value {
        @Nullable
        Object get() throws Unanswerable;
    }

    private record Derived(int slot, Value value) {}

    private final Fields fields;
    private final Scalars scalars;
    private final List<List<Derived>> steps = new ArrayList<>();
    // The values of all fields, because fields have their values in one array.
    private byte[] bytes = new byte[1 << 12];
    private int length;
    private boolean isCopied; // Of this record.

    private DerivedFields(Pipeline pipeline, Fields fields, Scalars scalars) {
        this.fields = fields;
        this.scalars = scalars;
        List<Let> left = new ArrayList<>(pipeline.input().lets());
        for (List<FieldPath> step : pipeline.steps()) {
            steps.add(left.stream()
                    .filter(let -> step.contains(let.field()))
                    .map(let -> new Derived(fields.slot(let.field()), compile(let.term())))
                    .toList());
            left.removeIf(let -> step.contains(let.field()));
        }
    }

    /// `null` if a pipeline has none.
    static @Nullable DerivedFields of(Pipeline pipeline, Fields fields, Scalars scalars) {
        return pipeline.input().lets().isEmpty() ? null : new DerivedFields(pipeline, fields, scalars);
    }

    /// Computes those that a step needs first; `null`, or the reason why one cannot be computed.
    ///
    /// @param isRemoved whether the record removes a row, and has no more than its key, which may be derived
    @Nullable
    Malformed derive(int step, boolean isRemoved) {
        isCopied &= step != IDENTITY;
        for (Derived derived : steps.get(step)) {
            FieldPath name = fields.paths.get(derived.slot);
            if (fields.kind[derived.slot] != Fields.MISSING) {
                if (isRemoved) {
                    continue;
                }
                return Malformed.field(
                        name, "is in the record, and 'let' derives a field of this name: give that one another name");
            }
            try {
                put(derived.slot, derived.value.get());
            } catch (Unanswerable unanswerable) {
                Malformed cause = unanswerable.malformed;
                return new Malformed(cause.reason(), "Derived field " + name + ": " + cause.message());
            }
        }
        return null;
    }

    private void put(int slot, @Nullable Object value) throws Unanswerable {
        if (value == null) {
            return;
        }
        if (!isCopied) {
            copy();
        }
        byte[] text =
                (value instanceof BigDecimal number ? plain(number) : (String) value).getBytes(StandardCharsets.UTF_8);
        boolean isLocal = value instanceof String && fields.numbers != null && fields.numbers.may(text, 0, text.length);
        byte kind = value instanceof BigDecimal ? Fields.NUMBER : isLocal ? Fields.LOCAL_TEXT : Fields.TEXT;
        append(slot, kind, text, 0, text.length);
    }

    /// Brings the values of the record into the array of this reader.
    private void copy() {
        byte[] record = fields.bytes;
        length = 0;
        for (int slot = 0; slot < fields.kind.length; slot++) {
            if (fields.kind[slot] != Fields.MISSING) {
                append(slot, fields.kind[slot], record, fields.from[slot], fields.to[slot]);
            }
        }
        fields.bytes = bytes;
        isCopied = true;
    }

    private void append(int slot, byte kind, byte[] from, int start, int end) {
        int needed = length + end - start + Decoder.PADDING;
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, needed));
            fields.bytes = isCopied ? bytes : fields.bytes;
        }
        System.arraycopy(from, start, bytes, length, end - start);
        fields.set(slot, kind, length, length + end - start);
        length += end - start;
    }

    private Value compile(Term term) {
        return switch (term) {
            case Let.Field(FieldPath field) -> {
                int slot = fields.slot(field);
                yield () -> read(slot);
            }
            case Let.Text(String text) -> () -> text;
            case Let.Number(BigDecimal number) -> () -> number;
            case Let.If one -> {
                CompiledCondition condition = CompiledCondition.of(one.condition(), fields, scalars.spellings);
                Value then = compile(one.then());
                Value otherwise = compile(one.otherwise());
                yield () -> (condition.holds(fields, scalars) ? then : otherwise).get();
            }
            case Let.Call call -> {
                List<Value> arguments =
                        call.arguments().stream().map(this::compile).toList();
                yield () -> call(call, arguments);
            }
        };
    }

    private @Nullable Object read(int slot) throws Unanswerable {
        if (fields.isMissing(slot)) {
            return null;
        }
        BigDecimal number = fields.kind[slot] == Fields.NUMBER ? scalars.number(fields, slot) : null;
        if (number != null) {
            return number;
        }
        int size = scalars.text(fields, slot, 0);
        if (size < 0) {
            String value = Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot]);
            throw new Unanswerable(
                    Malformed.field(fields.paths.get(slot), "is " + value + ", which is neither a text nor a number"));
        }
        if (size > Limits.LET_BYTES_MAX) {
            throw tooLarge("Field " + fields.paths.get(slot), size);
        }
        return new String(scalars.bytes, 0, size, StandardCharsets.UTF_8);
    }

    private static Unanswerable tooLarge(String what, int size) {
        return new Unanswerable(new Malformed(
                Reason.TOO_LARGE,
                what + " has " + size + " bytes; a text in 'let' has at most " + Limits.LET_BYTES_MAX));
    }

    private @Nullable Object call(Let.Call call, List<Value> arguments) throws Unanswerable {
        List<Object> values = new ArrayList<>();
        for (Value argument : arguments) {
            Object value = argument.get();
            boolean isFirst = call.function() == Let.Function.COALESCE;
            if (isFirst == (value != null)) {
                return value;
            }
            if (value != null) {
                values.add(value);
            }
        }
        return switch (call.function()) {
            case COALESCE -> null;
            case LOWER -> text(string(values, 0).toLowerCase(Locale.ROOT), call);
            case UPPER -> text(string(values, 0).toUpperCase(Locale.ROOT), call);
            case TRIM -> text(trimmed(string(values, 0)), call);
            case CONCAT -> {
                StringBuilder all = new StringBuilder();
                for (int i = 0; i < values.size(); i++) {
                    all.append(string(values, i));
                }
                yield text(all.toString(), call);
            }
            case SUBSTRING ->
                text(
                        part(
                                string(values, 0),
                                whole(values, 1),
                                values.size() > 2 ? whole(values, 2) : Limits.LET_BYTES_MAX),
                        call);
            case REPLACE -> text(string(values, 0).replace(string(values, 1), string(values, 2)), call);
            case SPLIT -> text(split(string(values, 0), string(values, 1), whole(values, 2)), call);
            case PLUS -> number(values, 0, call).add(number(values, 1, call));
            case MINUS -> number(values, 0, call).subtract(number(values, 1, call));
            case TIMES -> number(values, 0, call).multiply(number(values, 1, call));
            case DIVIDE -> {
                BigDecimal dividend = number(values, 0, call);
                BigDecimal divisor = number(values, 1, call);
                yield divisor.signum() == 0 ? null : dividend.divide(divisor, whole(values, 2), RoundingMode.HALF_EVEN);
            }
        };
    }

    private static @Nullable String text(String text, Let.Call call) throws Unanswerable {
        int size = text.getBytes(StandardCharsets.UTF_8).length;
        if (size > Limits.LET_BYTES_MAX) {
            throw tooLarge("The result of " + call.function().word(), size);
        }
        return text.isEmpty() ? null : text;
    }

    private String string(List<Object> values, int index) throws Unanswerable {
        if (!(values.get(index) instanceof BigDecimal number)) {
            return (String) values.get(index);
        }
        String plain = plain(number);
        return fields.numbers == null ? plain : fields.numbers.text(plain);
    }

    private static String plain(BigDecimal number) throws Unanswerable {
        if (number.signum() != 0
                && (Math.abs((long) number.scale()) > Decimals.CHARACTERS_MAX
                        || number.precision() > Decimals.CHARACTERS_MAX)) {
            throw new Unanswerable(
                    new Malformed(Reason.TOO_LARGE, "The number has over " + Decimals.CHARACTERS_MAX + " digits"));
        }
        return Scalars.plain(number);
    }

    private static int whole(List<Object> values, int index) {
        return ((BigDecimal) values.get(index)).intValueExact();
    }

    private static String trimmed(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && isBlank(text.charAt(from))) {
            from++;
        }
        while (to > from && isBlank(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean isBlank(char one) {
        return one >= '\t' && one <= '\r' || Character.isSpaceChar(one);
    }

    /// @param place of the first character, from 1
    private static String part(String text, int place, int count) {
        int points = text.codePointCount(0, text.length());
        if (place > points) {
            return "";
        }
        int from = text.offsetByCodePoints(0, place - 1);
        return text.substring(from, text.offsetByCodePoints(from, Math.min(count, points - place + 1)));
    }

    private static String split(String text, String separator, int place) {
        String[] parts = text.split(Pattern.quote(separator), -1);
        return place > parts.length ? "" : parts[place - 1];
    }

    private BigDecimal number(List<Object> values, int index, Let.Call call) throws Unanswerable {
        BigDecimal number = values.get(index) instanceof BigDecimal found ? found : parse((String) values.get(index));
        if (number != null && InputReader.isFactor(number)) {
            return number;
        }
        byte[] text = values.get(index).toString().getBytes(StandardCharsets.UTF_8);
        List<FieldPath> read = new ArrayList<>();
        Term argument = call.arguments().get(index);
        argument.fields(read::add);
        String advice = fields.isCsv ? LocalNumbers.advice(fields.numbers, text, 0, text.length) : "";
        throw new Unanswerable(Malformed.field(
                read.isEmpty() ? "of none" : read.getFirst(),
                (argument instanceof Let.Field ? "is " : "leads to ") + Malformed.excerpt(text, 0, text.length)
                        + ", which is not a number of at most " + Limits.FACTOR_DIGITS_MAX
                        + " digits before the point and as many behind it; '"
                        + call.function().word() + "' needs one"
                        + advice
                        + (argument instanceof Let.Field(FieldPath of)
                                ? ConnectSchemas.advice(fields, fields.slot(of))
                                : "")));
    }

    private @Nullable BigDecimal parse(String text) {
        byte[] written = text.getBytes(StandardCharsets.UTF_8);
        if (fields.numbers == null || !fields.numbers.may(written, 0, written.length)) {
            return Decimals.parse(written, 0, written.length);
        }
        byte[] plain = new byte[written.length + 1];
        return Decimals.parse(plain, 0, fields.numbers.plain(written, 0, written.length, plain));
    }
}
