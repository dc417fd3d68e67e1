package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.pipeline.Input.Spellings;
import java.util.List;

/// Reads the spellings of values that an input adds.
final class SpellingsReader {
    private SpellingsReader() {}

    /// The spellings of an input; wrong ones are noted and left out.
    static Spellings read(Section input) {
        List<String> truths = texts(input, "truths", "true");
        List<String> falsehoods = texts(input, "falsehoods", "false");
        truths.stream()
                .filter(falsehoods::contains)
                .forEach(text -> input.refuse(
                        "falsehoods", "names '" + text + "', which truths names, too", "name it in one of them"));
        return new Spellings(truths, falsehoods);
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
