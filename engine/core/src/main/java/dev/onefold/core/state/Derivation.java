package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Whether contributions that were made under one definition hold all that another one reads. Contributions
/// keep the values of levels and inputs, not the record: a field that no old roll-up reads is not in them.
public sealed interface Derivation {
    /// They do. A record that the old definition refused is not among them: it is a dead letter, and is to be
    /// decoded under the new definition.
    ///
    /// @param levels per new roll-up and level: where the old definition has it
    /// @param inputs per new input: the old one, and how its values are declared now
    /// @param doubt why the records, read again, may come to something else; empty if they cannot. Records that
    ///     can be read again are read again then, because the answer must be that of the new definition
    record Possible(List<List<Kept>> levels, List<Taken> inputs, String doubt) implements Derivation {
        public Possible {
            levels = levels.stream().map(List::copyOf).toList();
            inputs = List.copyOf(inputs);
        }

        /// Whether a row may not fit the new definition.
        public boolean mayRefuse() {
            return inputs.stream().anyMatch(Taken::mayRefuse);
        }

        /// Why the new definition refuses a record that contributes this under the old one; empty if it does
        /// not.
        public Optional<Malformed> refusal(Contribution old) {
            return old.kind() != Event.Kind.COUNTED
                    ? Optional.empty()
                    : inputs.stream()
                            .flatMap(input -> input.refusal(old.amounts().get(input.index)).stream())
                            .findFirst();
        }

        /// The contribution under the new definition of a row that has this one under the old definition: the
        /// same as if its record were read again. A value that the new definition refuses stays as it is; see
        /// [#refusal].
        public Contribution of(Contribution old) {
            if (old.kind() != Event.Kind.COUNTED) {
                return old;
            }
            List<List<String>> parts = old.groups().stream().map(Tuple::parts).toList();
            return new Contribution(
                    old.kind(),
                    levels.stream()
                            .map(rollup -> Tuple.of(rollup.stream()
                                    .map(kept -> parts.get(kept.rollup).get(kept.level))
                                    .toList()))
                            .toList(),
                    inputs.stream()
                            .map(input -> input.of(old.amounts().get(input.index)))
                            .toList());
        }
    }

    /// A level of the old definition, by its roll-up and its place there.
    record Kept(int rollup, int level) {}

    /// An input of the old definition.
    ///
    /// @param index where the old definition has it
    /// @param before how its values were declared; `null` for a text
    /// @param after how they are declared now; `null` for a text
    record Taken(
            String field,
            int index,
            @Nullable DecimalType before,
            @Nullable DecimalType after) {
        /// Whether its values have another declaration than before.
        public boolean isDeclaredAnew() {
            return !Objects.equals(before, after);
        }

        boolean mayRefuse() {
            return before != null && after != null && !after.holds(before);
        }

        /// The amount as the new definition has it; as it was, if it does not fit.
        public Amount of(Amount old) {
            return after != null && old instanceof Amount.Number(var value)
                    ? after.fit(value).<Amount>map(Amount.Number::new).orElse(old)
                    : old;
        }

        Optional<Malformed> refusal(Amount old) {
            return after != null
                            && old instanceof Amount.Number(var value)
                            && after.fit(value).isEmpty()
                    ? Optional.of(
                            new Malformed(
                                    Reason.REFUSED,
                                    "Field " + field + " is '"
                                            + value.stripTrailingZeros().toPlainString()
                                            + "', which does not fit " + after
                                            + "; it was in the totals under an older pipeline file, and the record cannot be read again"))
                    : Optional.empty();
        }
    }

    /// They do not, and why.
    record Impossible(String reason) implements Derivation {}

