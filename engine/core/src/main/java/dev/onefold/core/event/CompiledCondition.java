package dev.onefold.core.event;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Input.Spellings;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.List;

/// A condition, ready to be asked of fields: paths are slots and texts are bytes.
sealed interface CompiledCondition {
    /// Whether it holds. Asked from left to right, and only as far as the answer needs.
    ///
    /// @throws Unanswerable if a field must be a number or a text and is not one
    boolean holds(Fields fields, Scalars scalars) throws Unanswerable;

    /// A field is compared with a number and is not a number, or with a text and is not a text.
    final class Unanswerable extends Exception {
        private static final long serialVersionUID = 1;

        final transient Malformed malformed;

        Unanswerable(Malformed malformed) {
            super(malformed.message(), null, false, false);
            this.malformed = malformed;
        }
    }

    /// Joined by `and` or by `or`.
    ///
    /// @param decisive the first part with this answer decides: false for `and`, true for `or`
    record Joined(List<CompiledCondition> questions, boolean decisive) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) throws Unanswerable {
            for (CompiledCondition question : questions) {
                if (question.holds(fields, scalars) == decisive) {
                    return decisive;
                }
            }
            return !decisive;
        }
    }

    record Not(CompiledCondition question) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) throws Unanswerable {
            return !question.holds(fields, scalars);
        }
    }

    record Missing(int slot) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) {
            return fields.isMissing(slot);
        }
    }

    record TextIn(int slot, List<byte[]> texts, boolean negated) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) throws Unanswerable {
            if (fields.isMissing(slot)) {
                return false;
            }
            if (fields.kind[slot] == Fields.TEXT && !scalars.spellings.normalized()) {
                return isOneOf(fields.bytes, fields.from[slot], fields.to[slot]) != negated;
            }
            int length = scalars.normalText(fields, slot);
            if (length < 0) {
                throw new Unanswerable(Malformed.field(
                        fields.paths.get(slot),
                        "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                                + ", which is no text, but a condition compares it with one"));
            }
            return isOneOf(scalars.bytes, 0, length) != negated;
        }

        private boolean isOneOf(byte[] bytes, int from, int to) {
            return CompiledCondition.isOneOf(texts, bytes, from, to);
        }
    }

    /// A comparison with `true` or `false`.
    ///
    /// @param wanted the truth for which it holds
    record Truth(int slot, List<byte[]> truths, List<byte[]> falsehoods, boolean wanted) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) throws Unanswerable {
            return switch (fields.kind[slot]) {
                case Fields.MISSING, Fields.NULL -> false;
                case Fields.TRUE -> wanted;
                case Fields.FALSE -> !wanted;
                default -> listed(fields, scalars) == wanted;
            };
        }

        private boolean listed(Fields fields, Scalars scalars) throws Unanswerable {
            int length = scalars.normalText(fields, slot);
            if (length >= 0 && (scalars.isTrue(length) || isOneOf(truths, scalars.bytes, 0, length))) {
                return true;
            }
            if (length >= 0 && (scalars.isFalse(length) || isOneOf(falsehoods, scalars.bytes, 0, length))) {
                return false;
            }
            String value = Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot]);
            String line = "["
                    + Malformed.quoted(new String(scalars.bytes, 0, Math.max(0, length), StandardCharsets.UTF_8)) + "]";
            throw new Unanswerable(Malformed.field(
                    fields.paths.get(slot),
                    "is " + value + ", which is neither true nor false, but a condition compares it with "
                            + "true or false"
                            + (length < 0 || length > TRUTH_BYTES_MAX
                                    ? ""
                                    : ". If it means true, write 'truths: " + line
                                            + "' under input; if it means false, write 'falsehoods: " + line + "'")));
        }
    }

    /// Longest text that a message advises to list.
    int TRUTH_BYTES_MAX = 20;

    private static boolean isOneOf(List<byte[]> texts, byte[] bytes, int from, int to) {
        for (byte[] text : texts) {
            if (Arrays.equals(bytes, from, to, text, 0, text.length)) {
                return true;
            }
        }
        return false;
    }

    record Number(int slot, Condition.Comparison comparison, BigDecimal number) implements CompiledCondition {
        @Override
        public boolean holds(Fields fields, Scalars scalars) throws Unanswerable {
            if (fields.isMissing(slot)) {
                return false;
            }
            BigDecimal value = scalars.number(fields, slot);
            if (value == null) {
                throw new Unanswerable(Malformed.number(
                        fields,
                        slot,
                        "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                                + ", which is not a number, but a condition compares it with " + number));
            }
            return comparison.holds(value.compareTo(number));
        }
    }

    static CompiledCondition of(Condition condition, Fields fields, Spellings spellings) {
        return switch (condition) {
            case Condition.And and ->
                new Joined(and.all().stream().map(c -> of(c, fields, spellings)).toList(), false);
            case Condition.Or or ->
                new Joined(or.any().stream().map(c -> of(c, fields, spellings)).toList(), true);
            case Condition.Not not -> new Not(of(not.condition(), fields, spellings));
            case Condition.Missing missing -> new Missing(fields.slot(missing.field()));
            case Condition.TextIn in -> new TextIn(fields.slot(in.field()), bytes(in.texts(), spellings), in.negated());
            case Condition.Truth truth ->
                new Truth(
                        fields.slot(truth.field()),
                        bytes(spellings.truths(), spellings),
                        bytes(spellings.falsehoods(), spellings),
                        truth.word() != truth.negated());
            case Condition.Number number ->
                new Number(fields.slot(number.field()), number.comparison(), number.number());
        };
    }

    private static List<byte[]> bytes(List<String> texts, Spellings spellings) {
        return texts.stream()
                .map(text -> spellings.normalized() ? Normalizer.normalize(text, Normalizer.Form.NFC) : text)
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
    }
}
