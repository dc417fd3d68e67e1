package dev.onefold.tables;

import com.fasterxml.jackson.core.JsonFactory;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/// The items of a DynamoDB table, by a strongly consistent scan of segments beside each other. A mark is the key of the
/// last item of a page.
public final class TableRows implements RowSource {
    /// Bytes that a strongly consistent read unit reads.
    private static final int UNIT_BYTES = 4_096;

    private static final int ATTEMPTS_MAX = 12;
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(10);

    private final DynamoDbAsyncClient client;
    private final SourceTable table;
    private final int segments;
    private final Rate rate;

    /// @param rate of read units
    public TableRows(DynamoDbAsyncClient client, SourceTable table, int segments, Rate rate) {
        this.client = client;
        this.table = table;
        this.segments = segments;
        this.rate = rate;
    }

    @Override
    public String identity() {
        return "dynamodb:" + table.name() + " " + table.id() + " stream " + table.stream() + " segments " + segments;
    }

    @Override
    public List<String> parts() {
        return IntStream.range(0, segments).mapToObj(String::valueOf).toList();
    }

    @Override
    public Extent extent() {
        long units = Math.ceilDiv(table.items().bytes(), UNIT_BYTES);
        return new Extent(table.items().count(), table.items().count(), units);
    }

    @Override
    public void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException {
        List<Beside.Work> scans = new ArrayList<>();
        for (String part : parts()) {
            String mark = from.getOrDefault(part, BEGINNING);
            if (!mark.equals(END)) {
                scans.add(going -> scan(part, mark, taker, going));
            }
        }
        Beside.run(scans, segments);
        requireSame();
    }

    /// A table that was deleted and made again under its name may not have got all rows back yet.
    private void requireSame() throws IOException {
        try {
            if (SourceTable.describe(client, table.name()).id().equals(table.id())) {
                return;
            }
        } catch (IllegalArgumentException | SdkException e) {
            throw new IOException("table " + table.name() + ": " + e.getMessage(), e);
        }
        throw new IOException("table " + table.name() + " was replaced by another one of its name meanwhile");
    }

    private boolean scan(String part, String mark, Taker taker, Beside.Going going)
            throws IOException, InterruptedException {
        Map<String, AttributeValue> start = mark.isEmpty() ? Map.of() : key(mark);
        do {
            ScanResponse page = page(Integer.parseInt(part), start, going);
            if (page == null) {
                return false;
            }
            LineBlock block = new LineBlock();
            for (Map<String, AttributeValue> item : page.items()) {
                block.add(ItemJson.of(item));
            }
            start = page.lastEvaluatedKey();
            String next = start.isEmpty() ? END : mark(start);
            if (!taker.take(block.rows(part, next, page.items().size()))) {
                return false;
            }
            rate.spend(
                    page.consumedCapacity() == null
                            ? 0
                            : page.consumedCapacity().capacityUnits());
        } while (!start.isEmpty());
        return true;
    }

    /// One page; `null` if the scan is to stop.
    private @Nullable ScanResponse page(int segment, Map<String, AttributeValue> start, Beside.Going going)
            throws IOException, InterruptedException {
        Duration pause = PAUSE;
        for (int attempt = 1; going.isOn(); attempt++) {
            try {
                return client.scan(request -> request.tableName(table.name())
                                .consistentRead(true)
                                .segment(segment)
                                .totalSegments(segments)
                                .exclusiveStartKey(start.isEmpty() ? null : start)
                                .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                        .join();
            } catch (CompletionException e) {
                if (!(e.getCause() instanceof SdkException failure) || !mayPass(failure, attempt)) {
                    throw new IOException("table " + table.name() + ": " + e.getMessage(), e);
                }
                Thread.sleep(pause);
                pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
            }
        }
        return null;
    }

    /// A table that is throttled is asked again without a limit: somebody else needs its capacity.
    private static boolean mayPass(SdkException failure, int attempt) {
        return switch (failure) {
            case AwsServiceException answer ->
                answer.isThrottlingException() || answer.statusCode() >= 500 && attempt < ATTEMPTS_MAX;
            case SdkClientException _ -> failure.retryable() && attempt < ATTEMPTS_MAX;
            default -> false;
        };
    }

    private static String mark(Map<String, AttributeValue> key) {
        Map<String, Object> json = new LinkedHashMap<>();
        new TreeMap<>(key)
                .forEach((name, value) -> json.put(
                        name,
                        switch (value.type()) {
                            case S -> Map.of("S", value.s());
                            case N -> Map.of("N", value.n());
                            case B ->
                                Map.of(
                                        "B",
                                        Base64.getEncoder()
                                                .encodeToString(value.b().asByteArrayUnsafe()));
                            default -> throw new IllegalStateException("A key has the value " + value);
                        }));
        return Json.of(json);
    }

    private static Map<String, AttributeValue> key(String mark) throws IOException {
        Map<String, AttributeValue> key = new LinkedHashMap<>();
        try (var parser = new JsonFactory().createParser(mark)) {
            parser.nextToken();
            for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
                parser.nextToken();
                String type = parser.nextFieldName();
                String value = parser.nextTextValue();
                key.put(
                        name,
                        switch (type) {
                            case "S" -> AttributeValue.fromS(value);
                            case "N" -> AttributeValue.fromN(value);
                            case "B" ->
                                AttributeValue.fromB(SdkBytes.fromByteArray(
                                        Base64.getDecoder().decode(value)));
                            case null, default -> throw new IOException("a mark is not a key: " + mark);
                        });
                parser.nextToken();
            }
        }
        return key;
    }

    @Override
    public void close() {}
}
