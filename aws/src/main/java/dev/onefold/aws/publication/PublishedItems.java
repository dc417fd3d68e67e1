package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Publishing.TopList;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.totals.PlainNames;
import dev.onefold.core.totals.Totals;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The items of a roll-up in a published table, by their ids.
///
///     group = id "main/FX/EMEA", rollup, depth, each level and each figure under its plain name, cut, cut_at
///     top   = id "main:top", rollup, groups (a list, the greatest first, of levels and the figure), cut, cut_at
///
/// In a part of an id `~` is written as `~0` and `/` as `~1`.
final class PublishedItems {
    static final String ID = "id";
    private static final String ROLLUP = "rollup";
    private static final String DEPTH = "depth";
    private static final String GROUPS = "groups";
    private static final Set<String> OWN = Set.of(ID, ROLLUP, DEPTH, GROUPS, Mark.CUT, Mark.CUT_AT);

    /// With longer names a top list could have more than 400 KB.
    private static final int NAME_LENGTH_MAX = Limits.NAME_LENGTH_MAX;

    /// Limits of DynamoDB.
    private static final int DIGITS_MAX = 38;
    private static final int POWER_MAX = 125;
    private static final int POWER_MIN = -130;

    private static final int ID_BYTES_MAX = 2_048;

    /// Characters that are left of an id that is too long; each may take three bytes.
    private static final int ID_LENGTH_KEPT = 600;

    private static final Answer.Cut NO_CUT = new Answer.Cut(List.of(), Instant.EPOCH);

    private final Rollup rollup;
    private final List<String> levels;
    private final List<String> figures;

    PublishedItems(Rollup rollup) {
        this.rollup = rollup;
        PlainNames names = new PlainNames(OWN, NAME_LENGTH_MAX);
        levels = rollup.levels().stream().map(Level::name).map(names::next).toList();
        figures = rollup.figureNames().stream().map(names::next).toList();
    }

    /// The key of an item.
    static Map<String, AttributeValue> key(String id) {
        return Map.of(ID, AttributeValue.fromS(id));
    }

    /// All items of the totals of this roll-up, without a cut.
    ///
    /// @param into receives them by their ids
    void put(Totals totals, Optional<TopList> top, Map<String, Map<String, AttributeValue>> into) {
        for (Answer.Line line : totals.answer(Query.all(rollup.name()), NO_CUT).lines()) {
            Map<String, AttributeValue> item = levels(line.group());
            item.put(ROLLUP, AttributeValue.fromS(rollup.name()));
            item.put(DEPTH, Items.number(line.group().size()));
            for (int i = 0; i < figures.size(); i++) {
                put(item, figures.get(i), line.values().get(i));
            }
            into.put(id(line.group()), item);
        }
        top.filter(list -> rollup.figureNames().contains(list.measure()))
                .ifPresent(list -> into.put(rollup.name() + ":top", top(totals, list)));
    }

    private Map<String, AttributeValue> top(Totals totals, TopList list) {
        int figure = rollup.figureNames().indexOf(list.measure());
        Query query = new Query(
                rollup.name(),
                List.of(),
                rollup.levels().size(),
                new Query.Top(list.count(), rollup.figureNames().get(figure)));
        List<AttributeValue> groups = new ArrayList<>();
        for (Answer.Line line : totals.answer(query, NO_CUT).lines()) {
            Map<String, AttributeValue> group = levels(line.group());
            put(group, figures.get(figure), line.values().get(figure));
            groups.add(AttributeValue.fromM(group));
        }
        Map<String, AttributeValue> item = new TreeMap<>();
        item.put(ROLLUP, AttributeValue.fromS(rollup.name()));
        item.put(GROUPS, AttributeValue.fromL(groups));
        return item;
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

    private String id(List<String> group) {
        String id = rollup.name()
                + group.stream()
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

    /// Whether an item is a top list.
    static boolean isTop(Map<String, AttributeValue> content) {
        return content.containsKey(GROUPS);
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
