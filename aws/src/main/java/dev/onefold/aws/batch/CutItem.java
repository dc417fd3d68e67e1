package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.seal.LaneCut.Cut;
import dev.onefold.core.seal.LaneCut.Part;
import dev.onefold.core.seal.LaneCut.Position;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How far the lanes are cut into batches.
///
///     item = k 00 "cut", n number of the last batch, b bytes in all batches, p of each lane 20 bytes:
///            chunk and offset of the first record in no batch, and how many records lie before it
///
/// @param number of the last batch that is sealed; 0 if none is
/// @param bytes of all batches
/// @param ends of each lane
record CutItem(long number, long bytes, List<End> ends) {
    private static final int END_BYTES = 2 * Long.BYTES + Integer.BYTES;

    /// There while tables are taken over: where batches ended before. Nobody else moves such a cut.
    static final String SEALED_TO = "o";

    /// Where the batches of a lane end.
    ///
    /// @param members records of the lane that are in batches
    record End(Position position, long members) {}

    CutItem {
        ends = List.copyOf(ends);
    }

    static Map<String, AttributeValue> key() {
        return RowItem.other("cut");
    }

    /// Numbers that no batch has: of batches that were freed, or that are not there since a restore; and those
    /// up to the first one after a restore, which no receiver can have seen.
    ///
    ///     item = k 00 "gaps", p of each gap 16 bytes: its first and its last number
    ///
    /// @param gaps in their order
    record Gaps(List<Gap> gaps) {
        record Gap(long first, long last) {}

        Gaps {
            gaps = List.copyOf(gaps);
        }

