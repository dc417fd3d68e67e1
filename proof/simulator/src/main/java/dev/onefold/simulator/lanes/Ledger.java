package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.Deliver.Handover;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.fakes.aws.VirtualTime;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;

/// A receiver, and all that it ever got. An effect takes a while and happens whether or not the sender lives.
final class Ledger {
    /// Longer than any request lives.
    static final Duration REQUEST_MAX = Duration.ofSeconds(20);

    /// No record begins with it.
    private static final byte GZIP_BEGIN = 0x1f;

    private final VirtualTime time;
    private final SplittableRandom random;
    private final boolean isIdempotent;
    private final boolean reportsPartial;
    private final boolean isDirect;
    private double faultChance;

    /// Lines that took effect, by the id of their batch; once for each effect.
    final List<Effect> effects = new ArrayList<>();

    /// What every attempt said of its batch.
    final Map<String, Manifest> manifests = new TreeMap<>();

    /// What was wrong with an attempt.
    final List<String> wrong = new ArrayList<>();

    /// Records of a batch that ends each invocation that delivers it.
    final Set<String> deadly = new TreeSet<>();

    private final Map<String, Outcome> known = new HashMap<>();
    private final Map<Object, Integer> underWay = new HashMap<>();
    private long deadlyNumber;
    private int deaths;
    private int concurrencyMax = Integer.MAX_VALUE;
    private boolean mayLoseMarks;

    /// A batch that came in.
    ///
    /// @param atMs when it took effect
    record Effect(Manifest manifest, List<String> lines, long atMs) {}

    /// @param isDirect whether its batches are named by the ids of their records, and not by numbers
    Ledger(VirtualTime time, SplittableRandom random, boolean isIdempotent, boolean reportsPartial, boolean isDirect) {
        this.isDirect = isDirect;
        this.time = time;
        this.random = random;
        this.isIdempotent = isIdempotent;
        this.reportsPartial = reportsPartial;
    }

    void faults(double chance) {
        faultChance = chance;
    }

    /// Lets a batch end each invocation that delivers it, before it has any effect.
    void deadly(long number) {
        deadlyNumber = number;
    }

    /// Takes it for wrong if more attempts are under way than this.
    void concurrencyMax(int count) {
        concurrencyMax = count;
    }

    /// After a restore a direct record whose mark is lost may come with another content: that is a conflict.
    void mayLoseMarks() {
        mayLoseMarks = true;
    }

    boolean isDirect() {
        return isDirect;
    }

    boolean isDeadly(BatchNumber number) {
        return number.number() == deadlyNumber;
    }

    /// How often something has happened.
    int happened() {
        return effects.size() + deaths;
    }

    /// Whether all of a batch is in.
    boolean has(String id) {
        return known.get(id) instanceof Outcome.Done;
    }

    private boolean strikes() {
        return random.nextDouble() < faultChance;
    }

    /// An invocation that delivers.
    ///
    /// @param pause lets it wait; does not return if it is dead
    /// @param die ends it
    record Sender(Consumer<Duration> pause, Runnable die) {}

    /// Takes a batch.
    Outcome deliver(Handover handover, Sender sender) {
        Manifest manifest = handover.manifest();
        byte[] content = read(handover);
        String text = text(content);
        check(manifest, content, text);
        if (isDeadly(manifest.number())) {
            text.lines().forEach(deadly::add);
            die(manifest, sender);
        }
        if (strikes()) {
            return new Outcome.NotNow("busy", random.nextBoolean() ? null : Duration.ofSeconds(random.nextInt(90)));
        }
        List<String> lines = text.lines().toList();
        Outcome[] answer = new Outcome[1];
        long milliseconds = random.nextLong(strikes() ? REQUEST_MAX.toMillis() : 300);
        boolean isLost = strikes() && random.nextBoolean();
        time.after(Duration.ofMillis(milliseconds), () -> {
            if (!isLost) {
                answer[0] = effect(manifest, lines);
            }
        });
        boolean isImpatient = strikes();
        Duration patience = isImpatient
                ? Duration.ofMillis(random.nextLong(milliseconds + 2))
                : isLost ? REQUEST_MAX : Duration.ofMillis(milliseconds + 1);
        begin(manifest, sender);
        time.after(patience, () -> underWay.merge(sender.die, -1, Integer::sum));
        sender.pause.accept(patience);
        return answer[0] == null || strikes() ? new Outcome.Unknown("no answer") : answer[0];
    }

    private void begin(Manifest manifest, Sender sender) {
        underWay.merge(sender.die, 1, Integer::sum);
        int all = underWay.values().stream().mapToInt(count -> count).sum();
        if (all > concurrencyMax) {
            wrong.add(manifest.id() + " is one of " + all + " batches at the same time");
        }
    }

    /// Its first death may take neighbours along, and no other one.
    private void die(Manifest manifest, Sender sender) {
        if (underWay.getOrDefault(sender.die, 0) > 0 && deaths > 0) {
            wrong.add(manifest.id() + " has ended its invocation with " + underWay.get(sender.die)
                    + " other batches for the second time");
        }
        deaths++;
        sender.die.run();
        sender.pause.accept(Duration.ofMillis(1));
    }

    private Outcome effect(Manifest manifest, List<String> lines) {
        Outcome before = known.get(manifest.id());
        if (isIdempotent && before != null) {
            Manifest first = manifests.get(manifest.id());
            return isDirect && first != null && !first.sha256().equals(manifest.sha256())
                    ? new Outcome.Conflict("another content")
                    : before;
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
        effects.add(new Effect(manifest, good, time.instant().toEpochMilli()));
        Outcome outcome = failed.isEmpty() ? new Outcome.Done() : new Outcome.Partial(failed);
        known.put(manifest.id(), outcome);
        return outcome;
    }

    /// The records, also of a content that is compressed.
    private static String text(byte[] content) {
        if (content.length == 0 || content[0] != GZIP_BEGIN) {
            return new String(content, StandardCharsets.UTF_8);
        }
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(content))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void check(Manifest manifest, byte[] content, String text) {
        Manifest before = manifests.putIfAbsent(manifest.id(), manifest);
        // The times of a direct record are those of the message that brought it, and not of another one that did.
        boolean isSame =
                before == null || (isDirect ? before.sha256().equals(manifest.sha256()) : before.equals(manifest));
        if (!isSame && !(isDirect && mayLoseMarks)) {
            wrong.add(manifest.id() + " came as " + before + " and as " + manifest);
        }
        long lines = text.lines().count();
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
