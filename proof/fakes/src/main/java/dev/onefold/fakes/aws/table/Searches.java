package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Condition;
import dev.onefold.fakes.aws.expression.Expressions;
import dev.onefold.fakes.aws.expression.KeyCondition;
import dev.onefold.fakes.aws.expression.Projection;
import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Values;
import dev.onefold.fakes.aws.table.Meter.Reading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.Select;

/// Reads of many items, page by page.
public final class Searches {
    private static final long PAGE_BYTES_MAX = 1L << 20;
    private static final int SEGMENTS_MAX = 1_000_000;

    private final Tables tables;
    private final Supplier<Instant> past;
    private final BooleanSupplier stopping;

    /// @param past asked for each partition that is read without consistency: as of when it is seen
    /// @param stopping asked for each page of a query: if it says so, the page ends before its first item
    public Searches(Tables tables, Supplier<Instant> past, BooleanSupplier stopping) {
        this.tables = tables;
        this.past = past;
        this.stopping = stopping;
    }

    /// What one page is made of.
    private record Ask(
            Table table,
            Reading reading,
            @Nullable Integer limit,
            @Nullable Condition filter,
            @Nullable Projection projection) {
        private Ask {
            if (limit != null && limit < 1) {
                throw invalid("Limit must be greater than or equal to 1");
            }
        }
    }

    private static final class Page {
        private final List<Map<String, AttributeValue>> items = new ArrayList<>();
        private int count;
        private int scanned;
        private long bytes;
        private @Nullable Map<String, AttributeValue> last;
    }

