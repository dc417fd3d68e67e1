package dev.onefold.simulator.lanes;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.simulator.deployment.Deployment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// Compares what a receiver got, and which letters were kept, with what was sent. It knows nothing of lanes, claims and
/// states.
record Judgement(Deployment deployment, Batching batching, Sent sent, Ledger ledger) {
    private static final int LETTERS_MAX = 10_000;
    private static final long SKEW_MS = 10_000;

    void judge() {
        require(ledger.wrong.isEmpty(), ledger.wrong);
        if (batching.direct()) {
            require(members().size() == sent.contents.size(), "Some records are in no batch");
            letters();
            return;
        }
        chain();
        order();
        if (batching.forget() instanceof Forget.Never) {
            count(members().size());
        } else {
            forgotten();
        }
        letters();
    }

    /// Each message is in one batch at most, also if it comes again when its id is forgotten; and an id that is
    /// forgotten is in another batch when it comes in another message.
    private void forgotten() {
        Map<Integer, Ledger.Effect> batches = new HashMap<>();
        Map<String, List<Integer>> byId = new TreeMap<>();
        for (Ledger.Effect effect : ledger.effects) {
            for (String line : effect.lines()) {
                int message = Sent.numberOf(line);
                Ledger.Effect before = batches.put(message, effect);
                require(before == null, line + " is in " + before + " and in " + effect);
                byId.computeIfAbsent(idOf(line), _ -> new ArrayList<>()).add(message);
            }
        }
        if (batching.forget() instanceof Forget.After(Duration span)) {
            afterATime(byId, span.toMillis());
        } else {
            afterDelivery(byId, batches);
        }
    }

    /// Whether a message that is in a batch is there for another one with its id, too.
    static boolean isFor(Forget forget, Sent.Told in, Sent.Told other) {
        return switch (forget) {
            case Forget.Never _ -> true;
            case Forget.After(Duration span) -> other.sentMs() - in.sentMs() <= span.toMillis();
            case Forget.AfterDelivery _ -> in.phase() == other.phase();
        };
    }

    private Sent.Told told(int message) {
        return Objects.requireNonNull(sent.messages.get(message), () -> "Nobody sent " + message);
    }

    private void afterATime(Map<String, List<Integer>> byId, long spanMs) {
        byId.forEach((id, messages) -> {
            List<Long> times = messages.stream()
                    .map(message -> told(message).sentMs())
                    .sorted()
                    .toList();
            for (int i = 1; i < times.size(); i++) {
                require(times.get(i) - times.get(i - 1) > spanMs, id + " is in batches with the times " + times);
            }
        });
        sent.messages.forEach((number, told) -> require(
                byId.getOrDefault(told.id(), List.of()).stream()
                        .anyMatch(message -> isFor(batching.forget(), told(message), told)),
                "Message " + number + " is in no batch: " + told));
    }

    private void afterDelivery(Map<String, List<Integer>> byId, Map<Integer, Ledger.Effect> batches) {
        byId.forEach((id, messages) -> {
            List<Ledger.Effect> effects = messages.stream()
                    .map(message -> Objects.requireNonNull(batches.get(message)))
                    .sorted(Comparator.comparing(effect -> effect.manifest().number()))
                    .toList();
            for (int i = 1; i < effects.size(); i++) {
                require(
                        effects.get(i).manifest().sealed().toEpochMilli() + SKEW_MS
                                > effects.get(i - 1).atMs(),
                        id + " came again before it was delivered: " + effects);
            }
        });
        sent.messages.forEach((number, told) -> require(
                byId.getOrDefault(told.id(), List.of()).stream()
                        .anyMatch(message -> isFor(batching.forget(), told(message), told)),
                "Message " + number + " is in no batch: " + told));
    }

    /// All batches but one are gone, with the items that only they need. Where ids are forgotten after delivery, no
    /// claim is left, and of marks only those that have not expired.
    ///
    /// @param isLost whether a restore has named records that are not there; with `once` their ids stay known
    void freed(boolean isLost) {
        boolean keepsClaims = !(batching.forget() instanceof Forget.AfterDelivery)
                || isLost && batching.receiver() == Batching.Receiver.ONCE;
        var scan = deployment.of(
                deployment.dynamo.client("judge").scan(request -> request.tableName(deployment.tables.rows())));
        Map<Long, Long> left = new TreeMap<>(); // By number, the records of batches.
        for (var item : scan.items()) {
            byte[] key = Objects.requireNonNull(item.get("k")).b().asByteArray();
            String name = new String(key, 1, key.length - 1, StandardCharsets.UTF_8);
            boolean isOther = key[0] == 0;
            if (isOther && name.startsWith("batch/")) {
                long number = Long.parseLong(name.substring("batch/".length()).replaceFirst("\\..*", ""));
                left.merge(number, item.containsKey("r") ? Items.number(item, "r") : 0L, Math::max); // Parts have none.
            }
            require(isOther || keepsClaims || !item.containsKey("h"), "A claim is left: " + item);
        }
        require(left.size() <= 1, "Batches are left: " + left);
        long chunks = scan.items().stream()
                .filter(item -> item.containsKey("z") && item.containsKey("t")) // Chunks.
                .count();
        long records = left.values().stream().mapToLong(count -> count).sum();
        require(chunks <= records, chunks + " chunks are left, and the last batch has " + records + " records");
    }

