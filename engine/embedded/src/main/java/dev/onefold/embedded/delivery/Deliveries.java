package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import dev.onefold.embedded.fold.MemberFold;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.source.Stage;
import dev.onefold.embedded.view.View;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// The batches of an engine: sealed by the clock when no record comes, delivered, and shown. Any thread may
/// call.
public final class Deliveries implements SealedBatches, AutoCloseable {
    private static final long TICK_MS = 50;
    private static final int EXPORT_BYTES = 1 << 16;

    private final View view;
    private final Guard guard;
    private final MemberFold fold;
    private final Batches batches;
    private final InstantSource clock;
    private final Runnable checkpoint;
    private final Consumer<Stage> passed;
    private final Courier courier;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final @Nullable Thread ticker;

    /// @param checkpoint takes one and waits until it is durable
    public Deliveries(View view, MemberFold fold, View.Opening opening, Runnable checkpoint) {
        this.fold = fold;
        this.view = view;
        this.checkpoint = checkpoint;
        guard = opening.guard();
        passed = opening.settings().passed();
        clock = opening.settings().clock();
        batches = fold.batches();
        Batching batching = batches.batching();
        boolean isThreaded = opening.settings().threads() > 0 && !opening.reading();
        Contents contents =
                new Contents(view.directory, batches, batching.deliver().compression(), opening.space());
        boolean isUnnamed = batches.deliveries() == null && batches.durableNumber() > 0; // An earlier version's.
        Ledger ledger = new Ledger(view.directory, opening.identity(), opening.space(), batches, !opening.reading());
        String owner = "process " + ProcessHandle.current().pid();
        courier = new Courier(
                new Courier.Parts(
                        view.pipeline,
                        batching,
                        batches,
                        contents,
                        ledger,
                        clock,
                        guard,
                        owner,
                        opening.settings().undeliveredBytesMax()),
                isThreaded,
                opening.reading());
        batches.whenDurable(courier::wake);
        if (!opening.reading() && (isUnnamed || batches.hasUnwrittenEnds())) { // Some ended just before a crash.
            view.checkpoints.take();
            view.checkpoints.await();
        }
        ticker = isThreaded ? Thread.ofPlatform().daemon().name("onefold-seal").start(this::run) : null;
    }

    /// From now on batches are delivered.
    public void begin(Carrier carrier) {
        courier.begin((manifest, attempt, content) -> {
            passed.accept(Stage.BEGIN);
            Outcome outcome = carrier.deliver(manifest, attempt, content);
            passed.accept(Stage.DELIVERY);
            return outcome;
        });
    }

