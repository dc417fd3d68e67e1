package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The kinds of fold: roll-ups, a function per key, batches.
class FoldKindsTest {
    private static final Pattern ASKING =
            Pattern.compile("instanceof (Rollups|Processing|Batching|TotalsFold|KeyedFold|MemberFold)\\b");

    /// `ShardFold.of` makes the object that knows its kind. The other classes ask before there is such an
    /// object: they read a definition that is given.
    @Test
    void the_engine_on_one_machine_asks_for_the_kind_of_a_fold_only_where_a_definition_is_given() {
        assertThat(SourceTree.read())
                .filteredOn(file -> file.isMain()
                        && file.path().startsWith("embedded/")
                        && ASKING.matcher(file.text()).find())
                .extracting(Source::fileName)
                .containsExactlyInAnyOrder("FunctionVersions.java", "Opener.java", "QueueBatch.java");
    }
}
