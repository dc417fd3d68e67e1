package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.Deliver.Handover;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.fakes.aws.VirtualTime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;

/// A receiver, and all that it ever got. An effect takes a while and happens whether or not the sender lives.
final class Ledger {
    /// Longer than any request lives.
    static final Duration REQUEST_MAX = Duration.ofSeconds(20);

    private final VirtualTime time;
    private final SplittableRandom random;
    private final boolean isIdempotent;
    private final boolean reportsPartial;
    private double faultChance;

    /// Lines that took effect, by the id of their batch; once for each effect.
    final List<Effect> effects = new ArrayList<>();

    /// What every attempt said of its batch.
    final Map<String, Manifest> manifests = new TreeMap<>();

    /// What was wrong with an attempt.
    final List<String> wrong = new ArrayList<>();

    private final Map<String, Outcome> known = new HashMap<>();

    /// A batch that came in.
    record Effect(Manifest manifest, List<String> lines) {}

    Ledger(VirtualTime time, SplittableRandom random, boolean isIdempotent, boolean reportsPartial) {
        this.time = time;
        this.random = random;
        this.isIdempotent = isIdempotent;
        this.reportsPartial = reportsPartial;
    }

    void faults(double chance) {
        faultChance = chance;
    }

    boolean has(String id) {
        return effects.stream().anyMatch(effect -> effect.manifest.id().equals(id));
    }

    private boolean strikes() {
        return random.nextDouble() < faultChance;
    }

    /// Takes a batch.
    ///
    /// @param pause lets the sender wait; does not return if the sender is dead
    Outcome deliver(Handover handover, Consumer<Duration> pause) {
        Manifest manifest = handover.manifest();
        byte[] content = read(handover);
        check(manifest, content);
        if (strikes()) {
            return new Outcome.NotNow("busy", random.nextBoolean() ? null : Duration.ofSeconds(random.nextInt(90)));
        }
        List<String> lines = new String(content, StandardCharsets.UTF_8).lines().toList();
        Outcome[] answer = new Outcome[1];
        long milliseconds = random.nextLong(strikes() ? REQUEST_MAX.toMillis() : 300);
        boolean isLost = strikes() && random.nextBoolean();
        time.after(Duration.ofMillis(milliseconds), () -> {
            if (!isLost) {
                answer[0] = effect(manifest, lines);
            }
        });
        boolean isImpatient = strikes();
        pause.accept(
                isImpatient
                        ? Duration.ofMillis(random.nextLong(milliseconds + 2))
                        : isLost ? REQUEST_MAX : Duration.ofMillis(milliseconds + 1));
        return answer[0] == null || strikes() ? new Outcome.Unknown("no answer") : answer[0];
    }

    private Outcome effect(Manifest manifest, List<String> lines) {
        Outcome before = known.get(manifest.id());
        if (isIdempotent && before != null) {
            return before;
        }
        if (lines.stream().anyMatch(line -> line.contains("poison"))) {
            return new Outcome.Refused("poison");
        }
        List<String> good = new ArrayList<>(lines);
        List<Outcome.Failed> failed = new ArrayList<>();
        if (reportsPartial && lines.size() > 1 && random.nextInt(4) == 0) {
            int place = random.nextInt(lines.size());
            failed.add(new Outcome.Failed(place, "full"));
            good.remove(place);
        }
        effects.add(new Effect(manifest, good));
        Outcome outcome = failed.isEmpty() ? new Outcome.Done() : new Outcome.Partial(failed);
        known.put(manifest.id(), outcome);
        return outcome;
    }

    private void check(Manifest manifest, byte[] content) {
        Manifest before = manifests.putIfAbsent(manifest.id(), manifest);
        if (before != null && !before.equals(manifest)) {
            wrong.add(manifest.id() + " came as " + before + " and as " + manifest);
        }
        long lines = new String(content, StandardCharsets.UTF_8).lines().count();
        if (lines == 0
                || lines != manifest.records()
                || content.length != manifest.bytes()
                || !Sha256.hex(content).equals(manifest.sha256())) {
            wrong.add(manifest + " came with " + lines + " lines, " + content.length + " bytes, hash "
                    + Sha256.hex(content));
        }
    }

    private static byte[] read(Handover handover) {
        try (InputStream content = handover.content().get()) {
            return content.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
