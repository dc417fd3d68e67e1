package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Batching.Forget;
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
import java.util.regex.MatchResult;
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
    private static final Pattern RECORD = Pattern.compile("\\{\"id\":\"[^}]*}");
    private static final Duration SETTLED = Duration.ofHours(1); // After its effect a delivery is known to be done.

    private final Deployment deployment;
    private final SplittableRandom random;
    private final Work work;
    private final Backups backups;
    private final List<String> lost = new ArrayList<>();
    private final Set<String> before = new TreeSet<>();
    private final List<Kept> kept = new ArrayList<>();
    private Set<String> done = Set.of();
    private int taken;

    /// What a life does meanwhile.
    ///
    /// @param wake lets something happen
    /// @param invoke runs something in a sandbox, which may be killed
    record Work(
            Runnable wake,
            Consumer<Consumer<Store>> invoke,
            Forget forget,
            MessageQueue queue,
            Sent sent,
            Ledger ledger) {}

    /// Records that were there after a restore. What comes again of them is in no batch of its era above the last one
    /// that the command has sealed, but where it is a new record once it is delivered. Those that were done before
    /// the backup are in a batch of that era only if the command has put it in doubt.
    ///
    /// @param doubtful numbers of batches in doubt
    private record Kept(long lastSealed, Set<String> records, Set<String> done, Set<Long> doubtful) {
        boolean allows(String record, BatchNumber number, Forget forget) {
            boolean isNew = number.number() > lastSealed
                    && records.contains(record)
                    && !(forget instanceof Forget.AfterDelivery);
            boolean isUntold = done.contains(record) && !doubtful.contains(number.number());
            return number.number() / ERA != lastSealed / ERA || !isNew && !isUntold;
        }
    }

    BatchRestores(Deployment deployment, SplittableRandom random, Work work) {
        this.deployment = deployment;
        this.random = random;
        this.work = work;
        backups = deployment.dynamo.backups();
    }

    void restore() {
        work.ledger.mayLoseMarks();
        goOn(Backups.SPREAD);
        long askedMs = deployment.time.instant().toEpochMilli();
        done = done(askedMs - SETTLED.toMillis());
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
            this.before.addAll(work.sent.ids().keySet());
        }
    }

    /// Records that were delivered before this moment.
    private Set<String> done(long atMs) {
        Set<String> done = new HashSet<>();
        work.ledger.effects.stream()
                .filter(effect -> effect.atMs() < atMs)
                .flatMap(effect -> effect.lines().stream())
                .map(work.sent::keyOf)
                .filter(record -> !work.sent.isEdit(record))
                .forEach(done::add);
        return done;
    }

    private void takeOver(Store store) {
        BatchesRestored.Looked looked = BatchesRestored.look(store).orElseThrow();
        store.threads().pause(Duration.ofSeconds(random.nextInt(HESITATION_S)));
        BatchesRestored.Report report = BatchesRestored.takeOver(store, looked);
        lost.addAll(report.lost());
        kept.add(kept(report));
        taken++;
    }

    boolean isLost() {
        return !lost.isEmpty();
    }

    private Kept kept(BatchesRestored.Report report) {
        Map<String, Map<String, AttributeValue>> items = new HashMap<>();
        for (Map<String, AttributeValue> item :
                deployment.dynamo.backup(deployment.tables.rows()).items()) {
            items.put(new String(Items.bytes(item, "k"), StandardCharsets.ISO_8859_1).substring(1), item);
        }
        long era = Items.number(Objects.requireNonNull(items.get("cut")), "n") / ERA * ERA;
        Set<String> records = new HashSet<>();
        items.forEach((name, item) -> {
            if (name.startsWith("chunk/") && Long.parseLong(name.split("/", -1)[2]) < era && item.containsKey("d")) {
                RECORD.matcher(new String(Items.bytes(item, "d"), StandardCharsets.UTF_8))
                        .results()
                        .map(MatchResult::group)
                        .map(work.sent::keyOf)
                        .filter(record -> !work.sent.isEdit(record))
                        .forEach(records::add);
            }
        });
        Set<Long> doubtful = new HashSet<>();
        items.forEach((name, item) -> {
            if (name.matches("batch/[0-9]+") && Items.text(item, "y").equals("in-doubt")) {
                doubtful.add(Long.parseLong(name.substring("batch/".length())));
            }
        });
        return new Kept(era + report.sealed(), records, lost.isEmpty() ? done : Set.of(), doubtful);
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
        Map<String, List<String>> records = new HashMap<>(); // In batches, by id.
        for (Ledger.Effect effect : work.ledger.effects) {
            effect.lines().forEach(line -> {
                String record = work.sent.keyOf(line);
                batches.computeIfAbsent(record, _ -> new ArrayList<>())
                        .add(effect.manifest().id());
                records.computeIfAbsent(Judgement.idOf(line), _ -> new ArrayList<>())
                        .add(record);
                require(
                        kept.stream()
                                .allMatch(each ->
                                        each.allows(record, effect.manifest().number(), work.forget)),
                        line + " was there after a restore, and came again: it is in " + batches.get(record));
                require(
                        batches.get(record).size() == 1 || before.contains(record) || work.sent.isEdit(record),
                        line + " is in batches " + batches.get(record));
            });
        }
        kept.stream()
                .flatMap(each -> each.records.stream())
                .forEach(record -> require(
                        batches.containsKey(record)
                                || isPoison(
                                        Objects.requireNonNull(work.sent.ids().get(record))),
                        record + " was there after a restore, and is in no batch"));
        letters();
        require(work.ledger.wrong.isEmpty(), work.ledger.wrong);
        work.sent.ids().forEach((record, id) -> {
            List<String> in = records.getOrDefault(id, List.of());
            boolean isBefore = before.contains(record);
            require(
                    isPoison(id)
                            || work.sent.isEdit(record)
                            || in.stream()
                                    .anyMatch(other -> isBefore
                                            || work.sent.isEdit(other)
                                            || batches.getOrDefault(other, List.of())
                                                            .size()
                                                    > 1
                                            || isFor(other, record))
                            || isBefore && !lost.isEmpty(),
                    record + " of " + id + (isBefore ? ", of before a restore of rows," : "") + " is in no batch, but "
                            + in + "; lost: " + lost);
        });
        List<Manifest> whole = work.ledger.manifests.values().stream()
                .filter(manifest -> manifest.number().isWhole())
                .toList();
        Map<String, Set<Long>> numbers = new HashMap<>(); // What was sealed again may have the content of before.
        whole.forEach(manifest -> numbers.computeIfAbsent(manifest.sha256(), _ -> new HashSet<>())
                .add(manifest.number().number()));
        whole.forEach(manifest -> {
            long number = manifest.number().number();
            Set<Long> previous = numbers.getOrDefault(manifest.previous(), Set.of());
            require(
                    previous.contains(number - 1) || previous.stream().allMatch(other -> other / ERA != number / ERA),
                    manifest + " follows " + previous);
        });
    }

    private boolean isPoison(String id) {
        return Objects.requireNonNull(work.sent.contents.get(id)).stream().anyMatch(line -> line.contains("poison"));
    }

    private boolean isFor(String in, String record) {
        return work.forget instanceof Forget.Never || Judgement.isFor(work.forget, told(in), told(record));
    }

    private Sent.Told told(String message) {
        return Objects.requireNonNull(work.sent.messages.get(Integer.valueOf(message)));
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
        if (!(work.forget instanceof Forget.Never)) {
            return; // Contents are not compared where ids are forgotten.
        }
        work.sent.contents.forEach((id, contents) -> contents.forEach(line -> require(
                known.contains(line)
                        || line.contains("poison")
                        || before.contains(id) && (!lost.isEmpty() || work.ledger.isDirect()),
                line + " is neither in a batch nor a letter")));
    }

    private static void require(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
