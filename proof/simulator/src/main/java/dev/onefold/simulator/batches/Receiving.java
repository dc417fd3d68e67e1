package dev.onefold.simulator.batches;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Receiver;
import dev.onefold.embedded.delivery.Carrier;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/// A receiver that fails, is late, answers twice and dies between its effect and its answer. It keeps what it
/// got for ever: the oracle sees nothing else.
final class Receiving implements Carrier {
    private final RandomGenerator random;
    private final Receiver kind;
    private final boolean isCompressed;
    private final Set<String> poison;
    private final Runnable die;
    private final Consumer<String> handled;

    /// The lines that were offered under a number, at whatever attempt.
    final SortedMap<BatchNumber, List<String>> offered = new TreeMap<>();

    /// Numbers whose effect has happened, and how often.
    final SortedMap<BatchNumber, Integer> effects = new TreeMap<>();

    /// The manifest of each number.
    final SortedMap<BatchNumber, Manifest> manifests = new TreeMap<>();

    /// The order in which records came.
    final KeyOrder order = new KeyOrder();

    private final boolean isByKey;
    private final Map<BatchNumber, byte[]> contents = new HashMap<>();
    int failPercent = 40;

    /// What was wrong with a batch that was offered; `null` if nothing was.
    @Nullable
    AssertionError wrong;

    /// @param poison records that are refused for ever
    /// @param die lets the process end at its next change of the disk
    /// @param handled receives each record that the receiver says it has taken
    Receiving(RandomGenerator random, Batching batching, Set<String> poison, Runnable die, Consumer<String> handled) {
        this.random = random;
        kind = batching.receiver();
        isByKey = batching.order() == Batching.Order.KEY;
        isCompressed = batching.deliver().compression() != Batching.Compression.NONE;
        this.poison = poison;
        this.die = die;
        this.handled = handled;
    }

    @Override
    public Outcome deliver(Manifest manifest, int attempt, Content content) {
        List<String> lines;
        try {
            lines = take(manifest, content);
        } catch (AssertionError e) { // The engine takes whatever a receiver throws for a failure.
            wrong = e;
            return new Outcome.Done();
        }
        order.handedOver(lines);
        if (lines.stream().anyMatch(poison::contains)) {
            return new Outcome.Refused("poison");
        }
        if (random.nextInt(100) >= failPercent) {
            return done(manifest.number());
        }
        return switch (random.nextInt(6)) {
            case 0 ->
                new Outcome.NotNow("busy", random.nextBoolean() ? null : Duration.ofSeconds(random.nextInt(1, 90)));
            case 1 -> new Outcome.Unknown("no answer");
            case 2 -> {
                effects.merge(manifest.number(), 1, Integer::sum);
                order.effect(lines);
                yield new Outcome.Unknown("the answer was lost");
            }
            case 3 -> {
                die.run();
                yield done(manifest.number());
            }
            case 4 -> kind == Receiver.IDEMPOTENT && lines.size() > 1 ? partial(lines) : done(manifest.number());
            default -> throw new IllegalStateException("the receiver broke");
        };
    }

    private Outcome done(BatchNumber number) {
        effects.merge(number, 1, Integer::sum);
        Objects.requireNonNull(offered.get(number)).forEach(handled);
        order.effect(Objects.requireNonNull(offered.get(number)));
        return new Outcome.Done();
    }

    private Outcome partial(List<String> lines) {
        List<Outcome.Failed> failed = new ArrayList<>();
        List<String> taken = new ArrayList<>();
        Set<String> failing = new TreeSet<>(); // With a record, the later ones of its key.
        for (int i = 0; i < lines.size(); i++) {
            if (random.nextBoolean() || isByKey && failing.contains(KeyOrder.key(lines.get(i)))) {
                failed.add(new Outcome.Failed(i, "not this one"));
                failing.add(KeyOrder.key(lines.get(i)));
            } else {
                taken.add(lines.get(i));
                accepted.add(lines.get(i));
                handled.accept(lines.get(i));
            }
        }
        if (failed.isEmpty()) {
            int place = isByKey ? lines.size() - 1 : 0;
            failed.add(new Outcome.Failed(place, "not this one"));
            accepted.remove(lines.get(place));
            taken.remove(lines.get(place));
        }
        order.effect(taken);
        return new Outcome.Partial(failed);
    }

    /// Records of batches that were taken in part.
    final Set<String> accepted = new TreeSet<>();

    private List<String> take(Manifest manifest, Content content) {
        try {
            byte[] bytes = content.open().readAllBytes();
            require(HexFormat.of().formatHex(Sha256.of(bytes)).equals(manifest.sha256()), "SHA-256 of " + manifest);
            require(bytes.length == manifest.bytes(), "bytes of " + manifest);
            try (InputStream in = isCompressed
                    ? new GZIPInputStream(new ByteArrayInputStream(bytes))
                    : new ByteArrayInputStream(bytes)) {
                List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList();
                require(lines.size() == manifest.records() && !lines.isEmpty(), "records of " + manifest);
                byte[] before = contents.putIfAbsent(manifest.number(), bytes);
                require(before == null || Arrays.equals(before, bytes), "another content of " + manifest);
                Manifest known = manifests.putIfAbsent(manifest.number(), manifest);
                require(known == null || known.equals(manifest), known + " was before " + manifest);
                offered.put(manifest.number(), lines);
                return lines;
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("Wrong: " + what);
        }
    }
}