    private void run() {
        try {
            while (!closing.await(TICK_MS, TimeUnit.MILLISECONDS)) {
                if (guard.hasFailed()) {
                    return;
                }
                guard.locked(this::tick);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (EngineException e) {
            if (e.kind() != EngineException.Kind.STOPPED) {
                throw e;
            }
        }
    }

    /// Seals by the clock the batch that has waited long enough, and lets a checkpoint be taken of sealed
    /// batches.
    private boolean tick() {
        boolean isSealed = batches.sealIfDue(clock.instant().toEpochMilli());
        if (fold.sweep() || batches.hasUnwrittenSeals() || batches.hasUnwrittenEnds()) {
            view.checkpoints.takeIfDue();
        }
        return isSealed;
    }

    /// Does all that is due now on the thread of the caller, for an engine without threads of its own;
    /// returns the number of attempts.
    public int step() {
        guard.locked(this::tick);
        return courier.step();
    }

    @Override
    public boolean seal() {
        boolean isSealed = guard.locked(() -> batches.sealNow(clock.instant().toEpochMilli()));
        if (isSealed) {
            checkpoint.run();
        }
        return isSealed;
    }

    @Override
    public Summary summary() {
        Courier.Now now = courier.now();
        record Intake(
                Batches.Open open, long bytes, @Nullable Instant waitsSince) {}
        Intake intake = guard.reading(() -> new Intake(
                batches.open(), batches.undeliveredBytes(), fold.waitsSince().orElse(null)));
        Batches.Open open = intake.open();
        List<Handled> begun = now.begun();
        long next = now.next();
        List<Handled> left = begun.stream()
                .filter(handled -> !(handled.delivery() instanceof Delivery.Divided))
                .toList();
        long first = begun.isEmpty() ? next : begun.getFirst().number().number();
        return new Summary(
                open.records(),
                open.records() == 0 ? null : Instant.ofEpochMilli(open.firstMs()),
                open.sealed(),
                next
                        - 1
                        - begun.stream()
                                .map(handled -> handled.number().number())
                                .distinct()
                                .count(),
                open.sealed() - next + 1 + left.size(),
                now.active().size(),
                count(left, Delivery.InDoubt.class),
                count(left, Delivery.Aside.class),
                first > batches.durableNumber()
                        ? null
                        : Instant.ofEpochMilli(batches.sealed(first).sealedMs()),
                heldUpBy(now, left, open.sealed()),
                intake.bytes(),
                Decision.count(now.decisions().values()),
                intake.waitsSince());
    }

    /// The first of those that hold up all others, because they wait for a person; `null` if some go on, such
    /// as the other parts of a batch.
    private @Nullable BatchNumber heldUpBy(Courier.Now now, List<Handled> left, long sealed) {
        boolean isHeldUp = switch (batches.batching().order()) {
            case ANY -> now.isFull();
            case STRICT -> true;
            case KEY -> now.isFull() || !now.waits().isEmpty() && now.next() > sealed;
        };
        boolean awaitsPerson = left.stream()
                .allMatch(handled ->
                        handled.delivery().awaitsPerson() || now.waits().containsKey(handled.number()));
        return isHeldUp && !left.isEmpty() && awaitsPerson && now.active().isEmpty()
                ? left.getFirst().number()
                : null;
    }

    private static int count(List<Handled> left, Class<? extends Delivery> state) {
        return (int) left.stream()
                .filter(handled -> state.isInstance(handled.delivery()))
                .count();
    }

    @Override
    public List<Line> list(BatchNumber from, int max, boolean isOpenOnly) {
        Courier.Now now = courier.now();
        NavigableMap<BatchNumber, Line> known = new TreeMap<>();
        if (!isOpenOnly) {
            now.decisions().forEach((number, decision) -> known.put(number, line(decision)));
        }
        now.begun()
                .forEach(handled -> known.put(
                        handled.number(), line(batches.sealed(handled.number().number()), handled, now)));
        List<Line> lines = new ArrayList<>();
        known.headMap(BatchNumber.of(batches.firstKnown()), false).forEach((number, line) -> {
            if (number.compareTo(from) >= 0) {
                lines.add(line);
            }
        });
        long number = Math.max(from.number(), batches.firstKnown());
        for (; number <= batches.durableNumber() && lines.size() < max; number++) {
            BatchNumber whole = BatchNumber.of(number);
            if (!known.containsKey(whole) && (number >= now.next() || !isOpenOnly) && whole.compareTo(from) >= 0) {
                lines.add(line(batches.sealed(number), number < now.next()));
            }
            known.subMap(whole, true, BatchNumber.of(number + 1), false).forEach((each, line) -> {
                if (each.compareTo(from) >= 0) {
                    lines.add(line);
                }
            });
        }
        return lines.subList(0, Math.min(max, lines.size()));
    }

    @Override
    public Optional<Line> find(BatchNumber number) {
        Courier.Now now = courier.now();
        Decision decision = now.decisions().get(number);
        if (decision != null) {
            return Optional.of(line(decision));
        }
        if (number.number() < batches.firstKnown() || number.number() > batches.durableNumber()) {
            return Optional.empty();
        }
        Sealed sealed = batches.sealed(number.number());
        for (Handled handled : now.begun()) {
            if (handled.number().equals(number)) {
                return Optional.of(line(sealed, handled, now));
            }
        }
        return number.isWhole() ? Optional.of(line(sealed, number.number() < now.next())) : Optional.empty();
    }

    /// A batch, or a part of one, that a person has ended.
    private Line line(Decision decision) {
        Delivery delivery = decision.handled().delivery();
        return new Line(
                decision.handled().number(),
                Manifest.id(view.pipeline.name(), decision.handled().number()),
                decision.records(),
                decision.bytes(),
                Instant.ofEpochMilli(decision.sealedMs()),
                delivery.word(),
                delivery.tries().count(),
                delivery.reason(),
                null);
    }

    /// A batch that was not begun, or is done.
    private Line line(Sealed sealed, boolean isDone) {
        BatchNumber number = BatchNumber.of(sealed.number());
        return new Line(
                number,
                Manifest.id(view.pipeline.name(), number),
                sealed.records(),
                sealed.bytes(),
                Instant.ofEpochMilli(sealed.sealedMs()),
                isDone ? "done" : "waiting",
                0,
                "",
                null);
    }

    private Line line(Sealed sealed, Handled handled, Courier.Now now) {
        BatchNumber number = handled.number();
        BatchNumber before = now.waits().get(number);
        Members part = handled.members();
        Delivery delivery = handled.delivery();
        return new Line(
                number,
                Manifest.id(view.pipeline.name(), number),
                part == null ? sealed.records() : part.count(),
                part == null ? sealed.bytes() : handled.bytes(),
                Instant.ofEpochMilli(sealed.sealedMs()),
                now.active().contains(number) ? "delivering" : delivery.word(),
                delivery.tries().count(),
                before == null || delivery.awaitsPerson()
                        ? delivery.reason()
                        : "It waits for batch " + before + ", which has a record of the same key",
                before == null && delivery instanceof Delivery.Waiting waiting && waiting.notBeforeMs() > 0
                        ? Instant.ofEpochMilli(waiting.notBeforeMs())
                        : null);
    }

    @Override
    public Line release(BatchNumber number) {
        return decide(number, delivery -> DeliveryRules.release(delivery, nowMs()));
    }

    @Override
    public Line settle(BatchNumber number, Delivery.How how) {
        return decide(number, delivery -> DeliveryRules.settle(delivery, how, nowMs()));
    }

    private Line decide(BatchNumber number, UnaryOperator<Delivery> decision) {
        Sealed sealed = known(number);
        return line(sealed, courier.decide(number, decision), courier.now());
    }

    private Sealed known(BatchNumber number) {
        if (find(number).isEmpty()) {
            throw new IllegalArgumentException("There is no batch " + number);
        }
        return batches.sealed(number.number());
    }

    private long nowMs() {
        return clock.instant().toEpochMilli();
    }

    @Override
    public void export(BatchNumber number, Consumer<byte[]> sink) {
        Line line = find(number).orElseThrow(() -> new IllegalArgumentException("There is no batch " + number));
        if (line.state().equals("done") || line.state().equals("discarded")) {
            throw new IllegalArgumentException(
                    "Batch " + number + (line.state().equals("done") ? " is delivered" : " is discarded")
                            + ", and its content is not kept");
        }
        Handled handled = courier.now().begun().stream()
                .filter(each -> each.number().equals(number))
                .findFirst()
                .orElse(null);
        byte[] buffer = new byte[EXPORT_BYTES];
        try (InputStream in = courier.records(number, handled)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                sink.accept(Arrays.copyOf(buffer, read));
            }
        } catch (IOException e) {
            throw new IllegalStateException("The content of a batch throws no such exception", e);
        }
    }

    /// Ends the deliveries; those that are under way have ten seconds. Their state can still be read
    /// afterwards.
    @Override
    public void close() {
        closing.countDown();
        Thread own = ticker;
        if (own != null) {
            Courier.join(own);
        }
        courier.close();
    }
}
