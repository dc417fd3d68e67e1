package dev.onefold.kafka;

import dev.onefold.core.TotalsTable.Mark;
import dev.onefold.core.TotalsTable.Session;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.totals.CellAnswers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/// Writes one cut. A large one takes several transactions, of which only the last one has markers.
final class TotalsSession implements Session {
    private static final int TRANSACTION_RECORDS = 20_000;

    private final KafkaTotals totals;
    private final List<Rollup> rollups;
    private final BitSet replaced = new BitSet();
    private final Set<Bytes> gone = new HashSet<>(); // Of the roll-ups that are replaced: not put yet.
    private final Map<Integer, Long> changes = new HashMap<>();
    private @Nullable CutMarker marker;
    private int sent;
    private long bytes; // Of the groups of the roll-up that is being replaced.
    private boolean isOpen;

    TotalsSession(KafkaTotals totals, Pipeline served) {
        this.totals = totals;
        rollups = Rollups.of(served).all();
    }

    @Override
    public Optional<Mark> mark() {
        return totals.mark();
    }

    @Override
    public boolean isWhole() {
        return totals.isWhole();
    }

    @Override
    public void begin(Mark next) {
        marker = totals.marker(next);
        isOpen = true;
        attempt(() -> totals.producer().beginTransaction());
    }

    @Override
    public void replace(int rollup) {
        String name = rollups.get(rollup).name();
        replaced.set(rollup);
        bytes = 0;
        Map<Bytes, byte[]> known = totals.known().get(name);
        if (known != null && !CellAnswers.isEnough(rollups.get(rollup))) {
            gone.addAll(known.keySet());
            return;
        }
        attempt(() -> totals.keys().stream()
                .filter(key -> TopicKeys.isOf(key, bytes(name))
                        || rollups.stream().noneMatch(each -> TopicKeys.isOf(key, bytes(each.name()))))
                .forEach(gone::add));
        if (CellAnswers.isEnough(rollups.get(rollup))) {
            totals.known().remove(name);
        } else {
            totals.known().put(name, new HashMap<>());
        }
    }

    @Override
    public void put(int rollup, Answer.Line line) {
        Bytes key = key(rollup, line.group());
        byte[] value = value(rollup, line);
        gone.remove(key);
        String name = rollups.get(rollup).name();
        Map<Bytes, byte[]> known = totals.known().get(name);
        bytes += key.get().length + value.length + TopicKeys.ENTRY_BYTES;
        if (bytes > Runtime.getRuntime().maxMemory() / TopicKeys.HEAP_PART / rollups.size()) {
            totals.known().remove(name); // Too many to compare: all are written.
        }
        if (known == null || !Arrays.equals(known.put(key, value), value)) {
            attempt(() -> send(key, value));
        }
    }

    @Override
    public void remove(int rollup, List<String> group) {
        if (!replaced.get(rollup)) {
            attempt(() -> send(key(rollup, group), null));
        }
    }

    private Bytes key(int rollup, List<String> group) {
        String name = rollups.get(rollup).name();
        return Bytes.wrap(bytes(group.isEmpty() ? name : name + "/" + GroupPath.write(group)));
    }

    private byte[] value(int rollup, Answer.Line line) {
        Map<String, @Nullable String> values = new LinkedHashMap<>();
        List<String> names = rollups.get(rollup).figureNames();
        for (int i = 0; i < names.size(); i++) {
            var value = line.values().get(i);
            values.put(names.get(i), value == null ? null : value.toPlainString());
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rollup", rollups.get(rollup).name());
        json.put("group", line.group());
        json.put("values", values);
        return bytes(Json.of(json));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void send(Bytes key, byte @Nullable [] value) {
        if (++sent % TRANSACTION_RECORDS == 0) {
            totals.producer().commitTransaction();
            totals.producer().beginTransaction();
        }
        CutMarker cut = Objects.requireNonNull(marker);
        int partition = Utils.toPositive(Utils.murmur2(key.get())) % cut.partitions();
        changes.merge(partition, 1L, Long::sum);
        var _ = totals.producer()
                .send(new ProducerRecord<>(totals.topic(), partition, null, key.get(), value, cut.headers()));
    }

    @Override
    public void commit() {
        CutMarker cut = Objects.requireNonNull(marker);
        attempt(() -> {
            gone.forEach(key -> send(key, null));
            totals.known().values().forEach(known -> gone.forEach(known::remove));
            Map<Integer, Future<RecordMetadata>> markers = new HashMap<>();
            for (int partition : totals.all()) {
                markers.put(
                        partition,
                        totals.producer()
                                .send(new ProducerRecord<>(
                                        totals.topic(),
                                        partition,
                                        null,
                                        bytes(CutMarker.KEY),
                                        cut.json(changes.getOrDefault(partition, 0L)),
                                        cut.headers())));
            }
            totals.producer().commitTransaction();
            Map<Integer, Long> ends = new HashMap<>();
            markers.forEach((partition, future) -> ends.put(partition, KafkaTotals.behind(future)));
            totals.settle(cut, ends);
        });
        isOpen = false;
    }

    private void attempt(Runnable work) {
        try {
            work.run();
        } catch (KafkaException e) {
            throw totals.unavailable(e);
        }
    }

    /// What was not committed is in no cut: the owner takes the topic over again.
    @Override
    public void close() {
        if (isOpen) {
            totals.drop();
        }
    }
}
