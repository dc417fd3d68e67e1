package dev.onefold.simulator.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.fakes.aws.DeploymentTables;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.embedded.PipelineYaml;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The units that a published table costs for each change that is a cut of its own, which do not depend on how
/// many groups there are. With `-Dgroups=1000000` for as many.
class PublicationPriceTest {
    private static final Pipeline PIPELINE = PipelineYaml.read("""
            pipeline: favourites
            input: {key: id, version: v, delete: gone = true}
            rollup: {levels: [restaurant], measures: {favourites: count()}}
            publish: {table: counts}
            """);
    private static final int LANES = 2;
    private static final int CHANGES = 100;
    private static final double WRITE_UNIT = 0.625e-6;
    private static final double READ_UNIT = 0.125e-6;

    private long records;

    private Arrival record(String user, int group, long version, String gone) {
        byte[] bytes = "{\"id\":\"%s%d\",\"v\":%d,\"restaurant\":\"r%d\"%s}"
                .formatted(user, group, version, group, gone)
                .getBytes(StandardCharsets.UTF_8);
        return new Arrival("s/shard", Long.toString(++records), 0, bytes);
    }

    private record Units(double writes, double reads) {
        private static Units of(Tally tally) {
            return new Units(tally.writeUnits(), tally.readUnits());
        }

        private Units since(Units before, int count) {
            return new Units((writes - before.writes) / count, (reads - before.reads) / count);
        }

        private double dollars() {
            return writes * WRITE_UNIT + reads * READ_UNIT;
        }
    }

    /// Units for each change: of Reduce, and of Publish.
    private List<Units> units(int groups, boolean isPublished) {
        Deployment deployment = Deployment.calm();
        deployment.of(deployment
                .dynamo
                .client("deploy")
                .createTable(DeploymentTables.output("counts", List.of("id"), Set.of())));
        AwsEngine engine = deployment.engine(PIPELINE, LANES, 2);
        Store store = deployment.process(deployment.dynamo.client("function"));
        for (int from = 0; from < groups; from += 1_000) {
            List<Arrival> batch = new ArrayList<>();
            for (int i = from; i < Math.min(groups, from + 1_000); i++) {
                batch.add(record("u", i, 1, ""));
            }
            StateAndMap.process(store, batch);
            engine.reduce();
        }
        Publication publication =
                new Publication(store, (Publishing.Items) Objects.requireNonNull(PIPELINE.publishing()));
        Units before = Units.of(deployment.dynamo.tally());
        if (isPublished) {
            publication.step(Duration.ofMinutes(15), false);
        }
        Units first = Units.of(deployment.dynamo.tally()).since(before, 1);
        Units reduce = new Units(0, 0);
        Units publish = new Units(0, 0);
        for (int i = 0; i < CHANGES; i++) {
            int group = (int) (i / 2 * 7_919L % groups);
            StateAndMap.process(store, List.of(record("w", group, 1 + i / 2, i % 2 == 1 ? ",\"gone\":true" : "")));
            Units start = Units.of(deployment.dynamo.tally());
            engine.reduce();
            Units middle = Units.of(deployment.dynamo.tally());
            if (isPublished) {
                assertThat(publication.step(Duration.ofMinutes(15), false)).isInstanceOf(Outcome.Published.class);
            }
            Units end = Units.of(deployment.dynamo.tally());
            reduce = new Units(reduce.writes + middle.writes - start.writes, reduce.reads + middle.reads - start.reads);
            publish = new Units(publish.writes + end.writes - middle.writes, publish.reads + end.reads - middle.reads);
        }
        return List.of(first, reduce.since(new Units(0, 0), CHANGES), publish.since(new Units(0, 0), CHANGES));
    }

    @Test
    void a_change_costs_the_same_however_many_groups_there_are() {
        int groups = Integer.getInteger("groups", 2_000);
        List<Units> published = units(groups, true);
        List<Units> few = units(200, true);
        Units log = published.get(1).since(units(200, false).get(1), 1);
        Units publish = published.get(2);
        System.out.println(groups + " groups: the first cut " + published.getFirst() + ", a change: Reduce " + log
                + ", Publish " + publish + "; 7,000 a day for a month $"
                + 7_000 * 30.4 * (log.dollars() + publish.dollars()));
        assertThat(publish).isEqualTo(few.get(2));
        assertThat(published.get(1)).isEqualTo(few.get(1));
        assertThat(log.dollars() + publish.dollars()).isLessThan(5.01e-6);
    }
}
