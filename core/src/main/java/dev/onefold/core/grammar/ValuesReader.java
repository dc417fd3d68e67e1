package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity.Part;
import dev.onefold.core.pipeline.Identity.PartType;
import dev.onefold.core.pipeline.Input.Spellings;
import dev.onefold.core.pipeline.Limits;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Sequence)) {
            return Stream.ofNullable(part(setting)).toList();
        }
        int size = setting.items().size();
        if (size == 0 || size > Limits.KEY_FIELDS_MAX) {
            setting.refuse(
                    "",
                    size == 0 ? "is empty" : "has " + size + " fields",
                    "write 1 to " + Limits.KEY_FIELDS_MAX + " fields");
        }
        Map<FieldPath, Part> parts = new LinkedHashMap<>();
        for (Setting item : setting.items()) {
            Part part = part(item);
            if (part != null && parts.putIfAbsent(part.field(), part) != null) {
                item.refuse(part.field().toString(), "is there twice", "name it once");
            }
        }
        return List.copyOf(parts.values());
    }

    private @Nullable Part part(Setting setting) {
        if (!(setting.node() instanceof Node.Mapping)) {
            FieldPath field = setting.read(fields::alone);
            return field == null ? null : new Part(field);
        }
        Section section = Section.of(setting, Section.Kind.PART);
        if (section == null || section.require("field", "write " + PART) == null) {
            return null;
        }
        FieldPath field = section.read("field", fields::alone);
        PartType type = section.read("type", ValuesReader::type);
        String missing = section.read("missing", Expression::whole);
        return field == null ? null : new Part(field, type, missing);
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
        List<String> truths = texts(input, "truths", "true");
        List<String> falsehoods = texts(input, "falsehoods", "false");
        truths.stream()
                .filter(falsehoods::contains)
                .forEach(text -> input.refuse(
                        "falsehoods", "names '" + text + "', which truths names, too", "name it in one of them"));
        Boolean normalized = input.read("normalize", expression -> {
            expression.oneOf(List.of(NFC), "is not a form of Unicode that is brought about here");
            return true;
        });
        return new Spellings(truths, falsehoods, normalized != null);
    }

    private static List<String> texts(Section input, String name, String word) {
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
}
