package dev.onefold.simulator.batches;

import static dev.onefold.simulator.batches.Receiving.require;

import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Some lives of a data directory whose pipeline makes batches: one seed says the pipeline, the records and
/// their duplicates, how they come, what the receiver does, what people decide, where the process ends and
/// whether the power goes with it. In the end each distinct record is in exactly one batch, and the receiver
/// has each batch that nobody refused; numbers are dense, no batch is empty, and no attempt saw another content
/// than the one before.
///
/// It has one thread and no clock but the seed's; so equal seeds are equal runs.
public final class BatchSimulation {
    private static final int LIVES_MAX = 6;

    private final SplittableRandom random;
    private final List<String> story = new ArrayList<>();
    private final List<String> lines = new ArrayList<>(); // A producer's, in its order.
    private final List<String> file = new ArrayList<>();
    private final Set<String> released = new HashSet<>(); // Whose second effect a person has allowed.
    private final Set<String> discarded = new TreeSet<>();
    private final Batching batching;
    private final Pipeline pipeline;
    private final Receiving receiver;
    private final Comings comings;
    private final boolean forgets;
    private final int waitSecondsMax;
    private SimulatedDisk disk = SimulatedDisk.empty();
    private Instant now = Instant.ofEpochSecond(1_700_000_000);
    private long promised;
    private int early; // How often a batch may have been sealed before it was full.

