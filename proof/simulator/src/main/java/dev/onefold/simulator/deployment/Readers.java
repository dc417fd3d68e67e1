package dev.onefold.simulator.deployment;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.totals.Totals;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Reads all the time. Of two views of one definition every cut must show the same; and in no item is less than
/// nothing, at no instant.
final class Readers {
    private static final Duration PAUSE_MAX = Duration.ofMillis(300);

    private final Deployment deployment;
    private final SplittableRandom random;
    private boolean stopped;
    private @Nullable AssertionError failure;
    private int lost;

    Readers(Deployment deployment, SplittableRandom random) {
        this.deployment = deployment;
        this.random = random;
        deployment.dynamo.onWrite(deployment.tables.totals(), change -> {
            if (change.after() != null) {
                check(change.after());
            }
        });
    }

    private void check(Map<String, AttributeValue> item) {
        AttributeValue rows = item.get("r");
        if (rows != null
                && new BigDecimal(rows.n()).signum() < 0
                && TotalsKey.view(Items.text(item, TotalsKey.PARTITION)) > lost) {
            fail("An item has " + rows.n() + " rows: something was retracted before it was added: " + item);
        }
    }

    /// All views up to this number were lost with their tables: what is left of their totals is answered to nobody and
    /// is recreated under another number. Until then changes of rows of another time are added to it.
    void lose(int last) {
        lost = last;
    }

    private void fail(String message) {
        failure = failure == null ? new AssertionError(message) : failure;
    }

    /// Compares the views of a definition from now on, for as long as it stands.
    void begin(Definition definition) {
        later(() -> {
            long open;
            try {
                open = new TotalsReads(store(), definition).open();
            } catch (RuntimeException unlucky) {
                begin(definition);
                return;
            }
            goOn(definition, open); // In a cut from before, a view may lack what its filling wrote.
        });
    }

    private void goOn(Definition definition, long least) {
        later(() -> read(definition, least));
    }

    private void later(Runnable read) {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(PAUSE_MAX.toNanos())), () -> {
            if (!stopped) {
                deployment.time.start(read);
            }
        });
    }

    private Store store() {
        return deployment.store(deployment.dynamo.client("reader"));
    }

    /// No more after this.
    ///
    /// @throws AssertionError if anything was wrong
    void stop() {
        stopped = true;
        if (failure != null) {
            throw failure;
        }
    }

    private void read(Definition definition, long least) {
        Store store = store();
        try {
            if (!new Definitions(store).load().equals(definition)) {
                return;
            }
            compare(store, definition, least);
        } catch (RuntimeException unlucky) {
            goOn(definition, least);
            return;
        }
        goOn(definition, least);
    }

    private void compare(Store store, Definition definition, long least) {
        int rollups = Rollups.of(definition.servedView().pipeline()).all().size();
        List<TotalsReads.Part> parts = new ArrayList<>();
        for (Definition.View view : definition.views()) {
            for (int rollup = 0; rollup < rollups; rollup++) {
                parts.add(TotalsReads.Part.of(view, rollup, Tuple.of(List.of())));
            }
        }
        List<Totals> totals =
                new TotalsReads(store, definition).read(parts, least).totals();
        Verification verification =
                Verification.of(totals.subList(0, rollups), totals.subList(rollups, totals.size()), "views");
        // A view that was dropped meanwhile is not written any more.
        if (new Definitions(store).load().equals(definition) && !verification.isEqual()) {
            fail("Two views differ in one cut: " + verification.differences());
        }
    }
}
