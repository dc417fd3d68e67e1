package dev.onefold.aws.comparison;

import dev.onefold.aws.item.Items;
import dev.onefold.tables.compare.SourceComparison.Suspects;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The slices that the first look has left, and how many of them were looked at.
///
///     item = {o rows of ours, r deflated bits of all ranges that differ, e ends of the slices, d slices done,
///             g ghosts of those; of the next slice: n ghosts, s repairs}
///
/// The bits take 128 KB at most, so they fit into an item.
///
/// @param rows of ours at the first look
/// @param slices in the order of their ranges
/// @param done slices that were looked at
/// @param ghosts rows of them that the source lacks, with those that failed comparisons have removed
/// @param begun what attempts have begun to repair of the next slice
record Slicing(long rows, List<BitSet> slices, int done, long ghosts, Begun begun) {
    Slicing {
        slices = List.copyOf(slices);
    }

    /// Repairs of a slice. They are noted before they are written, so some of them may not be in.
    ///
    /// @param ghosts rows of the slice that the source lacks
    /// @param repairs rows that were to be repaired, in all attempts together
    record Begun(long ghosts, long repairs) {
        static final Begun NOTHING = new Begun(0, 0);
    }

    /// @param removed rows that failed comparisons have removed
    static Slicing of(Suspects suspects, long removed) {
        return new Slicing(suspects.rows(), suspects.slices(), 0, removed, Begun.NOTHING);
    }

    boolean isDone() {
        return done == slices.size();
    }

    int left() {
        return slices.size() - done;
    }

    BitSet next() {
        return slices.get(done);
    }

    /// With the next slice done.
    Slicing after(long ghostsNow) {
        return new Slicing(rows, slices, done + 1, ghostsNow, Begun.NOTHING);
    }

    /// While the next slice is repaired.
    Slicing with(Begun now) {
        return new Slicing(rows, slices, done, ghosts, now);
    }

    AttributeValue item() {
        BitSet all = new BitSet();
        slices.forEach(all::or);
        return AttributeValue.fromM(Map.of(
                "o", Items.number(rows),
                "r", Items.bytes(deflated(all.toByteArray())),
                "e",
                        AttributeValue.fromL(slices.stream()
                                .map(slice -> Items.number(slice.length()))
                                .toList()),
                "d", Items.number(done),
                "g", Items.number(ghosts),
                "n", Items.number(begun.ghosts()),
                "s", Items.number(begun.repairs())));
    }

    static Slicing of(Map<String, AttributeValue> item) {
        BitSet all = BitSet.valueOf(inflated(Items.bytes(item, "r")));
        List<BitSet> slices = new ArrayList<>();
        int from = 0;
        for (AttributeValue end : Items.list(item, "e")) {
            int to = Integer.parseInt(end.n());
            BitSet slice = new BitSet();
            for (int range = all.nextSetBit(from); range >= 0 && range < to; range = all.nextSetBit(range + 1)) {
                slice.set(range);
            }
            slices.add(slice);
            from = to;
        }
        return new Slicing(
                Items.number(item, "o"),
                slices,
                (int) Items.number(item, "d"),
                Items.number(item, "g"),
                new Begun(Items.number(item, "n"), Items.number(item, "s")));
    }

    private static byte[] deflated(byte[] bytes) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(to)) {
            out.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return to.toByteArray();
    }

    private static byte[] inflated(byte[] bytes) {
        try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
