package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.event.Reason;
import dev.onefold.fakes.aws.table.Backups;
import dev.onefold.fakes.aws.table.Tables.Backup;
import dev.onefold.simulator.deployment.Deployment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Somebody restores some tables of a deployment of batches from backups that lose and age single items,
/// or none of them, while messages come and batches are delivered; runs `aws restored`, several times at once,
/// until one comes to its end; and sends again the messages that were taken since a minute before the backup, and
/// all letters that were redriven.
final class BatchRestores {
    private static final Duration TAKES = Duration.ofMinutes(5);
    private static final int TRIES_MAX = 60;
    private static final int HESITATION_S = 90;
    private static final int LETTERS_MAX = 10_000;
    private static final long ERA = 1_000_000_000; // Numbers of batches and chunks between two restores.
    private static final Pattern ID = Pattern.compile("\\{\"id\":\"([^\"]*)\"");

    private final Deployment deployment;
    private final SplittableRandom random;
    private final Work work;
    private final Backups backups;
    private final List<String> lost = new ArrayList<>();
    private final Set<String> before = new TreeSet<>();
    private final List<Kept> kept = new ArrayList<>();
    private int taken;

    /// What a life does meanwhile.
    ///
    /// @param wake lets something happen
    /// @param invoke runs something in a sandbox, which may be killed
    record Work(Runnable wake, Consumer<Consumer<Store>> invoke, MessageQueue queue, Sent sent, Ledger ledger) {}

    /// Records that were there after a restore. What comes again of them is in no batch of its era above the last one
    /// that the command has sealed.
    private record Kept(long lastSealed, Set<String> ids) {
        boolean allows(String id, BatchNumber number) {
            boolean isOfEra = number.number() / ERA == lastSealed / ERA;
            return !ids.contains(id) || !isOfEra || number.number() <= lastSealed;
        }
    }

    BatchRestores(Deployment deployment, SplittableRandom random, Work work) {
        this.deployment = deployment;
        this.random = random;
        this.work = work;
        backups = deployment.dynamo.backups();
    }

    void restore() {
        goOn(Backups.SPREAD);
        long askedMs = deployment.time.instant().toEpochMilli();
        goOn(Backups.SPREAD);
        List<Backup> chosen = chosen();
        goOn(Duration.ofSeconds(random.nextInt(90)));
        chosen.forEach(backup -> deployment.dynamo.restore(backup, TAKES));
        goOn(TAKES.plusSeconds(30));
        boolean isLive = chosen.stream().noneMatch(backup -> backup.table().equals(deployment.tables.rows()));
        int before = taken;
        for (int tries = 0; taken == before; tries++) {
            if (tries == TRIES_MAX) {
                throw new AssertionError("Tables were not taken over in " + TRIES_MAX + " tries");
            }
            for (int people = 1 + random.nextInt(3); people > 0; people--) {
                work.invoke.accept(this::takeOver);
            }
            goOn(Duration.ofSeconds(1 + random.nextInt(300)));
        }
        work.queue.again(askedMs - Backups.SPREAD.toMillis());
        long nowMs = deployment.time.instant().toEpochMilli();
        work.sent.edits.values().forEach(line -> work.queue.send(_ -> line, nowMs));
        if (!isLive) {
            this.before.addAll(work.sent.contents.keySet());
        }
    }

    private void takeOver(Store store) {
        BatchesRestored.Looked looked = BatchesRestored.look(store).orElseThrow();
        store.threads().pause(Duration.ofSeconds(random.nextInt(HESITATION_S)));
        BatchesRestored.Report report = BatchesRestored.takeOver(store, looked);
        lost.addAll(report.lost());
        kept.add(kept(report.sealed()));
        taken++;
    }

