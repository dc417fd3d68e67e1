package dev.onefold.aws.item;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.ContributionBytes;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// One item of a lane's stripe: a leaf's sums, or how often a value is there. It holds what is in it now, and what was
/// in it at the end of the epoch before the one it was last changed in; so a reader who has closed an epoch finds the
/// values of that instant while additions go on (a snapshot by copy on write). While a reader holds an epoch, the item
/// keeps what was in it at the end of that epoch, too.
///
///     leaf  = k group, r rows, s<i> c<i> sum and count of the i-th summed measure, e epoch, then the same as of the
///             end of an epoch before e: br, bs<i>, bc<i>; nothing was there if these are missing
///     value = k group, m measure, a amount, r how often, e epoch, br
///     both  = h a held epoch before e, and the same as of its end: hr, hs<i>, hc<i>; nothing was there if these are
///             missing
public final class Stored {
    public static final String EPOCH = "e";
    static final String GROUP = "k";
    static final String MEASURE = "m";
    static final String AMOUNT = "a";
    static final String ROWS = "r";
    static final String BEFORE = "b";
    public static final String HELD = "h";

    private Stored() {}

    /// The attributes that add to a leaf, and by how much.
    public static Map<String, BigInteger> additions(Delta.Sums sums) {
        Map<String, BigInteger> additions = new TreeMap<>();
        additions.put(ROWS, BigInteger.valueOf(sums.rows()));
        for (int i = 0; i < sums.sums().size(); i++) {
            additions.put("s" + i, sums.sums().get(i));
            additions.put("c" + i, BigInteger.valueOf(sums.counts().get(i)));
        }
        return additions;
    }

    /// The attributes that add to a value, and by how much.
    public static Map<String, BigInteger> additions(long count) {
        return Map.of(ROWS, BigInteger.valueOf(count));
    }

    /// The attributes that identify a leaf.
    public static Map<String, AttributeValue> identity(Delta.Cell cell) {
        return Map.of(GROUP, Items.bytes(cell.leaf().bytes()));
    }

    /// The attributes that identify a value.
    public static Map<String, AttributeValue> identity(Delta.Value value) {
        return Map.of(
                GROUP,
                Items.bytes(value.cell().leaf().bytes()),
                MEASURE,
                Items.number(value.measure()),
                AMOUNT,
                Items.bytes(ContributionBytes.of(value.amount())));
    }

    /// The name of an attribute's copy.
    public static String before(String attribute) {
        return BEFORE + attribute;
    }

    /// The name of an attribute's copy as of the end of a held epoch.
    public static String held(String attribute) {
        return HELD + attribute;
    }

    /// The group of an item.
    public static Tuple group(Map<String, AttributeValue> item) {
        return new Tuple(Items.bytes(item, GROUP));
    }

    /// The measure of a value item.
    public static int measure(Map<String, AttributeValue> item) {
        return (int) Items.number(item, MEASURE);
    }

    /// The amount of a value item.
    public static Amount amount(Map<String, AttributeValue> item) {
        return ContributionBytes.amount(Items.bytes(item, AMOUNT));
    }

    /// A leaf's sums at the end of an epoch; `null` if the item has changed twice since, so that nobody knows.
    ///
    /// @param summed how many sums the roll-up has
    public static Delta.@Nullable Sums sums(Map<String, AttributeValue> item, int summed, long epoch) {
        String copy = copy(item, epoch);
        if (copy == null) {
            return null;
        }
        List<BigInteger> sums = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        for (int i = 0; i < summed; i++) {
            sums.add(integer(item, copy + "s" + i));
            counts.add(integer(item, copy + "c" + i).longValueExact());
        }
        return new Delta.Sums(integer(item, copy + ROWS).longValueExact(), sums, counts);
    }

    /// How often a value is there at the end of an epoch; `null` if nobody knows.
    public static @Nullable Long count(Map<String, AttributeValue> item, long epoch) {
        String copy = copy(item, epoch);
        return copy == null ? null : (Long) integer(item, copy + ROWS).longValueExact();
    }

    private static @Nullable String copy(Map<String, AttributeValue> item, long epoch) {
        long changed = Items.number(item, EPOCH);
        if (changed <= epoch) {
            return "";
        }
        if (changed == epoch + 1) {
            return BEFORE;
        }
        return item.containsKey(HELD) && Items.number(item, HELD) == epoch ? HELD : null;
    }

    /// Numbers come back in any notation that has the same value.
    private static BigInteger integer(Map<String, AttributeValue> item, String name) {
        AttributeValue value = item.get(name);
        return value == null ? BigInteger.ZERO : new BigDecimal(value.n()).toBigIntegerExact();
    }

    /// How many sums the leaves of a roll-up have.
    public static int summed(Pipeline pipeline, int rollup) {
        return (int) Rollups.of(pipeline).all().get(rollup).measures().stream()
                .filter(measure -> measure instanceof Measure.Numeric numeric
                        && numeric.fold().isSummed())
                .count();
    }
}