    private static void require(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static String idOf(String line) {
        return line.substring(7, line.indexOf('"', 7));
    }

    /// Each distinct message in one batch, but for poison records and those of a deadly batch, which are in none.
    private Map<String, String> members() {
        Map<String, String> delivered = new HashMap<>();
        for (Ledger.Effect effect : ledger.effects) {
            for (String line : effect.lines()) {
                String before = delivered.put(idOf(line), effect.manifest().id());
                require(
                        before == null,
                        line + " is in " + before + " and in "
                                + effect.manifest().id());
                require(sent.contents.getOrDefault(idOf(line), Sent.NONE).contains(line), "Nobody sent " + line);
            }
        }
        sent.contents.forEach((id, contents) -> require(
                delivered.containsKey(id)
                        || contents.stream().anyMatch(line -> line.contains("poison") || ledger.deadly.contains(line)),
                id + " is in no batch"));
        return delivered;
    }

    /// Numbers are dense, and each manifest names its predecessor's hash.
    private void chain() {
        Map<Long, Manifest> whole = new TreeMap<>();
        ledger.manifests.values().stream()
                .filter(manifest -> manifest.number().isWhole())
                .forEach(manifest -> whole.put(manifest.number().number(), manifest));
        String previous = "";
        long number = 0;
        for (Manifest manifest : whole.values()) {
            require(manifest.number().number() == ++number, "There is no batch " + number);
            require(manifest.previous().equals(previous), manifest + " does not follow " + previous);
            require(manifest.records() > 0 && manifest.records() <= batching.size(), manifest);
            require(manifest.bytes() <= Math.max(batching.bytes(), 1_000), manifest);
            previous = manifest.sha256();
        }
        ledger.manifests.values().stream()
                .filter(manifest -> !manifest.number().isWhole())
                .forEach(part -> {
                    Manifest batch =
                            Objects.requireNonNull(whole.get(part.number().number()));
                    require(part.of().equals(batch.sha256()), part + " is part of another batch");
                    require(part.previous().equals(batch.previous()), part + " names another batch before");
                });
    }

    /// A burst that is all there before the wait ends makes as few batches as can be.
    private void count(int members) {
        long batches = ledger.manifests.values().stream()
                .filter(manifest -> manifest.number().isWhole())
                .count();
        long records = ledger.manifests.values().stream()
                .filter(manifest -> manifest.number().isWhole())
                .mapToLong(Manifest::records)
                .sum();
        require(records == sent.contents.size(), records + " records of " + sent.contents.size() + " are in batches");
        boolean isInTime = sent.edits.isEmpty()
                && sent.takenMs + SKEW_MS < sent.firstMs + batching.waitMax().toMillis();
        boolean isByBytes = batching.bytes() < Batching.BYTES_DEFAULT;
        if (isInTime && !isByBytes) {
            require(
                    batches == Math.ceilDiv(records, batching.size()),
                    batches + " batches of " + batching.size() + " for " + members + " messages");
        }
    }

    private void order() {
        if (batching.order() != Order.STRICT) {
            return;
        }
        List<Long> numbers = new ArrayList<>(ledger.effects.stream()
                .map(effect -> effect.manifest().number().number())
                .toList());
        List<Long> sorted = new ArrayList<>(numbers);
        Collections.sort(sorted);
        require(numbers.equals(sorted), "Batches came in the order " + numbers);
    }

    private void letters() {
        var letters = new LetterTable(deployment.process(deployment.dynamo.client("judge"))).list(0, LETTERS_MAX);
        long conflicts = letters.stream()
                .filter(letter -> letter.reason() == Reason.CONFLICT)
                .count();
        long expected = batching.forget() instanceof Forget.Never
                ? sent.contents.values().stream()
                        .mapToLong(contents -> contents.size() - 1)
                        .sum()
                : 0;
        require(conflicts == expected, conflicts + " conflicts are kept, and there are " + expected);
        long bad = letters.size() - conflicts + sent.edits.size();
        require(bad == sent.bad, bad + " bad bodies of " + sent.bad);
    }
}
