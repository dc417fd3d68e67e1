package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Publishing.TopList;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.totals.PlainNames;
import dev.onefold.core.totals.Totals;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The items of a roll-up in a published table, by their ids.
///
///     group   = id "main/FX/EMEA", rollup, depth, each level and each figure under its plain name, kept (rows
///               and sums that the figures are made of), cut, cut_at
///     top     = id "main:top", rollup, groups (a list, the greatest first, of levels and the figure), cut,
///               cut_at
///     reserve = id "main:reserve", rollup, kept (the top list and the groups behind it), cut, cut_at
///
/// In a part of an id `~` is written as `~0` and `/` as `~1`.
final class PublishedItems {
    static final String ID = "id";
    private static final String ROLLUP = "rollup";
    private static final String DEPTH = "depth";
    private static final String GROUPS = "groups";
    static final String KEPT = "kept";
    private static final Set<String> OWN = Set.of(ID, ROLLUP, DEPTH, GROUPS, KEPT, Mark.CUT, Mark.CUT_AT);

    /// With longer names a top list could have more than 400 KB.
    private static final int NAME_LENGTH_MAX = Limits.NAME_LENGTH_MAX;

    /// Limits of DynamoDB.
    private static final int DIGITS_MAX = 38;
    private static final int POWER_MAX = 125;
    private static final int POWER_MIN = -130;

    private static final int ID_BYTES_MAX = 2_048;

    /// Characters that are left of an id that is too long; each may take three bytes.
    private static final int ID_LENGTH_KEPT = 600;

    private static final int FORMAT = 1;

    private final Rollup rollup;
    private final Totals totals; // Of nothing: it makes figures.
    private final List<String> levels;
    private final List<String> figures;
    private final int topFigure;
    private final boolean isSummed;

    private PublishedItems(Rollup rollup, Optional<TopList> top, boolean isSummed) {
        this.rollup = rollup;
        this.isSummed = isSummed;
        totals = new Totals(rollup);
        PlainNames names = new PlainNames(OWN, NAME_LENGTH_MAX);
        levels = rollup.levels().stream().map(Level::name).map(names::next).toList();
        figures = rollup.figureNames().stream().map(names::next).toList();
        topFigure =
                top.map(list -> rollup.figureNames().indexOf(list.measure())).orElse(-1);
    }

    /// Those of all roll-ups of a pipeline.
    ///
    /// @param top the list that the table has, of each roll-up with that figure
    static List<PublishedItems> of(List<Rollup> rollups, Optional<TopList> top) {
        boolean isSummed =
                rollups.stream().flatMap(rollup -> rollup.measures().stream()).allMatch(PublishedItems::isSummed);
        return rollups.stream()
                .map(rollup -> new PublishedItems(rollup, top, isSummed))
                .toList();
    }