    /// Compares two definitions.
    static Derivation of(Pipeline from, Pipeline to) {
        String reason = identity(from.input(), to.input());
        if (reason != null) {
            return new Impossible(reason);
        }
        Optional<String> otherRules = from.otherRules(to);
        if (otherRules.isPresent()) {
            return new Impossible(otherRules.get());
        }
        List<FieldPath> read = from.fields();
        for (FieldPath field : to.fields()) {
            if (read.contains(field)
                    && !Objects.equals(from.input().let(field), to.input().let(field))) {
                return new Impossible("field " + field + " is derived otherwise than before");
            }
        }
        Rollups before = Rollups.of(from);
        Rollups after = Rollups.of(to);
        List<List<Kept>> levels = new ArrayList<>();
        for (Rollup rollup : after.all()) {
            List<Kept> found = new ArrayList<>();
            for (Level level : rollup.levels()) {
                Kept kept = find(before, level);
                if (kept == null) {
                    return new Impossible(unread(before, rollup, level));
                }
                found.add(kept);
            }
            levels.add(found);
        }
        List<Taken> inputs = new ArrayList<>();
        for (Measure.Input input : after.inputs()) {
            int kept = find(before, input);
            if (kept < 0) {
                return new Impossible(unread(before, input));
            }
            inputs.add(new Taken(input.value(), kept, type(before.inputs().get(kept)), type(input)));
        }
        return new Possible(levels, inputs, doubt(from.input(), to.input(), inputs));
    }

    /// Whether two definitions store the same, so that only their answers can differ.
    static boolean storesSame(Pipeline one, Pipeline other) {
        return one.name().equals(other.name())
                && one.input().equals(other.input())
                && one.zones().equals(other.zones())
                && one.fold().stored().equals(other.fold().stored());
    }

    private static @Nullable DecimalType type(Measure.Input input) {
        return input instanceof Measure.Input.Decimal decimal ? decimal.type() : null;
    }

    private static String narrower(List<Taken> inputs) {
        return inputs.stream()
                .filter(Taken::mayRefuse)
                .findFirst()
                .map(input -> "field " + input.field + " was read as " + input.before
                        + " before, and a value may not fit " + input.after)
                .orElse("");
    }

    /// The levels and fields that contributions under one definition hold, and those under another do not.
    static List<String> dropped(Pipeline from, Pipeline to) {
        Rollups before = Rollups.of(from);
        Rollups after = Rollups.of(to);
        Set<String> dropped = new LinkedHashSet<>();
        Set<Level.Source> sources = new HashSet<>();
        after.all().forEach(rollup -> rollup.levels().forEach(level -> sources.add(level.source())));
        before.all()
                .forEach(rollup -> rollup.levels().stream()
                        .filter(level -> !sources.contains(level.source()))
                        .forEach(level -> dropped.add("level " + level.name())));
        before.inputs().stream()
                .filter(input -> after.inputs().stream()
                        .map(Derivation::refusing)
                        .noneMatch(read -> read.equals(refusing(input)) || isDeclaredAnew(refusing(input), read)))
                .forEach(input -> dropped.add("field " + input.value() + " as " + describe(input)));
        return List.copyOf(dropped);
    }

    private static @Nullable String identity(Input from, Input to) {
        if (from.identity() instanceof Identity.ByPlace || to.identity() instanceof Identity.ByPlace) {
            return "records that count by their place leave no rows";
        }
        if (!to.identity().includes(from.identity())) {
            return "the key, id or version has changed";
        }
        if (!to.spellings().include(from.spellings())) {
            return "values are spelled otherwise: truths, falsehoods, normalize, zone or fold has changed";
        }
        if (!isOfOneLog(from, to)) {
            return "the places of changes mean another log now";
        }
        if (!values(from).equals(values(to)) || !isOfColumns(from.format(), to.format())) {
            return "the format reads other values of the same record: unwrap, columns, delimiter, quote, decimal,"
                    + " thousands, nulls, comment, escape, header or decimals has changed";
        }
        if (!isOfItsTables(from, to)) {
            return "the rows are of another table: table has changed";
        }
        if (from.edition() != to.edition()) {
            return "edition " + to.edition() + " reads records otherwise than edition " + from.edition() + ": "
                    + String.join(
                            "; ",
                            Edition.between(
                                    to,
                                    Math.min(from.edition(), to.edition()),
                                    Math.max(from.edition(), to.edition())));
        }
        if (!Objects.equals(from.delete(), to.delete())) {
            return "the delete condition has changed";
        }
        return Objects.equals(from.filter(), to.filter()) ? null : "the filter has changed";
    }

