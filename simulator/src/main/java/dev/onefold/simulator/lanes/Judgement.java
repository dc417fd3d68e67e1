package dev.onefold.simulator.lanes;

import dev.onefold.aws.letter.LetterTable;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.simulator.deployment.Deployment;
import java.util.ArrayList;
import java.util.Collections;
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
        Map<String, String> delivered = members();
        chain();
        count(delivered.size());
        order();
        letters();
    }

    private static void require(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static String idOf(String line) {
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
        long expected = sent.contents.values().stream()
                .mapToLong(contents -> contents.size() - 1)
                .sum();
        require(conflicts == expected, conflicts + " conflicts are kept, and there are " + expected);
        long bad = letters.size() - conflicts + sent.edits.size();
        require(bad == sent.bad, bad + " bad bodies of " + sent.bad);
    }
}
