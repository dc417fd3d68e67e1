package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Hazard 16: a changed roll-up between an addition and its retraction.
class ChangedDefinitionTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(3);
    private static final List<String> TRADES = List.of(
            trade("a", 1, "Rates", "EMEA", "100.00"),
            trade("b", 1, "Rates", "APAC", "20.50"),
            trade("c", 1, "FX", "EMEA", "3.25"),
            trade("b", 2, "FX", "APAC", "21.50"),
            "{\"id\":\"c\",\"v\":2,\"deleted\":true}",
            "not a record");

    @TempDir
    Path directory;

    private static String trade(String id, int version, String desk, String region, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"region\":\"%s\",\"value\":%s}"
                .formatted(id, version, desk, region, value);
    }

    private static Pipeline byDeskAndRegion() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("deleted = true")
                .rollup(r ->
                        r.levels("desk", "region").sum("value", "value", 18, 2).count("trades"))
                .build();
    }

    private static Pipeline byRegion() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("deleted = true")
                .rollup(r -> r.levels("region").sum("value", "value", 18, 2).average("mean", "value", 18, 2))
                .build();
    }

    private static Pipeline withMaximum() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("deleted = true")
                .rollup(r -> r.levels("region").max("greatest", "value", 20, 3).distinct("desks", "desk"))
                .build();
    }

    private static Map<List<String>, String> totals(EmbeddedEngine engine) {
        return engine.query(Query.all("main")).lines().stream()
                .collect(java.util.stream.Collectors.toMap(
                        Answer.Line::group, line -> String.valueOf(line.values().getFirst())));
    }

    @Test
    void a_new_view_is_filled_from_the_rows_while_the_old_one_serves_and_retractions_use_it() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byDeskAndRegion(), SETTINGS)) {
            engine.append("orders", TRADES);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            assertThat(totals(engine)).containsEntry(List.of("FX", "APAC"), "21.50");
            assertThatThrownBy(() -> engine.append("orders", TRADES))
                    .hasMessageContaining("lost for ever: level desk.")
                    .hasMessageContaining("--accept-loss");
            assertThat(totals(engine)).containsEntry(List.of("FX", "APAC"), "21.50");
            assertThat(engine.change(byRegion(), _ -> null))
                    .isEqualTo(new DefinitionChange.FromRows(List.of("level desk"), ""));
            engine.fillView(_ -> null, true);
            assertThat(totals(engine))
                    .isEqualTo(Map.of(List.of(), "121.50", List.of("EMEA"), "100.00", List.of("APAC"), "21.50"));
            engine.append("orders", List.of(trade("a", 2, "FX", "APAC", "1.00")));
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "22.50", List.of("APAC"), "22.50"));
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.deadLetters().size()).isEqualTo(1);
            assertThat(engine.counts().accepted()).isEqualTo(6);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, SETTINGS)) {
            assertThat(engine.pipeline()).isEqualTo(byRegion().inEdition(Edition.NEWEST));
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "22.50", List.of("APAC"), "22.50"));
        }
    }

    @Test
    void a_record_that_only_the_new_definition_accepts_is_in_the_new_view_and_no_dead_letter_any_more() {
        List<String> records = List.of(
                "{\"id\":1,\"v\":1,\"g\":\"A\",\"x\":10,\"y\":1}",
                "{\"id\":2,\"v\":1,\"g\":\"A\",\"x\":20}",
                "{\"id\":1,\"v\":2,\"g\":\"A\",\"x\":15}",
                "{\"id\":3,\"v\":1,\"g\":\"A\"}");
        Function<PipelineBuilder, Pipeline> build =
                b -> b.key("id").version("v").build();
        Pipeline strict = build.apply(PipelineBuilder.named("a")
                .rollup(r -> r.levels("g").sum("x", "x", 10, 2).max("y", "y", 10, 2)));
        Pipeline relaxed =
                build.apply(PipelineBuilder.named("a").rollup(r -> r.levels("g").sum("x", "x", 10, 2)));
        byte[] content = (String.join("\n", records) + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("in", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, strict, SETTINGS)) {
            engine.fold(file, FoldListener.silent());
            assertThat(totals(engine)).containsEntry(List.of(), "10.00");
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, relaxed, SETTINGS)) {
            engine.fillView(_ -> null, true);
            assertThat(totals(engine)).containsEntry(List.of(), "35.00");
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.message()).contains("Field x is missing"));
            assertThat(engine.counts()).isEqualTo(new Counts(3, 0, 0, 0, 1));
        }
    }

    /// A definition that refuses records without `y`, or one that takes them.
    private static Pipeline ofX(PipelineBuilder builder, boolean strict) {
        return strict
                ? builder.rollup(r -> r.levels("g").sum("x", "x", 10, 2).max("y", "y", 10, 2))
                        .build()
                : builder.rollup(r -> r.levels("g").sum("x", "x", 10, 2)).build();
    }

    private static final List<String> WITHOUT_Y = List.of(
            "{\"id\":1,\"v\":1,\"g\":\"A\",\"x\":1,\"y\":1}",
            "{\"id\":2,\"v\":1,\"g\":\"A\",\"x\":10}",
            "{\"id\":3,\"v\":1,\"g\":\"A\",\"x\":100}",
            "{\"id\":4,\"v\":1,\"g\":\"A\",\"x\":1000}",
            "{\"id\":1,\"v\":1,\"g\":\"A\",\"x\":0,\"y\":1}");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /// One letter is redriven edited, one purged, one edited in vain; the loser of a conflict is purged.
    private static void settle(EmbeddedEngine engine) {
        long first = engine.deadLetters().list(0, 1).getFirst().id();
        engine.deadLetters()
                .redrive(
                        first,
                        bytes("{\"id\":7,\"v\":1,\"g\":\"A\",\"x\":20,\"y\":2}"),
                        dev.onefold.core.DeadLetters.Keys.ANY);
        engine.deadLetters().redrive(first + 2, bytes("{\"id\":4,\"v\":1,\"g\":\"A\",\"x\":9000}"));
        assertThat(engine.deadLetters().purge(List.of(first + 1))).isEqualTo(1);
    }

    @Test
    void what_was_redriven_edited_or_purged_stays_so_under_a_relaxed_definition_from_rows_and_from_sources() {
        byte[] content = bytes(String.join("\n", WITHOUT_Y) + "\n");
        FileSource file = new FileSource("in", () -> new ByteArrayInputStream(content), false);
        Function<Boolean, Pipeline> definition =
                strict -> ofX(PipelineBuilder.named("a").key("id").version("v"), strict);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, definition.apply(true), SETTINGS)) {
            engine.fold(file, FoldListener.silent());
            settle(engine);
            assertThat(engine.deadLetters().purge(List.of(4L))).isEqualTo(1); // The loser of a conflict.
            Counts before = engine.counts();
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
            assertThat(engine.rebuild(_ -> file).isEqual()).isTrue();
            assertThat(engine.counts()).isEqualTo(before);
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(engine.deadLetters().record(letter.id())).asString().isEqualTo(WITHOUT_Y.get(3));
                assertThat(engine.deadLetters().edited(letter.id())).isPresent();
            });
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, definition.apply(false), SETTINGS)) {
            engine.fillView(_ -> null, true);
            assertThat(totals(engine)).containsEntry(List.of(), "1021.00");
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
            Counts before = engine.counts();
            assertThat(engine.rebuild(_ -> file).isEqual()).isTrue();
            assertThat(engine.counts()).isEqualTo(before);
        }
    }

    @Test
    void a_redriven_record_counts_once_where_records_count_by_their_place_also_when_its_first_form_is_accepted_now() {
        byte[] content = bytes(String.join("\n", WITHOUT_Y.subList(0, 4)) + "\n");
        FileSource file = new FileSource("in", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, ofX(PipelineBuilder.named("a"), true), SETTINGS)) {
            engine.fold(file, FoldListener.silent());
            settle(engine);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, ofX(PipelineBuilder.named("a"), false), SETTINGS)) {
            engine.fillView(_ -> file, false);
            assertThat(totals(engine)).containsEntry(List.of(), "1021.00");
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
        }
    }

    @Test
    void who_loses_a_conflict_under_the_new_definition_is_decided_again_also_of_a_row_that_lost() {
        Pipeline both = PipelineBuilder.named("a")
                .key("id")
                .version("v")
                .rollup(r -> r.sum("y", "y", 10, 2).sum("x", "x", 10, 2))
                .build();
        Pipeline onlyX = PipelineBuilder.named("a")
                .key("id")
                .version("v")
                .rollup(r -> r.sum("x", "x", 10, 2))
                .build();
        List<String> records = List.of(
                "{\"id\":1,\"v\":1,\"x\":9,\"y\":1}",
                "{\"id\":1,\"v\":1,\"x\":3,\"y\":2}",
                "{\"id\":2,\"v\":1,\"x\":20,\"y\":2}",
                "{\"id\":2,\"v\":1,\"x\":70,\"y\":1}",
                "{\"id\":3,\"v\":1,\"x\":100,\"y\":1}",
                "{\"id\":3,\"v\":1,\"x\":100,\"y\":2}");
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, both, SETTINGS)) {
            engine.append("s", records);
            assertThat(engine.deadLetters().size()).isEqualTo(3);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, onlyX, SETTINGS)) {
            engine.fillView(_ -> null, true);
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "179.00"));
            assertThat(engine.deadLetters().size()).isEqualTo(2);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private static Pipeline byPlace(Consumer<PipelineBuilder.RollupBuilder> formulas) {
        return PipelineBuilder.named("places")
                .rollup(r -> formulas.accept(r.sum("value", "value", 18, 2).count("n")))
                .build();
    }

    @Test
    void a_formula_comes_changes_and_goes_without_a_new_view() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byPlace(_ -> {}), SETTINGS)) {
            engine.append("s", List.of("{\"value\":1}", "{\"value\":0.5}"));
        }
        Pipeline mean = byPlace(r -> r.formula("mean", "value / n", 9, 3));
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, mean, SETTINGS)) {
            assertThat(engine.wanted()).isEmpty();
            assertThat(engine.change(byPlace(_ -> {}), _ -> null)).isEqualTo(new DefinitionChange.None());
            assertThat(engine.query(Query.all("main")).lines().getFirst().values())
                    .containsExactly(new BigDecimal("1.50"), new BigDecimal("2"), new BigDecimal("0.750"));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.read(directory, SETTINGS)) {
            assertThat(engine.pipeline()).isEqualTo(mean.inEdition(Edition.NEWEST));
        }
        Pipeline other = byPlace(r -> r.formula("mean", "value / (n + sum(value) decimal(18,2))", 9, 0));
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, other, SETTINGS)) {
            engine.append("s", List.of("{\"value\":2}"));
            assertThat(engine.query(Query.all("main")).lines().getFirst().values())
                    .containsExactly(new BigDecimal("3.50"), new BigDecimal("3"), new BigDecimal("1"));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byPlace(_ -> {}), SETTINGS)) {
            assertThat(engine.query(Query.all("main")).lines().getFirst().values())
                    .containsExactly(new BigDecimal("3.50"), new BigDecimal("3"));
        }
    }

    @Test
    void a_change_that_can_be_had_back_from_the_files_needs_no_consent() {
        byte[] content = (String.join("\n", TRADES) + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("trades.ndjson", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byDeskAndRegion(), SETTINGS)) {
            engine.fold(file, FoldListener.silent());
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            assertThat(engine.change(byRegion(), _ -> file)).isEqualTo(new DefinitionChange.FromRows(List.of(), ""));
            engine.fillView(_ -> file, false);
            assertThat(engine.change(byRegion(), _ -> file)).isEqualTo(new DefinitionChange.None());
            assertThat(engine.change(byDeskAndRegion(), _ -> file))
                    .isEqualTo(new DefinitionChange.FromSources(
                            "level desk of roll-up main was not read before",
                            List.of("trades.ndjson"),
                            List.of(),
                            false));
            assertThat(engine.change(byDeskAndRegion(), _ -> null))
                    .isEqualTo(new DefinitionChange.Impossible(
                            "level desk of roll-up main was not read before",
                            "source trades.ndjson cannot be read again"));
        }
    }

    @Test
    void the_data_of_one_pipeline_is_not_opened_for_another() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            engine.append("orders", TRADES);
        }
        Pipeline other = PipelineBuilder.named("risk")
                .key("id")
                .version("v")
                .delete("deleted = true")
                .rollup(r -> r.levels("region").sum("value", "value", 18, 2))
                .build();
        assertThatThrownBy(() -> EmbeddedEngine.open(directory, other, SETTINGS))
                .hasMessageContaining("is of pipeline trades, not of pipeline risk. Nothing was changed.");
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            assertThat(totals(engine)).containsEntry(List.of(), "121.50");
        }
    }

    @Test
    void records_are_read_again_for_a_time_that_was_not_read_before_if_they_can_be() {
        Pipeline timed = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("deleted = true")
                .time("ts")
                .rollup(r -> r.levels("region").sum("value", "value", 18, 2))
                .build();
        byte[] content = (String.join("\n", TRADES) + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("trades.ndjson", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            engine.fold(file, FoldListener.silent());
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, timed, SETTINGS)) {
            assertThat(engine.change(timed, _ -> null))
                    .isEqualTo(new DefinitionChange.FromRows(
                            List.of(), "the time ts was not read before, and a record without it is refused"));
            engine.fillView(_ -> file, false);
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "0.00"));
            assertThat(engine.deadLetters().size()).isEqualTo(5);
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
        }
    }

    private static Pipeline withScale(int scale) {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.sum("value", "value", 18, scale))
                .build();
    }

    @Test
    void what_a_narrower_decimal_refuses_leaves_the_totals_and_is_a_letter_until_a_wider_one_takes_it_back() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withScale(4), SETTINGS)) {
            engine.append(
                    "orders", List.of(trade("a", 2, "FX", "EMEA", "1.2345"), trade("b", 1, "FX", "EMEA", "1.5000")));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withScale(2), SETTINGS)) {
            String doubt = "field value was read as decimal(18,4) before, and a value may not fit decimal(18,2);"
                    + " what an older version of its key said is in no row";
            assertThat(engine.change(withScale(2), _ -> null))
                    .isEqualTo(new DefinitionChange.FromRows(List.of(), doubt));
            engine.fillView(_ -> null, false);
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "1.50"));
            assertThat(engine.get(List.of("a"))).isEmpty();
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.reason()).isEqualTo(Reason.REFUSED);
                assertThat(letter.content()).isEqualTo(DeadLetter.Content.SUMMARY);
                assertThat(letter.place().source()).isEqualTo("orders");
                assertThat(letter.message()).startsWith("Field value is '1.2345', which does not fit decimal(18,2)");
                assertThat(engine.deadLetters().record(letter.id())).asString().contains("\"value\":1.2345");
            });
            assertThat(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 1));
            assertThat(engine.verify().isEqual()).isTrue();
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withScale(2), SETTINGS)) {
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "1.50"));
            engine.append("orders", List.of(trade("a", 1, "FX", "EMEA", "10.00"))); // As a fresh fold would.
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "11.50"));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withScale(3), SETTINGS)) {
            engine.fillView(_ -> null, false);
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "11.500"));
            assertThat(engine.deadLetters().list(0, 9).getFirst().message()).contains("does not fit decimal(18,3)");
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withScale(4), SETTINGS)) {
            engine.fillView(_ -> null, false);
            assertThat(totals(engine)).isEqualTo(Map.of(List.of(), "2.7345"));
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(engine.counts()).isEqualTo(new Counts(3, 0, 0, 0, 0));
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void a_change_that_needs_what_was_not_kept_is_refused_with_the_reason_and_the_old_view_stands() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            engine.append("orders", TRADES);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byDeskAndRegion(), SETTINGS)) {
            assertThatThrownBy(() -> engine.append("orders", TRADES))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("level desk of roll-up main was not read before")
                    .hasMessageContaining("--keep-journal");
            assertThat(totals(engine)).containsEntry(List.of(), "121.50");
        }
    }

    @Test
    void a_view_that_reads_more_is_filled_from_the_journal_if_it_was_kept() {
        Settings keeping = SETTINGS.withKeepJournal(true);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), keeping)) {
            engine.append("orders", TRADES);
            engine.deadLetters()
                    .redrive(1, trade("d", 1, "Rates", "AMER", "7.00").getBytes(StandardCharsets.UTF_8));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, withMaximum(), keeping)) {
            engine.fillView(_ -> null, false);
            assertThat(totals(engine))
                    .containsEntry(List.of("EMEA"), "100.000")
                    .containsEntry(List.of("AMER"), "7.000");
            assertThat(engine.deadLetters().size()).isZero();
            engine.append("orders", List.of("{\"id\":\"a\",\"v\":9,\"deleted\":true}"));
            assertThat(totals(engine)).doesNotContainKey(List.of("EMEA"));
        }
    }

    @Test
    void a_view_that_reads_more_is_filled_from_the_files_if_they_are_what_they_were() {
        byte[] content = (String.join("\n", TRADES) + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("trades.ndjson", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byRegion(), SETTINGS)) {
            engine.fold(file, FoldListener.silent());
        }
        Function<String, FileSource> changed =
                name -> new FileSource(name, () -> new ByteArrayInputStream(content, 1, content.length - 1), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byDeskAndRegion(), SETTINGS)) {
            assertThatThrownBy(() -> engine.fillView(changed, false)).hasMessageContaining("is not what it was");
            engine.fillView(_ -> file, false);
            assertThat(totals(engine)).containsEntry(List.of("FX", "APAC"), "21.50");
            assertThat(engine.fold(file, FoldListener.silent())).isEqualTo(new FoldReport.Folded(0, content.length));
        }
    }

    @Test
    void totals_are_verified_and_rebuilt_from_the_sources_also_where_records_count_by_their_place() {
        Pipeline byPlace = PipelineBuilder.named("trades")
                .rollup(r -> r.levels("region").sum("value", "value", 18, 2))
                .build();
        byte[] content = (String.join("\n", TRADES.subList(0, 4)) + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("trades.ndjson", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, byPlace, SETTINGS.withKeepJournal(true))) {
            engine.fold(file, FoldListener.silent());
            engine.append("more", TRADES.subList(0, 2));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, Settings.defaults())) {
            assertThat(engine.settings().shards()).isEqualTo(3);
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
            assertThat(engine.rebuild(_ -> file).isEqual()).isTrue();
            assertThat(totals(engine)).containsEntry(List.of(), "265.75");
        }
    }
}