    private static String doubt(Input from, Input to, List<Taken> inputs) {
        String narrower = narrower(inputs);
        if (!narrower.isEmpty()) {
            return narrower + "; what an older version of its key said is in no row";
        }
        if (!from.format().equals(to.format()) && !isSameLog(from.format(), to.format())) {
            return "the format has changed";
        }
        EventTime time = to.time();
        if (time != null && !time.equals(from.time())) {
            return "the time " + time.field() + " was not read before, and a record without it is refused";
        }
        boolean isHorizon = from.identity() instanceof Identity.ById before
                && to.identity() instanceof Identity.ById after
                && !Objects.equals(before.horizon(), after.horizon());
        return isHorizon ? "the horizon has changed" : "";
    }

    /// Whether versions that are places in a log compare with each other as they did.
    private static boolean isOfOneLog(Input from, Input to) {
        boolean byPlace = to.identity() instanceof Identity.Versioned versioned && versioned.version() == null;
        return !byPlace
                || from.format().equals(to.format())
                || isSameLog(from.format(), to.format())
                || from.format() instanceof Format.Debezium before
                        && to.format() instanceof Format.Debezium after
                        && (before.logs().equals(after.logs())
                                ? before.tables().equals(after.tables()) || isNamedNow(from, before, after)
                                : before.tables().equals(after.tables())
                                        && (before.logs().isEmpty()
                                                || before.logNames().equals(after.logNames())))
                || from.format() instanceof Format.DynamoDbStream && to.format() instanceof Format.DynamoDbStream;
    }

    /// The settings by which a format reads other values of the same bytes.
    private static List<Object> values(Input input) {
        List<FieldPath> unwrap = input.format() instanceof Format.Json json ? json.unwrap() : List.of();
        Format.Csv csv = input.format() instanceof Format.Csv its ? its : new Format.Csv(',', List.of());
        boolean readsSchemas = !(input.format() instanceof Format.Debezium debezium)
                || debezium.decimals() != null
                || input.readsBy(3);
        return List.of(
                unwrap,
                csv.delimiter(),
                csv.quote(),
                csv.decimal(),
                csv.thousands(),
                csv.nulls(),
                csv.comment(),
                csv.escape(),
                csv.isHeaderOnce(),
                readsSchemas);
    }

    /// Whether no record has values of other columns now. One that has another number of columns is refused,
    /// and the columns of a header are those of its file.
    private static boolean isOfColumns(Format from, Format to) {
        return !(from instanceof Format.Csv before)
                || !(to instanceof Format.Csv after)
                || before.columns().size() != after.columns().size()
                || before.columns().equals(after.columns());
    }

    /// Whether the later format takes changes of the tables that the former one has named.
    private static boolean isOfItsTables(Input from, Input to) {
        return switch (from.format()) {
            case Format.DynamoDbStream before ->
                before.table() == null
                        || !(to.format() instanceof Format.DynamoDbStream after)
                        || before.table().equals(after.table());
            case Format.Debezium before ->
                !(to.format() instanceof Format.Debezium after)
                        || before.tables().equals(after.tables())
                        || isNamedNow(from, before, after);
            case Format.Json _, Format.Csv _ -> true;
        };
    }

    /// Whether the later format says which schema or database the former one has meant, which took no change of
    /// any.
    private static boolean isNamedNow(Input from, Format.Debezium before, Format.Debezium after) {
        return from.readsBy(3)
                && before.tables().size() == 1
                && before.tables().getFirst().parts().size() == 1
                && after.tables().size() == 1
                && after.tables()
                        .getFirst()
                        .table()
                        .equals(before.tables().getFirst().table());
    }

    /// Whether the later format reads all that the former one took as it did: it knows more logs, or refuses
    /// fewer records.
    private static boolean isSameLog(Format from, Format to) {
        boolean isOfTable = from instanceof Format.DynamoDbStream before
                && to instanceof Format.DynamoDbStream after
                && Objects.equals(before.table(), after.table())
                && before.keepsExpired() == after.keepsExpired();
        return isOfTable
                || from instanceof Format.Debezium before
                        && to instanceof Format.Debezium after
                        && before.tables().equals(after.tables())
                        && (before.decimals() == after.decimals()
                                || before.decimals() == null && after.decimals() == Input.DecimalForm.TEXT)
                        && before.logs().isEmpty() == after.logs().isEmpty()
                        && takesAlso(before, after);
    }

