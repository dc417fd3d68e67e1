package dev.onefold.embedded.framing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.embedded.framing.Source.Kind;
import org.junit.jupiter.api.Test;

class SourcesTest {
    private final Sources sources = new Sources();

    @Test
    void positions_are_stored_by_kind_and_loaded_again() {
        Source file = sources.open("file", Kind.FILE);
        file.setHeader(new byte[] {'n'});
        file.advance(3, 40, Sha256.digest(), true);
        sources.open("lines", Kind.LINES).advance(2, 20, null, false);
        sources.open("log/1", Kind.PARTITION).advance(5, 9, null, false);
        Sources loaded = new Sources();
        loaded.load(sources.store());
        assertThat(loaded.store()).usingRecursiveComparison().isEqualTo(sources.store());
        assertThat(loaded.progress()).isEqualTo(sources.progress());
        assertThat(loaded.progress()).extracting(progress -> progress.records()).containsExactly(2L, 2L, 5L);
        assertThat(loaded.progress()).extracting(progress -> progress.bytes()).containsExactly(40L, 20L, 0L);
        assertThat(loaded.name(2)).isEqualTo("log/1");
    }

    @Test
    void a_name_is_of_one_kind() {
        sources.open("file", Kind.FILE);
        assertThatThrownBy(() -> sources.open("file", Kind.LINES))
                .isInstanceOf(EngineException.class)
                .hasMessage("Source file is a file; a stream of lines needs a source name of its own (--source)");
    }

    @Test
    void a_source_that_was_refused_at_its_first_line_is_not_covered() {
        sources.open("refused", Kind.FILE);
        sources.open("log/0", Kind.PARTITION).advance(0, 3, null, false);
        assertThat(sources.covered()).extracting(progress -> progress.source()).containsExactly("log/0");
    }

    @Test
    void what_is_in_the_journal_may_be_ahead_of_what_is_folded() {
        Source source = sources.open("lines", Kind.LINES);
        source.append(4, 50, true);
        assertThat(source.recordsAppended()).isEqualTo(4);
        assertThat(source.records()).isZero();
        assertThat(source.awaitsHeader()).isFalse();
        source.advance(4, 50, null, false);
        assertThat(source.bytesAppended()).isEqualTo(50);
    }
}