        static Gaps load(Store store) {
            Map<String, AttributeValue> item = store.get(store.tables().rows(), RowItem.other("gaps"));
            List<Gap> found = new ArrayList<>();
            if (!item.isEmpty()) {
                ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "p"));
                while (packed.hasRemaining()) {
                    found.add(new Gap(packed.getLong(), packed.getLong()));
                }
            }
            return new Gaps(found);
        }

        Map<String, AttributeValue> item() {
            ByteBuffer packed = ByteBuffer.allocate(gaps.size() * 2 * Long.BYTES);
            gaps.forEach(gap -> packed.putLong(gap.first).putLong(gap.last));
            Map<String, AttributeValue> item = new TreeMap<>(RowItem.other("gaps"));
            item.put("p", Items.bytes(packed.array()));
            return item;
        }

        /// These and others, as few as there can be.
        Gaps with(Gaps others) {
            List<Gap> all = new ArrayList<>();
            Stream.concat(gaps.stream(), others.gaps.stream())
                    .sorted(Comparator.comparingLong(Gap::first))
                    .forEach(gap -> {
                        if (!all.isEmpty() && gap.first <= all.getLast().last + 1) {
                            Gap before = all.removeLast();
                            all.add(new Gap(before.first, Math.max(before.last, gap.last)));
                        } else {
                            all.add(gap);
                        }
                    });
            return new Gaps(all);
        }

        /// The parts of a gap that are in none of these.
        List<Gap> rest(Gap of) {
            List<Gap> rest = new ArrayList<>();
            long from = of.first;
            for (Gap gap : gaps) {
                if (gap.last >= from && gap.first <= of.last) {
                    if (gap.first > from) {
                        rest.add(new Gap(from, gap.first - 1));
                    }
                    from = gap.last + 1;
                }
            }
            if (from <= of.last) {
                rest.add(new Gap(from, of.last));
            }
            return rest;
        }

        boolean contains(long number) {
            return gaps.stream().anyMatch(gap -> gap.first <= number && number <= gap.last);
        }

        /// The number of the batch behind one.
        long after(long number) {
            for (Gap gap : gaps) {
                if (gap.first == number + 1) {
                    return gap.last + 1;
                }
            }
            return number + 1;
        }

        /// How many numbers up to this one are in gaps.
        long count(long sealed) {
            return gaps.stream()
                    .filter(gap -> gap.last <= sealed)
                    .mapToLong(gap -> gap.last - gap.first + 1)
                    .sum();
        }

        /// The numbers of a range that batches may have.
        LongStream numbers(long first, long last) {
            LongStream numbers = LongStream.empty();
            long from = first;
            for (Gap gap : gaps) {
                if (gap.last >= from && gap.first <= last) {
                    numbers = LongStream.concat(numbers, LongStream.range(from, gap.first));
                    from = gap.last + 1;
                }
            }
            return LongStream.concat(numbers, LongStream.rangeClosed(from, last));
        }
    }

    /// The cut that an item holds; the one before the first batch, if there is none.
    ///
    /// @param lanes how many lanes the deployment has
    static CutItem of(Map<String, AttributeValue> item, int lanes) {
        if (item.isEmpty()) {
            return new CutItem(
                    0,
                    0,
                    IntStream.range(0, lanes)
                            .mapToObj(_ -> new End(Position.START, 0))
                            .toList());
        }
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "p"));
        if (packed.remaining() != lanes * END_BYTES) {
            throw new IllegalStateException("The cut in the table is through " + packed.remaining() / END_BYTES
                    + " lanes, and this function has " + lanes + ". Deploy it with the number that it had.");
        }
        List<End> ends = new ArrayList<>();
        while (packed.hasRemaining()) {
            ends.add(new End(new Position(packed.getLong(), packed.getInt()), packed.getLong()));
        }
        return new CutItem(Items.number(item, "n"), Items.number(item, "b"), ends);
    }

    /// The cut behind the next batch.
    CutItem plus(Cut batch) {
        List<End> next = new ArrayList<>(ends);
        for (Part part : batch.parts()) {
            End before = ends.get(part.lane());
            next.set(part.lane(), new End(part.to(), before.members + part.records()));
        }
        return new CutItem(number + 1, bytes + batch.bytes(), next);
    }

    Map<String, AttributeValue> item() {
        ByteBuffer packed = ByteBuffer.allocate(ends.size() * END_BYTES);
        for (End end : ends) {
            packed.putLong(end.position.chunk()).putInt(end.position.offset()).putLong(end.members);
        }
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("n", Items.number(number));
        item.put("b", Items.number(bytes));
        item.put("p", Items.bytes(packed.array()));
        return item;
    }

    /// How far a lane is written. A lane is a log and is never closed.
    ///
    ///     item = k 00 "lane/<number>", n next chunk, m members and b bytes of all chunks before it
    ///
    /// @param next number of the next chunk, from 0
    /// @param members records that the chunks before it hold
    /// @param bytes of these records, as [dev.onefold.core.seal.SealDecision] counts them
    record LaneHeader(long next, long members, long bytes) {
        /// Of a lane without chunks; there is no item.
        static final LaneHeader EMPTY = new LaneHeader(0, 0, 0);

        static Map<String, AttributeValue> key(int lane) {
            return RowItem.other("lane/" + lane);
        }

        /// The lane whose header an item is.
        static int lane(Map<String, AttributeValue> item) {
            byte[] key = Items.bytes(item, "k");
            return Integer.parseInt(new String(key, 6, key.length - 6, StandardCharsets.US_ASCII));
        }

        static LaneHeader of(Map<String, AttributeValue> item) {
            return item.isEmpty()
                    ? EMPTY
                    : new LaneHeader(Items.number(item, "n"), Items.number(item, "m"), Items.number(item, "b"));
        }

        /// The header behind one more chunk.
        LaneHeader plus(ChunkItem chunk) {
            return new LaneHeader(next + 1, members + chunk.chunk().sizes().length, bytes + chunk.bytes());
        }

        Map<String, AttributeValue> item(int lane) {
            Map<String, AttributeValue> item = new TreeMap<>(key(lane));
            item.put("n", Items.number(next));
            item.put("m", Items.number(members));
            item.put("b", Items.number(bytes));
            return item;
        }
    }
}