    private BatchSimulation(long seed, boolean isByKey) {
        random = new SplittableRandom(seed);
        SplittableRandom ofKeys = new SplittableRandom(17 * seed);
        SplittableRandom ofIds = new SplittableRandom(~seed);
        String forget = List.of("", "after-delivery", "1d").get(ofIds.nextInt(3));
        forgets = !forget.isEmpty();
        waitSecondsMax = forget.equals("1d") ? 60_000 : 90;
        boolean isNamed = random.nextInt(3) == 0;
        boolean isOnce = !isNamed && random.nextInt(3) == 0;
        boolean isCompressed = isNamed && random.nextBoolean();
        String deliver = isNamed
                ? "\"file\":\"x-{number}.ndjson" + (isCompressed ? ".gz" : "") + "\""
                : "\"http\":\"http://h/\"";
        int size = random.nextInt(1, 8);
        String batch = "{\"size\":" + (isByKey && ofKeys.nextBoolean() ? 1 : size) + ",\"wait\":\"60s\",\"deliver\":{"
                + deliver + "}"
                + (isNamed ? "" : ",\"receiver\":\"" + (isOnce ? "once" : "idempotent") + "\"")
                + (!isOnce && random.nextBoolean() ? ",\"bisect\":true" : "")
                + (random.nextBoolean() && !isByKey ? ",\"order\":\"strict\"" : "")
                + (isByKey ? ",\"order\":\"key\",\"concurrency\":" + ofKeys.nextInt(1, 9) : "")
                + ",\"retry\":{\"delays\":[\"10s\",\"60s\"],\"for\":\"" + (random.nextBoolean() ? "3m" : "1h") + "\"}"
                + (forgets ? ",\"forget\":\"" + forget + "\",\"compare\":\"none\"" : "") + "}";
        String key = isByKey ? ",\"key\":\"k\"" : "";
        String definition = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"" + key + "},\"batch\":" + batch + "}";
        pipeline = switch (PipelineText.read(definition)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalStateException(problems.toString());
        };
        batching = (Batching) pipeline.fold();
        Set<String> poison = new HashSet<>();
        int keys = ofKeys.nextInt(1, 8);
        int ids = forgets ? ofIds.nextInt(1, 12) : random.nextInt(1, 60);
        String pad = forgets && ofIds.nextBoolean() ? "x".repeat(900) : ""; // Some dozen claims are a segment then.
        // Batches behind one that waits take more than the tape may then, so it is copied.
        String text = new SplittableRandom(31 * seed).nextInt(3) == 0 ? ",\"text\":\"" + "x".repeat(32_000) + "\"" : "";
        for (int i = forgets ? ofIds.nextInt(120) : random.nextInt(2 * ids + 1); i >= 0; i--) {
            int id = forgets ? ofIds.nextInt(ids) : random.nextInt(ids);
            String last = text + (isByKey ? ",\"k\":" + id % keys : "") + "}";
            String line = forgets ? "{\"id\":\"" + id + pad + "\",\"n\":" + i + last : "{\"id\":" + id + last;
            (random.nextInt(4) == 0 ? file : lines).add(line);
            if (random.nextInt(40) == 0) {
                poison.add(line);
            }
        }
        comings = new Comings(batching.forget());
        receiver = new Receiving(random, batching, poison, this::dieSoon, comings::handle);
        story.add(definition + ", " + lines.size() + " lines, " + file.size() + " in a file, poison " + poison);
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run it
    ///     again
    public static void run(long seed) {
        run(seed, false);
    }

    /// Runs a seed in which the batches are in the order of keys.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run it
    ///     again
    public static void runByKey(long seed) {
        run(seed, true);
    }

    private static void run(long seed, boolean isByKey) {
        BatchSimulation simulation = new BatchSimulation(seed, isByKey);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "Batches failed with seed " + seed + "; run it again with -Dseed=" + seed + ".\n"
                            + String.join("\n", simulation.story) + "\n" + failure.getMessage(),
                    failure);
        }
    }

    private void run() {
        for (int lives = random.nextInt(LIVES_MAX); lives > 0; lives--) {
            live();
        }
        disk.inject(Faults.none());
        story.add("the last life");
        try (EmbeddedEngine engine = open()) {
            engine.deliver(receiver);
            append(engine, lines.size());
            fold(engine, file.size());
            receiver.failPercent = 0;
            SealedBatches batches = engine.batches();
            batches.seal();
            early++;
            for (int rounds = 0; !batches.summary().isQuiet() || rounds < 3; rounds++) {
                require(rounds < 1_000, "deliveries do not end: " + batches.summary());
                checkpoint(engine);
                engine.deliverDue();
                now = now.plusSeconds(30);
                people(batches);
            }
            check(engine);
        }
    }

    private EmbeddedEngine open() {
        boolean always = random.nextBoolean();
        int shards = random.nextInt(1, 4);
        story.add("life with " + shards + " shards, " + (always ? "checkpoints always" : "few checkpoints"));
        EmbeddedEngine engine = EmbeddedEngine.open(
                disk.getPath("/data/q"),
                pipeline,
                new Settings(
                        shards,
                        0,
                        always ? Duration.ZERO : Duration.ofDays(1),
                        1L << 30,
                        Settings.UNDELIVERED_BYTES_MAX,
                        false,
                        new Settings.Machine(
                                () -> now, random, () -> disk.inject(Faults.none()), SpaceListener.silent())));
        require(engine.acknowledged("lines") >= promised, promised + " lines were promised");
        return engine;
    }

    private void live() {
        if (random.nextInt(3) > 0) {
            int nth = random.nextInt(1, 2 << random.nextInt(2, 9));
            disk.inject(Faults.none().withCrashAtChange(nth));
            story.add("crash at change " + nth);
        } else {
            disk.inject(Faults.none());
        }
        @Nullable EmbeddedEngine engine = null;
        try {
            engine = open();
            engine.deliver(receiver);
            for (int steps = random.nextInt(20); steps > 0; steps--) {
                step(engine);
            }
            if (random.nextBoolean()) {
                engine.close();
                story.add("closed");
            }
        } catch (SimulatedCrash crash) {
            story.add("crashed");
        }
        boolean power = random.nextBoolean();
        disk = power ? disk.crash(random) : disk.kill();
        story.add(power ? "power cut" : "killed");
        if (engine != null) {
            try {
                engine.close(); // Its memory is released; nothing it does reaches the disk any more.
            } catch (SimulatedCrash | EngineException ended) {
                story.add("ended");
            }
        }
    }

    private void dieSoon() {
        disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, 3)));
    }

    private void step(EmbeddedEngine engine) {
        switch (random.nextInt(8)) {
            case 0, 1 ->
                append(engine, (int) Math.min(lines.size(), engine.acknowledged("lines") + random.nextInt(1, 20)));
            case 2 -> fold(engine, random.nextInt(file.size() + 1));
            case 3 -> {
                checkpoint(engine);
                story.add("checkpoint");
            }
            case 4 -> {
                int seconds = random.nextInt(1, waitSecondsMax);
                now = now.plusSeconds(seconds);
                early++;
                story.add(seconds + " s later");
            }
            case 5 -> people(engine.batches());
            case 6 -> {
                if (random.nextInt(4) == 0) {
                    engine.batches().seal();
                    early++;
                    story.add("sealed by hand");
                }
            }
            default -> story.add("delivering: " + engine.deliverDue());
        }
    }

    /// Takes a checkpoint. Ids of batches that were done before may come again from then on.
    private void checkpoint(EmbeddedEngine engine) {
        List<String> over = new ArrayList<>();
        receiver.offered.forEach((number, records) -> {
            if (number.isWhole()
                    && engine.batches()
                            .find(number)
                            .filter(line -> !line.state().equals("done")
                                    && !line.state().equals("discarded"))
                            .isEmpty()) {
                over.addAll(records);
            }
        });
        engine.checkpointNow();
        comings.free(over);
    }

    private void append(EmbeddedEngine engine, int to) {
        int from = (int) engine.acknowledged("lines");
        if (from < to) {
            byte[] bytes = bytes(lines.subList(from, to));
            comings.send(lines.subList(from, to), now);
            promised = engine.append("lines", from + 1L, bytes, bytes.length).acknowledged();
            story.add("lines " + (from + 1) + " to " + to);
        }
    }

    private void fold(EmbeddedEngine engine, int to) {
        long in = engine.progress().stream()
                .filter(source -> source.source().equals("file"))
                .mapToLong(source -> source.records())
                .findFirst()
                .orElse(0);
        int end = (int) Math.max(in, to);
        byte[] bytes = bytes(file.subList(0, end));
        comings.send(file.subList((int) in, end), now);
        engine.fold(new FileSource("file", () -> new ByteArrayInputStream(bytes), false), FoldListener.silent());
        story.add("file to " + end);
    }

    private static byte[] bytes(List<String> records) {
        return records.isEmpty() ? new byte[0] : (String.join("\n", records) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /// A person decides about what waits for one.
    private void people(SealedBatches batches) {
        for (Line line : batches.list(BatchNumber.of(1), 1_000, true)) {
            if (!line.state().equals("in doubt") && !line.state().equals("put aside")) {
                continue;
            }
            List<String> records = receiver.offered.get(line.number());
            if (records != null && line.reason().contains("poison")) {
                discarded.addAll(records);
                records.forEach(comings::handle);
                receiver.order.discarded(records);
                batches.settle(line.number(), Delivery.How.DISCARDED);
            } else {
                released.add(line.number().toString());
                batches.release(line.number());
            }
            story.add("a person decides about " + line.number() + ", which is " + line.state());
        }
    }

    private void check(EmbeddedEngine engine) {
        if (receiver.wrong != null) {
            throw receiver.wrong;
        }
        if (batching.order() == Batching.Order.KEY) {
            receiver.order.check(receiver.offered.entrySet().stream()
                    .filter(each -> each.getKey().isWhole())
                    .map(Map.Entry::getValue)
                    .toList());
        }
        Set<String> distinct = new TreeSet<>(lines);
        distinct.addAll(file);
        Set<String> members = new TreeSet<>();
        long next = 1;
        String previous = "";
        int early = 0;
        for (BatchNumber number : receiver.offered.keySet()) {
            Manifest manifest = receiver.manifests.get(number);
            if (manifest == null) {
                continue;
            }
            if (!number.isWhole()) {
                Manifest whole = receiver.manifests.get(BatchNumber.of(number.number()));
                require(
                        whole != null
                                && manifest.of().equals(whole.sha256())
                                && manifest.previous().equals(whole.previous()),
                        number + " does not name its batch and the one before");
                continue;
            }
            require(number.number() == next++, "numbers are not dense at " + number);
            require(manifest.previous().equals(previous), "the chain breaks at " + number);
            previous = manifest.sha256();
            for (String record : receiver.offered.get(number)) {
                require(members.add(record), record + " is in two batches, the second one is " + number);
            }
            early += receiver.offered.get(number).size() < batching.size() ? 1 : 0;
            require(receiver.offered.get(number).size() <= batching.size(), "too large: " + number);
        }
        require(early <= this.early, early + " batches are not full, and " + this.early + " times one could be sealed");
        if (forgets) {
            require(distinct.containsAll(members), "members are " + members + ", sent were " + distinct);
            comings.check(members);
        } else {
            require(members.equals(distinct), "members are " + members + ", sent were " + distinct);
        }
        require(
                engine.batches().summary().sealed() == next - 1,
                "sealed: " + engine.batches().summary());
        require(engine.counts().accepted() == members.size(), "accepted: " + engine.counts());
        int doubles = lines.size() + file.size() - members.size();
        require(
                engine.counts().duplicate() == doubles && engine.counts().conflicting() == 0,
                engine.counts() + " of " + doubles);
        checkEffects(members);
    }

    private void checkEffects(Set<String> members) {
        Set<String> delivered = new TreeSet<>(receiver.accepted);
        receiver.effects.forEach((number, count) -> {
            delivered.addAll(receiver.offered.get(number));
            boolean isOnce = batching.receiver() == Batching.Receiver.ONCE;
            require(
                    !isOnce || count == 1 || released.contains(number.toString()),
                    number + " had its effect " + count + " times");
        });
        Set<String> missing = new TreeSet<>(members);
        missing.removeAll(delivered);
        missing.removeAll(discarded);
        require(missing.isEmpty(), missing + " were never delivered");
    }
}
