package dev.onefold.core.seal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.LaneCut.Chunk;
import dev.onefold.core.seal.LaneCut.Cut;
import dev.onefold.core.seal.LaneCut.Lane;
import dev.onefold.core.seal.LaneCut.Part;
import dev.onefold.core.seal.LaneCut.Position;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LaneCutTest {
    private static final long WAIT_MS = 5_000;

    private static Batching batching(int size, long bytes) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":" + size + ",\"bytes\":"
                + bytes + ",\"wait\":\"5s\",\"deliver\":{\"file\":\"x-{number}\"}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> (Batching) pipeline.fold();
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    /// One record of a lane.
    private record Waiting(int lane, Position position, int size, long atMs) {}

    private static List<Lane> lanes(RandomGenerator random) {
        List<Lane> lanes = new ArrayList<>();
        for (int number = 0; number < 1 + random.nextInt(5); number++) {
            List<Chunk> chunks = new ArrayList<>();
            for (int chunk = random.nextInt(4); chunk > 0; chunk--) {
                int[] sizes = IntStream.range(0, 1 + random.nextInt(5))
                        .map(_ -> random.nextInt(600))
                        .toArray();
                chunks.add(new Chunk(random.nextInt(10_000), sizes));
            }
            int offset = chunks.isEmpty() ? 0 : random.nextInt(chunks.getFirst().sizes().length + 1);
            lanes.add(new Lane(number, new Position(random.nextInt(9), offset), chunks));
        }
        return lanes;
    }

    private static List<Waiting> waiting(Lane lane) {
        List<Waiting> waiting = new ArrayList<>();
        for (int i = 0; i < lane.chunks().size(); i++) {
            Chunk chunk = lane.chunks().get(i);
            for (int j = i == 0 ? lane.from().offset() : 0; j < chunk.sizes().length; j++) {
                waiting.add(new Waiting(
                        lane.number(), new Position(lane.from().chunk() + i, j), chunk.sizes()[j], chunk.atMs()));
            }
        }
        return waiting;
    }

    /// The next batch of plain lists, whose records are removed from the lists.
    private static List<Waiting> next(List<List<Waiting>> lanes, Batching batching, long nowMs) {
        lanes.removeIf(List::isEmpty);
        Comparator<List<Waiting>> byAge = Comparator.comparingLong(
                lane -> lane.stream().mapToLong(Waiting::atMs).min().orElseThrow());
        lanes.sort(byAge.thenComparingInt(lane -> lane.getFirst().lane));
        List<Waiting> batch = new ArrayList<>();
        long bytes = 0;
        boolean isFull = false;
        for (List<Waiting> lane : lanes) {
            for (Waiting each : lane) {
                isFull |=
                        batch.size() == batching.size() || !batch.isEmpty() && bytes + each.size + 1 > batching.bytes();
                if (isFull) {
                    break;
                }
                batch.add(each);
                bytes += each.size + 1;
            }
        }
        isFull |= batch.size() == batching.size();
        long oldest = lanes.stream()
                .flatMap(List::stream)
                .mapToLong(Waiting::atMs)
                .min()
                .orElse(Long.MAX_VALUE - WAIT_MS);
        if (!isFull && nowMs < oldest + WAIT_MS) {
            return List.of();
        }
        lanes.forEach(lane -> lane.removeAll(batch));
        return batch;
    }

    private static List<Waiting> members(Cut cut, List<Lane> lanes) {
        List<Waiting> members = new ArrayList<>();
        for (Part part : cut.parts()) {
            List<Waiting> some = waiting(lanes.get(part.lane())).stream()
                    .filter(each -> !isBefore(each.position, part.from()) && isBefore(each.position, part.to()))
                    .toList();
            assertThat(some).hasSize(part.records()).isNotEmpty();
            members.addAll(some);
        }
        return members;
    }

    private static boolean isBefore(Position one, Position other) {
        return one.chunk() < other.chunk() || one.chunk() == other.chunk() && one.offset() < other.offset();
    }

    @Test
    void batches_are_cut_through_the_lanes_as_from_plain_lists() {
        Seeds.forAllSeeds(5_000, random -> {
            Batching batching = batching(1 + random.nextInt(12), 1_000 + random.nextInt(2_000));
            List<Lane> lanes = lanes(random);
            long nowMs = random.nextInt(20_000);
            int most = 1 + random.nextInt(8);
            List<Cut> cuts = LaneCut.of(batching, lanes, nowMs, most);
            List<List<Waiting>> plain = new ArrayList<>();
            lanes.forEach(lane -> plain.add(waiting(lane)));
            for (Cut cut : cuts) {
                List<Waiting> expected = next(plain, batching, nowMs);
                assertThat(members(cut, lanes)).isEqualTo(expected).isNotEmpty().hasSize(cut.records());
                assertThat(cut.bytes())
                        .isEqualTo(expected.stream()
                                .mapToLong(each -> each.size + 1L)
                                .sum());
                assertThat(cut.firstMs())
                        .isEqualTo(
                                expected.stream().mapToLong(Waiting::atMs).min().orElseThrow());
            }
            if (cuts.size() < most) {
                assertThat(next(plain, batching, nowMs)).isEmpty();
            }
        });
    }

    @Test
    void where_records_are_left_out_only_full_batches_are_cut() {
        Chunk chunk = new Chunk(0, new int[] {1, 1, 1, 1, 1});
        List<Lane> lanes = List.of(new Lane(0, Position.START, List.of(chunk)));
        assertThat(LaneCut.of(batching(2, 1_000), lanes, Long.MIN_VALUE, 9)).hasSize(2);
        assertThat(LaneCut.of(batching(2, 1_000), lanes, WAIT_MS, 9)).hasSize(3);
    }
}
