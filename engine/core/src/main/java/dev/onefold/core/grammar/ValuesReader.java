package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity.Part;
import dev.onefold.core.pipeline.Identity.PartType;
import dev.onefold.core.pipeline.Identity.VersionPart;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Input.LocalFold;
import dev.onefold.core.pipeline.Input.Spellings;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.TableName.Origin;
import dev.onefold.core.pipeline.TimeType;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads the parts of keys, and the spellings of values that an input adds.
///
/// @param fields those that a record may have
record ValuesReader(FieldGrammar fields) {
    /// The word for Unicode's composed form.
    static final String NFC = "nfc";

    private static final String PART = "a field, a list of fields, or {field: F, type: integer}";

    /// The parts of a key or an id, which may be missing; wrong ones are noted and left out.
    List<Part> parts(@Nullable Setting setting) {
        return some(
                setting,
                this::part,
                part -> part.field() + (part.element() == Part.WHOLE ? "" : "[" + part.element() + "]"));
    }

    /// One value or a list of some, each of another name; wrong ones are noted and left out.
    static <T> List<T> some(
            @Nullable Setting setting, Function<Setting, @Nullable T> reader, Function<T, String> naming) {
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            return Stream.ofNullable(reader.apply(setting)).toList();
        }
        int size = setting.items().size();
        if (size == 0 || size > Limits.KEY_FIELDS_MAX) {
            setting.refuse(
                    "",
                    size == 0 ? "is empty" : "has " + size + " fields",
                    "write 1 to " + Limits.KEY_FIELDS_MAX + " fields");
        }
        Map<String, T> values = new LinkedHashMap<>();
        for (Setting item : setting.items()) {
            T value = reader.apply(item);
            if (value != null && values.putIfAbsent(naming.apply(value), value) != null) {
                item.refuse(naming.apply(value), "is there twice", "name it once");
            }
        }
        return List.copyOf(values.values());
    }

    private @Nullable Part part(Setting setting) {
        if (!(setting.node() instanceof Node.Mapping)) {
            FieldPath field = setting.read(fields::alone);
            return field == null ? null : new Part(field);
        }
        if (setting.node().find("origin") != null) {
            FieldPath origin = origin(setting);
            return origin == null ? null : new Part(origin);
        }
        Section section = Section.of(setting, Section.Kind.PART);
        if (section == null || section.require("field", "write " + PART) == null) {
            return null;
        }
        FieldPath field = section.read("field", fields::alone);
        PartType type = section.read("type", ValuesReader::type);
        String missing = section.read("missing", Expression::whole);
        Integer element = section.read("element", text -> Numbers.integer(text, 0, Limits.KEY_FIELDS_MAX - 1));
        if (element != null && fields.format() != null && !(fields.format() instanceof Format.Json)) {
            section.refuse("element", "is for json only", "leave it out");
        }
        return field == null ? null : new Part(field, type, missing, element == null ? Part.WHOLE : element);
    }

    /// The origin of a row, as a field.
    private @Nullable FieldPath origin(Setting setting) {
        Section section = Section.of(setting, Section.Kind.ORIGIN);
        if (section == null) {
            return null;
        }
        if (fields.format() != null && !(fields.format() instanceof Format.Debezium)) {
            section.refuse("origin", "is for debezium only", "write a field");
            return null;
        }
        return section.read("origin", expression -> {
            List<Origin> origins = List.of(Origin.values());
            String word = expression.oneOf(origins.stream().map(Origin::word).toList(), "is not an origin");
            expression.end("write the word alone");
            return origins.stream()
                    .filter(origin -> origin.word().equals(word))
                    .findFirst()
                    .orElseThrow()
                    .field();
        });
    }

    /// The parts of a version of several fields; wrong ones are noted and left out.
    List<VersionPart> versionParts(Setting setting) {
        int size = setting.items().size();
        if (size < 2 || size > VersionPart.COUNT_MAX) {
            setting.refuse(
                    "",
                    "has " + size + (size == 1 ? " field" : " fields"),
                    "write 2 to " + VersionPart.COUNT_MAX + " fields, or one without brackets");
            return List.of();
        }
        Map<FieldPath, VersionPart> parts = new LinkedHashMap<>();
        for (Setting item : setting.items()) {
            VersionPart part = versionPart(item, VersionPart.digits(size));
            if (part != null && parts.putIfAbsent(part.field(), part) != null) {
                item.refuse(part.field().toString(), "is there twice", "name it once");
            }
        }
        return List.copyOf(parts.values());
    }

    private @Nullable VersionPart versionPart(Setting setting, int digits) {
        if (!(setting.node() instanceof Node.Mapping)) {
            FieldPath field = setting.read(fields::alone);
            return field == null ? null : new VersionPart(field, null, null);
        }
        Section section = Section.of(setting, Section.Kind.VERSION_PART);
        if (section == null || section.require("field", "write the field, or {field: F, missing: highest}") == null) {
            return null;
        }
        FieldPath field = section.read("field", fields::alone);
        Optional<TimeType> time = section.read("type", PipelineReader::versionType);
        if (time != null && time.isPresent() && digits < VersionPart.digitsOf(time.get())) {
            section.refuse(
                    "type",
                    "has " + VersionPart.digitsOf(time.get()) + " digits, and of so many parts each has at most "
                            + digits,
                    "write fewer parts, or an integer in its place");
        }
        String missing = section.read("missing", expression -> {
            String text = expression.whole();
            boolean isNumber = text.length() <= digits && text.matches("0|[1-9][0-9]*");
            if (!isNumber && !text.equals(VersionPart.HIGHEST)) {
                throw expression.refuseFrom(
                        0,
                        "cannot stand for a part of the version",
                        "write highest, or an integer from 0, of at most " + digits + " digits");
            }
            return text;
        });
        return field == null ? null : new VersionPart(field, time == null ? null : time.orElse(null), missing);
    }

    private static PartType type(Expression expression) {
        List<String> words = Stream.of(PartType.values()).map(PartType::word).toList();
        String word = expression.oneOf(words, "is not a type of a key");
        expression.end("write the type alone");
        return Stream.of(PartType.values())
                .filter(type -> type.word().equals(word))
                .findFirst()
                .orElseThrow();
    }

    /// The spellings of an input; wrong ones are noted and left out.
    static Spellings spellings(Section input) {
        List<String> truths = texts(input, "truths");
        List<String> falsehoods = texts(input, "falsehoods");
        truths.stream()
                .filter(falsehoods::contains)
                .forEach(text -> input.refuse(
                        "falsehoods", "names '" + text + "', which truths names, too", "name it in one of them"));
        Boolean normalized = input.read("normalize", expression -> {
            expression.oneOf(List.of(NFC), "is not a form of Unicode that is brought about here");
            return true;
        });
        ZoneId zone = input.read("zone", ValuesReader::zone);
        LocalFold fold = input.read("fold", ValuesReader::fold);
        if (input.has("fold") && !input.has("zone")) {
            input.refuse("fold", "needs the zone of times", "write zone, such as Europe/Berlin, or leave fold out");
        }
        return new Spellings(truths, falsehoods, normalized != null, zone, fold);
    }

    private static List<String> texts(Section input, String name) {
        Setting setting = input.get(name);
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            setting.refuseKind("a list of texts, such as [\"t\", \"1\"]");
            return List.of();
        }
        return setting.distinct(
                expression -> {
                    String text = expression.whole();
                    if (text.equals("true") || text.equals("false")) {
                        throw expression.refuseFrom(
                                0, "needs no entry", "the words true and false always mean themselves: leave it out");
                    }
                    return text;
                },
                "name each text once");
    }

    private static ZoneId zone(Expression expression) {
        return zone(expression, expression.whole(), 0);
    }

    /// The zone of a name that was taken.
    ///
    /// @param start of the name
    static ZoneId zone(Expression expression, String name, int start) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            throw expression.refuseFrom(
                    start,
                    "is not a zone of this Java",
                    "write a name of the tz database, such as Europe/Berlin, or UTC, or an offset, such as +02:00");
        }
    }

    private static LocalFold fold(Expression expression) {
        List<String> words = Stream.of(LocalFold.values()).map(LocalFold::word).toList();
        String word = expression.oneOf(words, "is not one of the two times");
        expression.end("write the word alone");
        return LocalFold.valueOf(word.toUpperCase(Locale.ROOT));
    }
}