    public QueryResponse query(QueryRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Expressions expressions = Writes.expressions(
                request.expressionAttributeNames(),
                request.expressionAttributeValues(),
                request.keyConditionExpression());
        KeyCondition condition = expressions.key(request.keyConditionExpression(), table.schema());
        Ask ask = new Ask(
                table,
                Reading.of(request.consistentRead()),
                request.limit(),
                expressions.filter(request.filterExpression(), table.schema()),
                expressions.projection(request.projectionExpression()));
        expressions.requireAllUsed();
        requireSelect(request.select(), ask.projection != null);
        boolean forward = !Boolean.FALSE.equals(request.scanIndexForward());
        Key start = request.hasExclusiveStartKey() ? start(table, request.exclusiveStartKey()) : null;
        if (start != null) {
            Map<String, AttributeValue> item = Values.canonical(request.exclusiveStartKey());
            if (!start.isBeside(condition.partition()) || !condition.holds(item) || condition.endsAt(item, forward)) {
                throw invalid("The provided starting key is outside query boundaries based on provided conditions");
            }
        }
        Page page = page(ask, places(table, condition.partition(), start, forward), condition::holds);
        if (!page.items.isEmpty() && stopping.getAsBoolean()) {
            page = emptied(page, table, condition, start, forward);
        }
        meter.read(table, page.bytes, ask.reading);
        boolean counts = request.select() == Select.COUNT;
        if (page.last != null && (table.schema().sort() == null || condition.endsAt(page.last, forward))) {
            page.last = null; // There cannot be more.
        }
        QueryResponse.Builder response = QueryResponse.builder()
                .count(page.count)
                .scannedCount(page.scanned)
                .lastEvaluatedKey(page.last)
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()));
        return (counts ? response : response.items(page.items)).build();
    }

    public ScanResponse scan(ScanRequest request, Meter meter) {
        Legacy.refuse(request);
        Table table = tables.table(request.tableName());
        Expressions expressions = Writes.expressions(
                request.expressionAttributeNames(),
                request.expressionAttributeValues(),
                request.filterExpression(),
                request.projectionExpression());
        Ask ask = new Ask(
                table,
                Reading.of(request.consistentRead()),
                request.limit(),
                expressions.filter(request.filterExpression(), null),
                expressions.projection(request.projectionExpression()));
        expressions.requireAllUsed();
        requireSelect(request.select(), ask.projection != null);
        Key start = request.hasExclusiveStartKey() ? start(table, request.exclusiveStartKey()) : null;
        Predicate<Key> segment = segment(request);
        if (start != null && !segment.test(start)) {
            throw invalid("The provided starting key is invalid: it is outside of the segment");
        }
        NavigableMap<Key, ?> left =
                start == null ? table.places() : table.places().tailMap(start, false);
        Page page = page(ask, left.keySet().stream().filter(segment).iterator(), _ -> true);
        meter.read(table, page.bytes, ask.reading);
        boolean counts = request.select() == Select.COUNT;
        ScanResponse.Builder response = ScanResponse.builder()
                .count(page.count)
                .scannedCount(page.scanned)
                .lastEvaluatedKey(page.last)
                .consumedCapacity(meter.consumedByOne(request.returnConsumedCapacity()));
        return (counts ? response : response.items(page.items)).build();
    }

    private Page page(Ask ask, Iterator<Key> places, Predicate<Map<String, AttributeValue>> wanted) {
        Page page = new Page();
        @Nullable Key previous = null;
        Instant asOf = Instant.MAX;
        while (places.hasNext()) {
            Key key = places.next();
            if (ask.reading == Reading.EVENTUAL && (previous == null || !previous.isBeside(key))) {
                asOf = past.get(); // A partition is read from one of its copies, which is behind by so much.
            }
            previous = key;
            Map<String, AttributeValue> item = ask.table.read(key, asOf);
            if (item == null || !wanted.test(item)) {
                continue;
            }
            page.scanned++;
            page.bytes += Values.sizeBytes(item);
            if (ask.filter == null || ask.filter.holds(item)) {
                page.count++;
                page.items.add(ask.projection == null ? item : ask.projection.of(item));
            }
            if (page.bytes >= PAGE_BYTES_MAX || (ask.limit != null && page.scanned == ask.limit)) {
                page.last = ask.table.schema().keyAttributes(item);
                return page;
            }
        }
        return page;
    }

    /// A page that ends before its first item, if there is a place for a key between that and where the page began.
    private static Page emptied(Page page, Table table, KeyCondition condition, @Nullable Key start, boolean forward) {
        Map<String, AttributeValue> first = table.schema().keyAttributes(page.items.getFirst());
        String sort = table.schema().sort();
        if (sort == null) {
            return page;
        }
        Map<String, AttributeValue> border = new TreeMap<>(first);
        border.put(sort, beside(Objects.requireNonNull(first.get(sort)), forward));
        Key key = start(table, border);
        boolean isAhead = start == null || (forward ? key.compareTo(start) > 0 : key.compareTo(start) < 0);
        if (!isAhead || !condition.holds(border) || condition.endsAt(border, forward)) {
            return page;
        }
        Page empty = new Page();
        empty.last = border;
        return empty;
    }

    /// A sort key a little before this one, or behind it.
    private static AttributeValue beside(AttributeValue key, boolean isBefore) {
        if (key.s() != null) {
            return AttributeValue.fromS(isBefore ? key.s().substring(0, key.s().length() - 1) : key.s() + "~");
        }
        byte[] bytes = key.b().asByteArray();
        return AttributeValue.fromB(
                SdkBytes.fromByteArray(Arrays.copyOf(bytes, isBefore ? bytes.length - 1 : bytes.length + 1)));
    }

    private static Key start(Table table, Map<String, AttributeValue> key) {
        return table.schema().keyIn(Values.canonical(key));
    }

    private static Iterator<Key> places(Table table, Key partition, @Nullable Key start, boolean forward) {
        NavigableMap<Key, ?> places = table.places().subMap(partition, true, partition.last(), true);
        if (start != null) {
            places = forward ? places.tailMap(start, false) : places.headMap(start, false);
        }
        return (forward ? places : places.descendingMap()).keySet().iterator();
    }

    private static Predicate<Key> segment(ScanRequest request) {
        if (request.segment() == null && request.totalSegments() == null) {
            return _ -> true;
        }
        if (request.segment() == null || request.totalSegments() == null) {
            throw invalid("The TotalSegments and the Segment parameter are required together");
        }
        int segment = request.segment();
        int segments = request.totalSegments();
        if (segments < 1 || segments > SEGMENTS_MAX || segment < 0 || segment >= segments) {
            throw invalid("Segment %d of %d: from 0, and less than the total".formatted(segment, segments));
        }
        return key -> key.part(segments) == segment;
    }

    private static void requireSelect(@Nullable Select select, boolean projects) {
        if (select != null && projects != (select == Select.SPECIFIC_ATTRIBUTES)) {
            throw invalid("Cannot specify a ProjectionExpression when choosing to get %s".formatted(select));
        }
    }
}