    private static boolean isSummed(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> true;
            case Measure.Distinct _ -> false;
            case Measure.Numeric numeric -> numeric.fold().isSummed();
        };
    }

    /// The key of an item.
    static Map<String, AttributeValue> key(String id) {
        return Map.of(ID, AttributeValue.fromS(id));
    }

    String name() {
        return rollup.name();
    }

    /// Whether items say all that the next ones are made of, with what is added to them. Extremes and distinct
    /// counts are made of values, of which there may be any number; and all roll-ups of a table are of one cut.
    boolean isSummed() {
        return isSummed;
    }

    boolean hasTop() {
        return topFigure >= 0;
    }

    boolean isLeaf(Tuple group) {
        return group.parts().size() == levels.size();
    }

    /// All groups of totals, parents too.
    SortedMap<Tuple, Aggregate> groups(Totals of) {
        TreeMap<Tuple, Aggregate> groups = new TreeMap<>();
        groups.put(Tuple.of(List.of()), totals.empty()); // The total of nothing is an answer.
        of.leaves().forEach((leaf, aggregate) -> {
            if (!aggregate.isEmpty()) {
                for (int depth = 0; depth < levels.size(); depth++) {
                    groups.computeIfAbsent(leaf.prefix(depth), _ -> totals.empty())
                            .plus(aggregate);
                }
                groups.put(leaf, aggregate);
            }
        });
        return groups;
    }

    /// The groups that the totals of a leaf are in.
    List<Tuple> around(Tuple leaf) {
        return IntStream.rangeClosed(0, levels.size()).mapToObj(leaf::prefix).toList();
    }

    /// The item of a group, without id and cut.
    Map<String, AttributeValue> content(Tuple group, Aggregate aggregate) {
        List<String> parts = group.parts();
        Map<String, AttributeValue> item = levels(parts);
        item.put(ROLLUP, AttributeValue.fromS(rollup.name()));
        item.put(DEPTH, Items.number(parts.size()));
        List<@Nullable BigDecimal> values = totals.figures(aggregate);
        for (int i = 0; i < figures.size(); i++) {
            put(item, figures.get(i), values.get(i));
        }
        if (isSummed) {
            item.put(KEPT, Items.bytes(bytes(aggregate.sums())));
        }
        return item;
    }

    private static byte[] bytes(Delta.Sums sums) {
        BytesOut out = new BytesOut()
                .octet(FORMAT)
                .signed(sums.rows())
                .number(sums.sums().size());
        for (int i = 0; i < sums.sums().size(); i++) {
            out.bytes(sums.sums().get(i).toByteArray()).signed(sums.counts().get(i));
        }
        return out.toBytes();
    }

    /// The aggregate that a stored item was made of.
    Aggregate kept(Map<String, AttributeValue> stored) {
        Aggregate aggregate = totals.empty();
        BytesIn in = new BytesIn(Items.bytes(stored, KEPT));
        in.requireFormat(FORMAT);
        long rows = in.signed();
        List<BigInteger> sums = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            sums.add(new BigInteger(in.bytes()));
            counts.add(in.signed());
        }
        in.requireEnd();
        aggregate.add(new Delta.Sums(rows, sums, counts));
        return aggregate;
    }

    /// An aggregate of this roll-up that nothing is in.
    Aggregate empty() {
        return totals.empty();
    }

    /// The place of a leaf group in the top list.
    Ranking.Entry entry(Tuple leaf, Aggregate aggregate) {
        return new Ranking.Entry(leaf, totals.figures(aggregate).get(topFigure));
    }

    String topId() {
        return rollup.name() + ":top";
    }

    String reserveId() {
        return rollup.name() + ":reserve";
    }

    /// The top list, without id and cut.
    Map<String, AttributeValue> top(List<Ranking.Entry> entries) {
        List<AttributeValue> groups = new ArrayList<>();
        for (Ranking.Entry entry : entries) {
            Map<String, AttributeValue> group = levels(entry.group().parts());
            put(group, figures.get(topFigure), entry.value());
            groups.add(AttributeValue.fromM(group));
        }
        Map<String, AttributeValue> item = new TreeMap<>();
        item.put(ROLLUP, AttributeValue.fromS(rollup.name()));
        item.put(GROUPS, AttributeValue.fromL(groups));
        return item;
    }

    /// The reserve of the top list, without id and cut.
    Map<String, AttributeValue> reserve(Ranking ranking) {
        Map<String, AttributeValue> item = new TreeMap<>();
        item.put(ROLLUP, AttributeValue.fromS(rollup.name()));
        item.put(KEPT, Items.bytes(ranking.bytes()));
        return item;
    }

    /// The group of a stored item of this roll-up; empty for an item of other levels.
    Optional<Tuple> group(Map<String, AttributeValue> stored) {
        List<String> parts = new ArrayList<>();
        for (String level : levels) {
            AttributeValue part = stored.get(level);
            if (part == null || part.s() == null) {
                break;
            }
            parts.add(part.s());
        }
        Tuple group = Tuple.of(parts);
        return id(group).equals(id(stored)) ? Optional.of(group) : Optional.empty();
    }

    private Map<String, AttributeValue> levels(List<String> group) {
        Map<String, AttributeValue> item = new TreeMap<>();
        for (int i = 0; i < group.size(); i++) {
            item.put(levels.get(i), AttributeValue.fromS(group.get(i)));
        }
        return item;
    }

    private static void put(Map<String, AttributeValue> item, String name, @Nullable BigDecimal value) {
        if (value != null) {
            item.put(name, number(value));
        }
    }

    /// A number as DynamoDB gives it back; a text where it is too long or too large for a number there.
    private static AttributeValue number(BigDecimal value) {
        BigDecimal plain = value.stripTrailingZeros();
        int power = plain.precision() - plain.scale() - 1;
        boolean fits =
                plain.signum() == 0 || plain.precision() <= DIGITS_MAX && power <= POWER_MAX && power >= POWER_MIN;
        return fits ? AttributeValue.fromN(plain.toPlainString()) : AttributeValue.fromS(plain.toPlainString());
    }

    String id(Tuple group) {
        String id = rollup.name()
                + group.parts().stream()
                        .map(part -> "/" + part.replace("~", "~0").replace("/", "~1"))
                        .collect(Collectors.joining());
        byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= ID_BYTES_MAX) {
            return id;
        }
        int end = Character.isHighSurrogate(id.charAt(ID_LENGTH_KEPT - 1)) ? ID_LENGTH_KEPT - 1 : ID_LENGTH_KEPT;
        return id.substring(0, end) + "~~" + Sha256.hex(bytes); // No other id has two of them in a row.
    }

    /// The attributes of a stored item that are compared. Numbers are normalized, because they come back in any
    /// notation that has the same value.
    static Map<String, AttributeValue> compared(Map<String, AttributeValue> stored) {
        Map<String, AttributeValue> item = new TreeMap<>(stored);
        item.keySet().removeAll(Set.of(ID, Mark.CUT, Mark.CUT_AT));
        item.replaceAll((_, value) -> compared(value));
        return item;
    }

    private static AttributeValue compared(AttributeValue value) {
        return switch (value.type()) {
            case N -> number(new BigDecimal(value.n()));
            case L ->
                AttributeValue.fromL(
                        value.l().stream().map(PublishedItems::compared).toList());
            case M -> {
                Map<String, AttributeValue> map = new TreeMap<>(value.m());
                map.replaceAll((_, each) -> compared(each));
                yield AttributeValue.fromM(map);
            }
            default -> value;
        };
    }

    /// Whether a stored item is one of these, of whatever deployment.
    static boolean isPublished(Map<String, AttributeValue> stored) {
        return stored.containsKey(ROLLUP) && stored.containsKey(Mark.CUT) && stored.containsKey(Mark.CUT_AT);
    }

    /// The name of the roll-up of a stored item.
    static String rollup(Map<String, AttributeValue> stored) {
        return Items.text(stored, ROLLUP);
    }

    /// Whether a stored item is one of a group.
    static boolean isGroup(Map<String, AttributeValue> stored) {
        return stored.containsKey(DEPTH);
    }

    /// The id of a stored item.
    static String id(Map<String, AttributeValue> stored) {
        return Items.text(stored, ID);
    }

    /// An item as it is written.
    static Map<String, AttributeValue> item(String id, Map<String, AttributeValue> content, long cut, Instant at) {
        Map<String, AttributeValue> item = new TreeMap<>(content);
        item.put(ID, AttributeValue.fromS(id));
        item.put(Mark.CUT, Items.number(cut));
        item.put(Mark.CUT_AT, AttributeValue.fromS(at.toString()));
        return item;
    }
}
