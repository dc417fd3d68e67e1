package dev.onefold.load;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/// The messages of a trade-risk system: new trades, corrections of value and hierarchy, duplicates, late versions,
/// deletes and garbage, in shares that a [TradeRiskMix] says. Equal mix, number and seed give equal bytes, however
/// they are fetched.
///
/// It keeps eight bytes per trade, its newest state, and from that tells at any moment the totals that are right for
/// what it has written so far. Values are whole cents. Not thread-safe.
///
/// ```java
/// var load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, 10_000_000, 42);
/// while (load.write(out, 10_000) > 0) { … }
/// TradeRiskTotals right = load.totals();
/// ```
public final class TradeRiskLoad implements Load {
    public static final long MESSAGES_MAX = 2_000_000_000L;

    /// The pipeline that folds these messages where none of them deletes, as the JSON text of a pipeline file.
    public static final String PIPELINE = """
            {
              "pipeline": "trade-risk",
              "input": {"key": "TradeID", "version": "Version", "time": "Timestamp"},
              "rollup": {
                "levels": ["Hierarchy.RiskType", "Hierarchy.TradeDesk", "Hierarchy.Region"],
                "measures": {"value": "sum(Value) decimal(18,2)", "trades": "count()"}
              }
            }
            """;

    private static final int VALUE_CENTS_MAX = 10_000_000;

    private final TradeRiskMix mix;
    private final long messages;
    private final long seed;
    private final Dice dice;
    private final int skippedWhenNew;
    private final int skippedWhenChanged;

    private final MessageBuffer buffer = new MessageBuffer();
    private final TradeMessages writer;
    private final TradeBook trades = new TradeBook();
    private final RecentMessages recent = new RecentMessages();
    private final SkippedVersions skipped = new SkippedVersions();

    private long composed;
    private long bytes;
    private long newTrades;
    private long corrections;
    private long reinserts;
    private long duplicates;
    private long duplicatesOfOld;
    private long late;
    private long deletes;
    private long malformed;

    public TradeRiskLoad(TradeRiskMix mix, long messages, long seed) {
        if (messages < 0 || messages > MESSAGES_MAX) {
            throw new IllegalArgumentException(
                    "%,d messages are asked for; from 0 to %,d can be made.".formatted(messages, MESSAGES_MAX));
        }
        this.mix = mix;
        this.messages = messages;
        this.seed = seed;
        dice = new Dice(seed);
        writer = new TradeMessages(buffer, dice, seed);
        skippedWhenNew = mix.skippedWhenNew();
        skippedWhenChanged = mix.skippedWhenChanged();
    }

    @Override
    public long remaining() {
        return messages - composed;
    }

    @Override
    public long write(OutputStream out, long messagesMax) throws IOException {
        long before = composed;
        bytes += buffer.write(out, Math.min(messagesMax, remaining()), this::compose);
        return composed - before;
    }

    private void compose() {
        int choice = dice.below(Dice.MILLION);
        if ((choice -= mix.malformed()) < 0) {
            malformed();
        } else if (trades.size() == 0) {
            newTrade();
        } else if ((choice -= mix.corrections()) < 0) {
            correct(dice.chance(skippedWhenChanged));
        } else if ((choice -= mix.duplicates()) < 0) {
            duplicate();
        } else if ((choice -= mix.late()) < 0) {
            late();
        } else if (choice - mix.deletes() < 0) {
            delete();
        } else {
            newTrade();
        }
        composed++;
    }

    private void newTrade() {
        int trade = trades.size();
        int version = versionAfter(trade, -1, dice.chance(skippedWhenNew));
        int cents = value();
        int leaf = leaf();
        trades.add(version, cents, leaf);
        remember(trade, version, cents, leaf);
        newTrades++;
    }

    private void correct(boolean skips) {
        int trade = dice.below(trades.size());
        int version = versionAfter(trade, trades.version(trade), skips);
        int cents = value();
        int leaf = leaf();
        if (trades.leaf(trade) == TradeBook.DELETED) {
            reinserts++;
        } else {
            corrections++;
        }
        trades.set(trade, version, cents, leaf);
        remember(trade, version, cents, leaf);
    }

    private void delete() {
        int trade = dice.below(trades.size());
        int version = versionAfter(trade, trades.version(trade), dice.chance(skippedWhenChanged));
        trades.set(trade, version, 0, TradeBook.DELETED);
        int start = buffer.position();
        writer.delete(trade, version, composed);
        recent.add(buffer, start, trade, version);
        deletes++;
    }

    private void duplicate() {
        int slot = recent.pick(dice);
        int trade = recent.trade(slot);
        int version = recent.version(slot);
        int start = buffer.position();
        recent.appendTo(buffer, slot);
        recent.add(buffer, start, trade, version);
        duplicates++;
        if (version < trades.version(trade)) {
            duplicatesOfOld++;
        }
    }

    /// Sends a version that was skipped. Where none is left it sends a newer one instead, which leaves one for later.
    private void late() {
        if (skipped.isEmpty()) {
            if (mix.corrections() > 0) {
                correct(true);
            } else {
                newTrade();
            }
            return;
        }
        SkippedVersions.Skipped taken = skipped.take(dice);
        remember(taken.trade(), taken.version(), value(), leaf());
        late++;
    }

    private void malformed() {
        writer.malformed(trades.size() + dice.below(Dice.MILLION), value(), leaf(), composed);
        malformed++;
    }

    private void remember(int trade, int version, int cents, int leaf) {
        int start = buffer.position();
        writer.trade(trade, version, cents, leaf, composed);
        recent.add(buffer, start, trade, version);
    }

    private int versionAfter(int trade, int version, boolean skips) {
        if (skips && !skipped.isFull()) {
            skipped.add(trade, version + 1);
            return version + 2;
        }
        return version + 1;
    }

    private int value() {
        return dice.below(VALUE_CENTS_MAX + 1);
    }

    private int leaf() {
        return dice.below(TradeMessages.LEAVES);
    }

    /// The right totals for the messages written so far. Looks at every trade.
    public TradeRiskTotals totals() {
        long[] cents = new long[TradeMessages.LEAVES];
        long[] counts = new long[TradeMessages.LEAVES];
        for (int trade = 0; trade < trades.size(); trade++) {
            int leaf = trades.leaf(trade);
            if (leaf != TradeBook.DELETED) {
                cents[leaf] = Math.addExact(cents[leaf], trades.cents(trade));
                counts[leaf]++;
            }
        }
        return new TradeRiskTotals(
                seed,
                new TradeRiskTotals.Made(newTrades, corrections, reinserts, duplicates, late, deletes, malformed),
                new TradeRiskTotals.InOrder(
                        newTrades + corrections + reinserts + deletes,
                        duplicates - duplicatesOfOld,
                        duplicatesOfOld + late,
                        malformed),
                bytes,
                groups(cents, counts));
    }

    /// The nodes of the tree that hold a trade, in order: each is added where its first leaf is met.
    private static List<TradeRiskTotals.Group> groups(long[] cents, long[] counts) {
        SequencedMap<List<String>, TradeRiskTotals.Group> groups = new LinkedHashMap<>();
        for (int leaf = 0; leaf < TradeMessages.LEAVES; leaf++) {
            List<String> path = TradeMessages.path(leaf);
            for (int depth = 0; depth <= path.size() && counts[leaf] > 0; depth++) {
                List<String> node = path.subList(0, depth);
                groups.merge(
                        node, new TradeRiskTotals.Group(node, cents[leaf], counts[leaf]), TradeRiskTotals.Group::plus);
            }
        }
        return List.copyOf(groups.values());
    }
}