    /// Whether the later format has the logs that the former one has, in their order, and each server of
    /// theirs; to name a server where none was named takes changes that were refused.
    private static boolean takesAlso(Format.Debezium before, Format.Debezium after) {
        List<String> names = before.logNames();
        return after.logNames().size() >= names.size()
                && after.logNames().subList(0, names.size()).equals(names)
                && before.logs().stream()
                        .allMatch(log -> names.contains(log) || after.logs().contains(log));
    }

    /// A level that took no record without its field serves a level that takes them, too: such records are
    /// among the dead letters.
    private static @Nullable Kept find(Rollups from, Level wanted) {
        Kept found = null;
        for (int rollup = 0; rollup < from.all().size(); rollup++) {
            List<Level> levels = from.all().get(rollup).levels();
            for (int level = 0; level < levels.size(); level++) {
                Level each = levels.get(level);
                if (each.source().equals(wanted.source())) {
                    if (Objects.equals(each.missing(), wanted.missing())) {
                        return new Kept(rollup, level);
                    }
                    found = each.missing() == null ? new Kept(rollup, level) : found;
                }
            }
        }
        return found;
    }

    private static int find(Rollups from, Measure.Input wanted) {
        List<Measure.Input> inputs = from.inputs();
        for (Measure.Input candidate : List.of(wanted, refusing(wanted))) {
            int same = inputs.indexOf(candidate);
            if (same >= 0) {
                return same;
            }
        }
        for (Measure.Input candidate : List.of(wanted, refusing(wanted))) {
            for (int i = 0; i < inputs.size(); i++) {
                if (isDeclaredAnew(inputs.get(i), candidate)) {
                    return i;
                }
            }
        }
        return -1;
    }

    /// Whether two inputs differ in nothing but their decimal type.
    private static boolean isDeclaredAnew(Measure.Input before, Measure.Input after) {
        return before instanceof Measure.Input.Decimal old
                && after instanceof Measure.Input.Decimal now
                && new Measure.Input.Decimal(old.source(), now.type(), old.missing(), old.where()).equals(now);
    }

    /// The input that refuses a record without its field.
    private static Measure.Input refusing(Measure.Input input) {
        return switch (input) {
            case Measure.Input.Decimal decimal ->
                new Measure.Input.Decimal(decimal.source(), decimal.type(), Measure.Missing.refuse(), decimal.where());
            case Measure.Input.Text text ->
                new Measure.Input.Text(text.field(), Measure.Missing.refuse(), text.where());
        };
    }

    private static String unread(Rollups from, Rollup rollup, Level wanted) {
        String name = "level " + wanted.name() + " of roll-up " + rollup.name();
        List<Level> alike = from.all().stream()
                .flatMap(each -> each.levels().stream())
                .filter(level -> level.source().field().equals(wanted.source().field()))
                .toList();
        for (Level level : alike) {
            if (level.source().equals(wanted.source())) {
                return name + " treats records without field " + wanted.source().field()
                        + " differently: they count as '" + level.missing() + "' in the rows";
            }
        }
        return alike.isEmpty()
                ? name + " was not read before"
                : name + " takes another part of field " + wanted.source().field() + " than before";
    }

    private static String unread(Rollups from, Measure.Input wanted) {
        String field = "field " + wanted.value();
        List<Measure.Input> alike = from.inputs().stream()
                .filter(input -> input.value().equals(wanted.value()))
                .toList();
        for (Measure.Input input : alike) {
            if (describe(input).equals(describe(wanted))) {
                return Objects.equals(input.where(), wanted.where())
                        ? "records without " + field + " are treated differently than before"
                        : field + " was read under another condition before";
            }
        }
        return alike.isEmpty()
                ? field + " was not read before as " + describe(wanted)
                : field + " was read as " + describe(alike.getFirst()) + " before, not as " + describe(wanted);
    }

    private static String describe(Measure.Input input) {
        String type = switch (input) {
            case Measure.Input.Decimal decimal
            when decimal.source() instanceof Measure.Source.Time time ->
                "a time (" + time.type().word() + ") in " + decimal.type();
            case Measure.Input.Decimal decimal -> decimal.type().toString();
            case Measure.Input.Text _ -> "a text";
        };
        return input.where() == null ? type : type + " under a condition";
    }
}
