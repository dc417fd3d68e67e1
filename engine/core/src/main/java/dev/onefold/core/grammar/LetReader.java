package dev.onefold.core.grammar;

import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Let.Function;
import dev.onefold.core.pipeline.Let.Term;
import dev.onefold.core.pipeline.Limits;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads the derived fields of an input: fields, texts, numbers, functions and parentheses, joined by `*`, and
/// these by `+` and `-`. Not thread-safe.
final class LetReader {
    private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_-]*");
    private static final String FIELD = "field";
    private static final String IF = "if";
    private static final int COUNT_MAX = 16;
    private static final int PLACE_MAX = 10_000;
    private static final String FIELD_ADVICE =
            "; a field whose name is not a plain word is written field(\"Unit Price\"), and a text has quotes";

    private final Expression expression;
    private final FieldGrammar fields;
    private int terms;
    private int depth;

    private LetReader(Expression expression, FieldGrammar fields) {
        this.expression = expression;
        this.fields = fields;
    }

    /// The names of the derived fields of an input.
    static List<FieldPath> names(Section input) {
        Setting setting = input.get("let");
        return setting == null
                ? List.of()
                : setting.entries().keySet().stream().map(FieldPath::of).toList();
    }

    /// The derived fields of an input; wrong ones are noted and left out.
    static List<Let> lets(Section input, FieldGrammar fields) {
        Setting setting = input.get("let");
        if (setting == null) {
            return List.of();
        }
        if (setting.entries().isEmpty()) {
            setting.refuseKind("derived fields, each with a name: 'net: gross - tax'");
        }
        setting.refuseMoreThan(Limits.LETS_MAX, setting.entries().size());
        List<FieldPath> names = fields.derived();
        List<Let> lets = new ArrayList<>();
        setting.entries().forEach((name, entry) -> {
            Setting value = setting.entry(entry);
            FieldPath field = Expression.read(
                    entry.name(), value.path(), setting.problems(), text -> name(text, fields.format()));
            Term term = value.read(text -> whole(text, fields));
            if (field == null || term == null) {
                return;
            }
            term.fields(read -> {
                if (names.indexOf(read) >= names.indexOf(field)) {
                    value.refuse(
                            read.toString(),
                            read.equals(field) ? "is made of itself" : "is derived further down",
                            read.equals(field)
                                    ? "give it a name that no field of a record has"
                                    : "write it above the fields that are made of it");
                }
            });
            lets.add(new Let(field, term));
        });
        return lets;
    }

    private static FieldPath name(Expression expression, @Nullable Format format) {
        String name = expression.whole();
        if (name.length() > Limits.NAME_LENGTH_MAX || !NAME.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0,
                    "is not a name of a derived field",
                    "write letters, digits, '_' and (inside) '-', at most " + Limits.NAME_LENGTH_MAX
                            + ", a letter or '_' first");
        }
        if (format instanceof Format.Csv csv && csv.columns().contains(name)) {
            throw expression.refuseFrom(0, "is one of input.columns, too", "give the derived field another name");
        }
        return FieldPath.of(name);
    }

    private static Term whole(Expression expression, FieldGrammar fields) {
        int start = expression.offset();
        Term term = new LetReader(expression, fields).sum();
        expression.end("join terms with +, - and *, with spaces around a minus" + FIELD_ADVICE);
        List<FieldPath> read = new ArrayList<>();
        term.fields(read::add);
        if (read.isEmpty()) {
            throw expression.refuseFrom(start, "reads no field", "name a field in it" + FIELD_ADVICE);
        }
        return term;
    }

    private Term sum() {
        int start = expression.offset();
        Term term = product();
        while (true) {
            if (expression.take('+')) {
                term = call(Function.PLUS, List.of(term, product()), start);
            } else if (expression.take('-')) {
                term = call(Function.MINUS, List.of(term, product()), start);
            } else {
                return term;
            }
        }
    }

    private Term product() {
        int start = expression.offset();
        Term term = one();
        while (expression.take('*')) {
            term = call(Function.TIMES, List.of(term, one()), start);
        }
        if (expression.isNext("/")) {
            throw expression.refuse(
                    "divides without a number of decimals", "write it like " + Function.DIVIDE.example());
        }
        return term;
    }

    private Term one() {
        int start = expression.offset();
        if (expression.take('(')) {
            if (++depth > Limits.OPERANDS_MAX) {
                throw expression.refuse(
                        "is inside of one parenthesis too many", "at most " + Limits.OPERANDS_MAX + " are possible");
            }
            Term inner = sum();
            depth--;
            expression.expect(')', "close the parenthesis, or go on with an operator");
            return inner;
        }
        if (++terms > Limits.OPERANDS_MAX) {
            throw expression.refuse("is one term too many", "at most " + Limits.OPERANDS_MAX + " are possible");
        }
        String text = expression.quotedText();
        if (text != null) {
            return new Let.Text(text);
        }
        String word = expression.word();
        if (!word.isEmpty() && expression.isNext("(")) {
            return function(word, start);
        }
        expression.back(start);
        BigDecimal number = expression.number();
        return number == null ? new Let.Field(fields.operand(expression)) : new Let.Number(number);
    }

    private Term function(String word, int start) {
        if (word.equals(FIELD) && expression.take('(')) {
            FieldPath field = fields.read(expression);
            expression.expect(')', "write one field alone: field(\"Unit Price\")");
            return new Let.Field(field);
        }
        if (word.equals(IF) && expression.take('(')) {
            Condition condition = ConditionParser.next(expression, fields);
            expression.expect(',', "write a condition and two terms: if(paid = true, price, 0)");
            Term then = sum();
            expression.expect(',', "write what it is otherwise: if(paid = true, price, 0)");
            Term otherwise = sum();
            expression.expect(')', "close the parenthesis, or go on with an operator");
            return new Let.If(condition, then, otherwise);
        }
        Optional<Function> function = Stream.of(Function.values())
                .filter(each -> !each.isOperator() && each.word().equals(word))
                .findFirst();
        if (function.isEmpty()) {
            List<String> words = Stream.concat(
                            Stream.of(IF, FIELD),
                            Stream.of(Function.values())
                                    .filter(each -> !each.isOperator())
                                    .map(Function::word))
                    .toList();
            throw expression.refuseFrom(start, RollupReader.NO_FUNCTION, NearestWord.advice(word, words));
        }
        expression.expect('(', "write its arguments");
        List<Term> arguments = new ArrayList<>();
        do {
            arguments.add(sum());
        } while (expression.take(','));
        expression.expect(')', "close the parenthesis, or go on with a comma");
        return call(function.get(), arguments, start);
    }

    private Term call(Function function, List<Term> arguments, int start) {
        boolean fits = switch (function) {
            case LOWER, UPPER, TRIM -> arguments.size() == 1 && isValue(arguments.getFirst());
            case CONCAT -> arguments.size() > 1 && arguments.size() <= COUNT_MAX;
            case COALESCE -> arguments.size() > 1 && arguments.size() <= COUNT_MAX && isValue(arguments.getFirst());
            case SUBSTRING ->
                (arguments.size() == 2 || arguments.size() == 3)
                        && isValue(arguments.getFirst())
                        && arguments.stream().skip(1).allMatch(each -> isWhole(each, 1, PLACE_MAX));
            case REPLACE ->
                arguments.size() == 3
                        && isValue(arguments.getFirst())
                        && isSearched(arguments.get(1))
                        && arguments.get(2) instanceof Let.Text;
            case SPLIT ->
                arguments.size() == 3
                        && isValue(arguments.getFirst())
                        && isSearched(arguments.get(1))
                        && isWhole(arguments.get(2), 1, PLACE_MAX);
            case DIVIDE ->
                arguments.size() == 3
                        && isValue(arguments.getFirst())
                        && isValue(arguments.get(1))
                        && isWhole(arguments.get(2), 0, Limits.FACTOR_DIGITS_MAX);
            case PLUS, MINUS, TIMES -> arguments.stream().allMatch(LetReader::isValue);
        };
        if (!fits) {
            String right = function.isOperator() ? "numbers around it" : "it like " + function.example();
            throw expression.refuseFrom(
                    start,
                    "has other arguments than " + function.word() + " takes",
                    String.format(Locale.ROOT, "write %s%s", right, FIELD_ADVICE));
        }
        return new Let.Call(function, arguments);
    }

    /// Whether it is more than a text in quotes, which may be meant as the name of a field.
    private static boolean isValue(Term term) {
        return !(term instanceof Let.Text);
    }

    private static boolean isSearched(Term term) {
        return term instanceof Let.Text(String text) && !text.isEmpty();
    }

    private static boolean isWhole(Term term, int min, int max) {
        return term instanceof Let.Number(BigDecimal number)
                && number.scale() <= 0
                && number.compareTo(BigDecimal.valueOf(min)) >= 0
                && number.compareTo(BigDecimal.valueOf(max)) <= 0;
    }
}
