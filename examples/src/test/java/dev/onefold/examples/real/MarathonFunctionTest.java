package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.NewVersion;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FunctionJar;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.examples.Clone;
import dev.onefold.examples.FunctionJars;
import dev.onefold.fixtures.SharedData;
import dev.onefold.test.FunctionCheck;
import dev.onefold.yaml.PipelineFile;
import dev.onefold.yaml.PipelineFunction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The marathon by a function per runner, with each order: its totals are those of the roll-up pipeline beside it, and
/// on the real race those of the oracle.
class MarathonFunctionTest {
    private static final Path FILE = Clone.root().resolve("examples/marathon/process.yaml");
    private static final int DUPLICATE_EVERY = 5;

    @TempDir
    private Path data;

    @BeforeAll
    static void build() {
        FunctionJars.build("marathon");
    }

    private static PipelineFunction function(Order order) {
        Pipeline pipeline = PipelineFile.pipeline(FILE);
        if (!(pipeline.fold() instanceof Processing said)) {
            throw new IllegalStateException("The pipeline has no function");
        }
        Processing processing = new Processing(
                said.program(),
                said.version(),
                order == Order.IN_ORDER ? NewVersion.REFOLD : NewVersion.CONTINUE,
                order,
                said.keep(),
                said.tables(),
                said.feeds(),
                null);
        return PipelineFunction.load(FILE, new Pipeline(pipeline.name(), pipeline.input(), processing));
    }

    private Folded begin(Order order) {
        PipelineFunction function = function(order);
        FunctionJar jar = new FunctionJar(function.function(), function.jar().orElseThrow());
        return new Folded(EmbeddedEngine.open(data.resolve(order.word()), jar, Settings.defaults()));
    }

    @ParameterizedTest
    @EnumSource(Order.class)
    void on_the_sample_its_totals_are_those_of_the_roll_up_pipeline_in_any_order_of_arrival(Order order) {
        List<String> sample = Clone.text(Clone.sample("marathon")).lines().toList();
        try (Folded totals = Folded.begin("marathon", data.resolve("totals")).fold(RealInput.source("mats", sample));
                Folded function = begin(order).fold(RealInput.source("mats", sample))) {
            assertThat(function.everything()).isEqualTo(totals.everything());
            function.requireVerified();
        }
        FunctionCheck.of(function(order).function()).events(sample).runs(10).check();
    }

    @Tag("campaign")
    @ParameterizedTest
    @EnumSource(Order.class)
    void on_the_real_race_its_totals_are_those_of_the_oracle_in_the_order_of_the_file(Order order) {
        try (Folded folded = begin(order).fold(RealInput.source(MarathonTest.EVENTS))) {
            MarathonTest.requireFinish(folded);
            folded.requireVerified();
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @EnumSource(Order.class)
    void on_the_real_race_shuffled_and_duplicated_its_totals_are_those_of_the_oracle(Order order) {
        List<String> lines = new ArrayList<>(SharedData.lines(MarathonTest.EVENTS));
        int distinct = lines.size();
        for (int i = 0; i < distinct; i += DUPLICATE_EVERY) {
            lines.add(lines.get(i));
        }
        Collections.shuffle(lines, new Random(1));
        FileSource shuffled = RealInput.source("shuffled", lines);
        try (Folded folded = begin(order).fold(shuffled)) {
            MarathonTest.requireFinish(folded);
            Counts counts = folded.counts();
            assertThat(counts.rejected() + counts.conflicting()).isZero();
            if (order != Order.LATEST) {
                assertThat(counts.accepted()).isEqualTo(distinct);
            }
            folded.requireVerified();
        }
    }
}