    private Kept kept(int sealed) {
        Map<String, Map<String, AttributeValue>> items = new HashMap<>();
        for (Map<String, AttributeValue> item :
                deployment.dynamo.backup(deployment.tables.rows()).items()) {
            items.put(new String(Items.bytes(item, "k"), StandardCharsets.ISO_8859_1).substring(1), item);
        }
        long era = Items.number(Objects.requireNonNull(items.get("cut")), "n") / ERA * ERA;
        Set<String> ids = new HashSet<>();
        items.forEach((name, item) -> {
            if (name.startsWith("chunk/") && Long.parseLong(name.split("/", -1)[2]) < era && item.containsKey("d")) {
                Matcher matcher = ID.matcher(new String(Items.bytes(item, "d"), StandardCharsets.UTF_8));
                while (matcher.find()) {
                    ids.add(matcher.group(1));
                }
            }
        });
        return new Kept(era + sealed, ids);
    }

    private void goOn(Duration duration) {
        for (int step = 0; step < 4; step++) {
            work.wake.run();
            deployment.time.runFor(duration.dividedBy(4));
        }
    }

    private List<Backup> chosen() {
        int mode = random.nextInt(6);
        List<Backup> chosen = new ArrayList<>();
        if (mode > 0 && mode < 4) {
            chosen.add(backups.get(deployment.tables.rows()));
        }
        if (mode < 2) {
            chosen.add(backups.get(deployment.tables.deltas()));
        }
        if (random.nextBoolean()) {
            chosen.add(backups.get(deployment.tables.letters()));
        }
        return chosen;
    }

    /// Each message is in exactly one batch. Those that came before a restore of the table of rows are in one or
    /// several, unless the command has said that something is not there. If a restore has left them, they are in
    /// no other batch when they come again. Each content that is in no batch is a dead letter. No number has two
    /// contents, which the ledger sees.
    void judge() {
        Map<String, List<String>> batches = new HashMap<>();
        for (Ledger.Effect effect : work.ledger.effects) {
            effect.lines().forEach(line -> {
                String id = Judgement.idOf(line);
                batches.computeIfAbsent(id, _ -> new ArrayList<>())
                        .add(effect.manifest().id());
                require(
                        kept.stream()
                                .allMatch(each ->
                                        each.allows(id, effect.manifest().number())),
                        id + " was there after a restore, and came again: it is in " + batches.get(id));
            });
        }
        letters();
        require(work.ledger.wrong.isEmpty(), work.ledger.wrong);
        work.sent.contents.forEach((id, contents) -> {
            List<String> in = batches.getOrDefault(id, List.of());
            if (contents.stream().anyMatch(line -> line.contains("poison"))) {
                return;
            }
            require(
                    before.contains(id) ? !in.isEmpty() || !lost.isEmpty() : in.size() == 1,
                    id + (before.contains(id) ? ", of before a restore of rows," : "") + " is in batches " + in
                            + "; lost: " + lost);
        });
        List<Manifest> whole = work.ledger.manifests.values().stream()
                .filter(manifest -> manifest.number().isWhole())
                .toList();
        Map<String, Set<Long>> numbers = new HashMap<>(); // What was sealed again may have the content of before.
        whole.forEach(manifest -> numbers.computeIfAbsent(manifest.sha256(), _ -> new HashSet<>())
                .add(manifest.number().number()));
        whole.forEach(manifest -> {
            Set<Long> previous = numbers.getOrDefault(manifest.previous(), Set.of());
            require(
                    previous.isEmpty() || previous.contains(manifest.number().number() - 1),
                    manifest + " follows " + previous);
        });
    }

    private void letters() {
        LetterTable table = new LetterTable(deployment.process(deployment.dynamo.client("judge")));
        Set<String> known = new HashSet<>();
        work.ledger.effects.forEach(effect -> known.addAll(effect.lines()));
        int bad = work.sent.edits.size();
        for (DeadLetter letter : table.list(0, LETTERS_MAX)) {
            if (letter.reason() == Reason.CONFLICT) {
                byte[] data = Objects.requireNonNull(table.arrival(letter.id())).data();
                known.add(new String(data, StandardCharsets.UTF_8));
            } else {
                bad++;
            }
        }
        require(bad >= work.sent.bad, bad + " bad bodies of " + work.sent.bad);
        work.sent.contents.forEach((id, contents) -> contents.forEach(line -> require(
                known.contains(line) || line.contains("poison") || before.contains(id) && !lost.isEmpty(),
                line + " is neither in a batch nor a letter")));
    }

    private static void require(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
