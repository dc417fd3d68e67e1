package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The kinds of fold: roll-ups, a function per key, batches. The engine on one machine asks for the kind in
/// `ShardFold`, by switches over the sealed type, and the object that this makes knows the rest.
class FoldKindsTest {
    private static final String KINDS = "(Rollups|Processing|Batching|TotalsFold|KeyedFold|MemberFold)\\b";
    private static final Pattern TYPE_ASKED = Pattern.compile("instanceof " + KINDS + "|\\(" + KINDS + "\\) \\w");
    private static final Pattern FLAG_ASKED = Pattern.compile(
            "\\b(is|has|makes|mayHave)"
                    + "(Batch(es|ing)?|Function|Keyed|Members?|Process(ing)?|Rollups?|Totals)\\b|members\\(\\)\\.is(Present|Empty)");
    private static final Pattern SWITCHED = Pattern.compile("case " + KINDS);

    private static List<String> files(Pattern asking) {
        return SourceTree.read().stream()
                .filter(file -> file.isMain()
                        && file.module().matches("api|embedded|server")
                        && asking.matcher(file.text()).find())
                .map(Source::fileName)
                .toList();
    }

    @Test
    void nobody_asks_for_the_kind_by_an_instanceof_or_a_cast() {
        assertThat(files(TYPE_ASKED)).isEmpty();
    }

    @Test
    void nobody_asks_for_the_kind_by_a_flag() {
        assertThat(files(FLAG_ASKED)).isEmpty();
    }

    /// Of the classes that it makes, each compares its own kind with that of the next definition.
    @Test
    void the_factory_alone_switches_over_the_kinds() {
        assertThat(files(SWITCHED))
                .containsExactlyInAnyOrder("ShardFold.java", "TotalsFold.java", "KeyedFold.java", "MemberFold.java");
    }
}
