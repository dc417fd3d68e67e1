package dev.onefold.core.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Read;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.state.Derivation;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ZonesTest {
    private static final ZoneOffset WINTER = ZoneOffset.ofHours(1);
    private static final ZoneOffset SUMMER = ZoneOffset.ofHours(2);
    private static final String OTHER = "0123456789abcdef";

    private static ZoneOffsetTransition to(ZoneOffset offset, String time) {
        return ZoneOffsetTransition.of(LocalDateTime.parse(time), offset.equals(SUMMER) ? WINTER : SUMMER, offset);
    }

    private static ZoneRules rules(ZoneOffset first, ZoneOffsetTransition... transitions) {
        return ZoneRules.of(first, first, List.of(), List.of(transitions), List.of());
    }

    private static ZoneRules summer(String from, String until) {
        return rules(WINTER, to(SUMMER, from), to(WINTER, until));
    }

    /// The rules of a zone, copied.
    private static ZoneRules copy(ZoneRules rules) {
        return ZoneRules.of(
                rules.getTransitions().getFirst().getOffsetBefore(),
                rules.getTransitions().getFirst().getOffsetBefore(),
                List.of(),
                rules.getTransitions(),
                rules.getTransitionRules());
    }

    @Test
    void equal_rules_have_one_hash_and_a_changed_transition_has_another() {
        ZoneRules madrid = ZoneId.of("Europe/Madrid").getRules();
        assertThat(Zones.hash(madrid)).matches("[0-9a-f]{16}").isEqualTo(Zones.hash(copy(madrid)));
        assertThat(Zones.hash(ZoneId.of("Europe/Berlin").getRules())).isNotEqualTo(Zones.hash(madrid));
        assertThat(Stream.of(
                                summer("2024-03-31T02:00", "2024-10-27T03:00"),
                                summer("2024-03-24T02:00", "2024-10-27T03:00"),
                                summer("2024-03-31T02:00", "2199-12-31T03:00"),
                                summer("1900-01-02T02:00", "2024-10-27T03:00"),
                                rules(WINTER, to(SUMMER, "2024-03-31T02:00")),
                                rules(WINTER),
                                rules(SUMMER))
                        .map(Zones::hash))
                .doesNotHaveDuplicates();
    }

    @Test
    void a_transition_before_1900_or_after_2199_changes_no_hash() {
        assertThat(Zones.hash(rules(SUMMER, to(WINTER, "1899-06-01T00:00")))).isEqualTo(Zones.hash(rules(WINTER)));
        assertThat(Zones.hash(rules(WINTER, to(SUMMER, "2200-03-30T02:00")))).isEqualTo(Zones.hash(rules(WINTER)));
    }

    private static Pipeline pipeline(String zone, String level) {
        return Read.pipeline("""
                        {"pipeline": "p",
                         "input": {"key": "k", "version": "v", "time": "at", "zone": "%s"},
                         "rollup": {"levels": ["bucket(at, 1d, %s)"], "measures": {"n": "count()"}}}""".formatted(zone, level)).inEdition(Edition.NEWEST);
    }

    private static SortedMap<String, String> other(String zone) {
        return new TreeMap<>(Map.of(zone, OTHER));
    }

    @Test
    void a_pipeline_has_the_hashes_of_all_its_zones_but_of_no_offset() {
        assertThat(pipeline("Europe/Madrid", "Asia/Tokyo").zones())
                .isEqualTo(new TreeMap<>(Map.of(
                        "Europe/Madrid",
                        Zones.hash(ZoneId.of("Europe/Madrid").getRules()),
                        "Asia/Tokyo",
                        Zones.hash(ZoneId.of("Asia/Tokyo").getRules()))));
        assertThat(pipeline("+01:00", "UTC").zones()).isEmpty();
        assertThat(pipeline("UTC+2", "GMT").zones()).isEmpty();
        assertThat(pipeline("UTC", "Etc/GMT+5").zones()).containsOnlyKeys("Etc/GMT+5"); // A name may get other rules.
    }

    @Test
    void the_stored_text_keeps_the_hashes_and_a_text_without_them_has_those_of_this_java() {
        Pipeline now = pipeline("Europe/Madrid", "Asia/Tokyo");
        Pipeline before = now.withZones(other("Asia/Tokyo"));
        String text = PipelineText.stored(before);
        assertThat(text)
                .endsWith(",\"zones\":{\"Asia/Tokyo\":\"" + OTHER + "\",\"Europe/Madrid\":\""
                        + now.zones().get("Europe/Madrid") + "\"}}");
        assertThat(PipelineText.readStored(text)).isEqualTo(new Reading.Read(before));
        assertThat(PipelineText.readStored(PipelineText.stored(now))).isEqualTo(new Reading.Read(now));
        String without = text.replaceFirst(",\"zones\".*", "}");
        assertThat(PipelineText.readStored(without)).isEqualTo(new Reading.Read(now));
        assertThat(PipelineText.write(before))
                .isEqualTo(PipelineText.write(now))
                .doesNotContain(OTHER);
        assertThat(Read.problems(text)).singleElement().asString().contains("'zones' is not a setting of the file");
    }

    @Test
    void other_rules_are_a_change_of_the_definition_that_rows_are_not_enough_for() {
        Pipeline now = pipeline("Europe/Madrid", "Asia/Tokyo");
        Pipeline before = now.withZones(other("Asia/Tokyo"));
        assertThat(now.otherRules()).isEmpty();
        assertThat(before.otherRules())
                .hasValueSatisfying(reason -> assertThat(reason).contains("other rules for zone Asia/Tokyo"));
        assertThat(before.inThisJava()).isEqualTo(now).isNotEqualTo(before);
        assertThat(before.with(before.fold()).unpublished()).isEqualTo(before);
        assertThat(Derivation.storesSame(before, now)).isFalse();
        assertThat(Derivation.storesSame(now, now.inThisJava())).isTrue();
        assertThat(Derivation.of(before, now))
                .isEqualTo(new Derivation.Impossible(before.otherRules().orElseThrow()));
        assertThat(Derivation.of(now, now)).isInstanceOf(Derivation.Possible.class);
    }
}
