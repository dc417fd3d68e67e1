package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FileSource;
import dev.onefold.embedded.FoldListener;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.disk.SimulatedDisk;
import dev.onefold.simulator.generate.RandomCase;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The same records, conflicts and deletes among them, shuffled, cut, merged, repeated, over other shards and with
/// restarts in between: one answer.
class OneAnswerTest {
    /// One case.
    private static final class Trial {
        private final RandomGenerator random;
        private final RandomCase dealt;
        private final Pipeline pipeline;

        Trial(RandomGenerator random) {
            this.random = random;
            dealt = RandomCase.of(random);
            pipeline = PipelineYaml.read(dealt.pipeline());
        }

        private EmbeddedEngine open(SimulatedDisk disk, int shards) {
            return EmbeddedEngine.open(Trades.directory(disk), pipeline, Trades.settings(shards));
        }

        private List<byte[]> records() {
            return dealt.lines()
                    .subList(dealt.hasHeader() ? 1 : 0, dealt.lines().size());
        }

        private byte[] lines(List<byte[]> records, boolean headed) {
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            if (dealt.hasHeader() && headed) {
                lines.writeBytes(dealt.lines().getFirst());
                lines.write('\n');
            }
            for (byte[] record : records) {
                lines.writeBytes(record);
                lines.write('\n');
            }
            return lines.toByteArray();
        }

        private List<List<Answer.Line>> answers(EmbeddedEngine engine) {
            return pipeline.rollups().stream()
                    .map(Rollup::name)
                    .map(name -> engine.query(Query.all(name)).lines())
                    .toList();
        }

        private void check() {
            if (dealt.dependsOnOrder()) {
                return;
            }
            List<List<Answer.Line>> merged;
            try (EmbeddedEngine engine = open(SimulatedDisk.empty(), 1)) {
                byte[] file = lines(records(), true);
                engine.fold(new FileSource("all", () -> new ByteArrayInputStream(file), false), FoldListener.silent());
                merged = answers(engine);
            }
            List<byte[]> mixed = new ArrayList<>(records());
            if (!(pipeline.identity() instanceof Identity.ByPlace)) {
                mixed.addAll(records().subList(0, random.nextInt(records().size())));
            }
            Collections.shuffle(mixed, Random.from(random));
            SimulatedDisk disk = SimulatedDisk.empty();
            int done = 0;
            for (int source = 0; done < mixed.size(); source++) {
                try (EmbeddedEngine engine = open(disk, random.nextInt(1, 8))) {
                    int to = Math.min(mixed.size(), done + random.nextInt(1, 30));
                    byte[] cut = lines(mixed.subList(done, to), true);
                    engine.append("source-" + source, 1, cut, cut.length);
                    done = to;
                }
                disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
            }
            try (EmbeddedEngine engine = open(disk, random.nextInt(1, 8))) {
                assertThat(answers(engine)).describedAs("%s", dealt).isEqualTo(merged);
            }
        }
    }

    @Test
    void shuffled_cut_merged_repeated_resharded_and_restarted_the_answer_is_one() {
        Seeds.forAllSeeds(60, random -> new Trial(random).check());
    }

    @Test
    @Tag("campaign")
    void in_any_order_and_any_parts_the_answer_is_one() {
        Seeds.forAllSeeds(3_000, random -> new Trial(random).check());
    }
}
