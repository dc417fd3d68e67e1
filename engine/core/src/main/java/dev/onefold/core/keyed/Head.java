package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The part of a key's state that is read and written with every event. Its size does not grow with the kept
/// events.
///
/// @param revision number of steps so far; a step is stored on condition that the revision is still the one that
///     was read
/// @param code version of the function that folded the key
/// @param version the highest version that came, as in [VersionBytes]
/// @param contentHash of that version's content
/// @param context of the key
/// @param failed versions that are in and contributed nothing, because the function failed; not with
///     `in-order`
/// @param runs versions that are in: with `every` all of them, with `in-order` those whose events are no longer
///     kept
/// @param window the events that are kept
public record Head(
        long revision,
        int code,
        byte[] version,
        long contentHash,
        byte[] context,
        List<BigInteger> failed,
        Runs runs,
        Window window) {
    private static final int FORMAT = 1;
    private static final byte[] NOTHING = {};

    public Head {
        failed = List.copyOf(failed);
    }

    /// The events that are kept: those that a base names, and those with ordinals in `[first, next)`, which
    /// came in the order of their versions and undo what they wrote.
    ///
    /// @param lowest of all ordinals that are kept
    /// @param baseCount number of events that a base names; 0 if there is no base
    /// @param bytes total number of bytes that they count
    /// @param codeFloor highest version that another version of the function folded for good; `null`: none
    public record Window(
            long lowest,
            long first,
            long next,
            int baseCount,
            long bytes,
            @Nullable BigInteger codeFloor) {
        static final Window EMPTY = new Window(0, 0, 0, 0, 0, null);

        /// How many events are kept.
        public int count() {
            return Math.toIntExact(baseCount + next - first);
        }
    }

    /// Of a key that no event has come for.
    static Head start(int code, byte[] context) {
        return new Head(0, code, new byte[0], 0, context, List.of(), Runs.NONE, Window.EMPTY);
    }

    /// The order of its version and that of an event.
    int compareTo(Arrival event) {
        return Arrays.compareUnsigned(version, event.version());
    }

    /// The highest version that came; one has come.
    public BigInteger number() {
        return VersionBytes.number(version, 0);
    }

    /// The same at another version.
    Head at(byte[] otherVersion, long hash, byte[] otherContext) {
        return at(otherVersion, hash, otherContext, failed, runs);
    }

    /// The same at another version, with others that are in.
    Head at(byte[] otherVersion, long hash, byte[] otherContext, List<BigInteger> otherFailed, Runs otherRuns) {
        return new Head(revision, code, otherVersion, hash, otherContext, otherFailed, otherRuns, window);
    }

    /// The same with another context.
    Head with(byte[] otherContext) {
        return at(version, contentHash, otherContext);
    }

    /// The same with others that are in.
    Head keeping(Runs otherRuns, Window otherWindow) {
        return new Head(revision, code, version, contentHash, context, failed, otherRuns, otherWindow);
    }

    /// The same, folded by another version of the function.
    Head by(int otherCode) {
        return new Head(revision, otherCode, version, contentHash, context, failed, runs, window);
    }

    /// The next revision, if some of the kept events cannot be read: all that is in is folded for good.
    ///
    /// @param left events that are kept and can be read
    public Head forGood(Collection<Kept> left) {
        Runs in = runs.with(number(), KeptEvents.RUNS_MAX);
        for (Kept each : left) {
            in = in.with(each.version(), KeptEvents.RUNS_MAX);
        }
        return keeping(in, new Window(window.next, window.next, window.next, 0, 0, window.codeFloor))
                .step();
    }

    /// The next revision.
    Head step() {
        return new Head(revision + 1, code, version, contentHash, context, failed, runs, window);
    }

    /// The state of the key, as people see it.
    ///
    /// @param key as an event has it
    public KeyState state(Pipeline pipeline, byte[] key, Store store) {
        if (!(pipeline.fold() instanceof Processing processing)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no process section");
        }
        KeptEvents events = new KeptEvents(this, store, processing.keep());
        List<Kept> kept = processing.order() == Order.IN_ORDER ? events.sorted() : List.of();
        List<BigInteger> skipped = processing.order() == Order.IN_ORDER
                ? kept.stream().filter(events::isSkipped).map(Kept::version).toList()
                : failed;
        Runs in = runs;
        for (Kept each : kept) {
            in = in.with(each.version(), Integer.MAX_VALUE);
        }
        boolean tells = processing.order() != Order.LATEST
                && pipeline.input().identity() instanceof Identity.Versioned versioned
                && versioned.versionTime() == null
                && versioned.composite().isEmpty();
        return new KeyState(
                Key.parts(pipeline, key),
                version(pipeline, number()),
                code,
                Value.read(context),
                kept.size() - events.excess(kept),
                tells ? Optional.of(in.hasGaps()) : Optional.empty(),
                skipped.stream().map(each -> version(pipeline, each)).toList());
    }

    private static Version version(Pipeline pipeline, BigInteger version) {
        return Version.of(pipeline, VersionBytes.of(version));
    }

    /// As it is stored.
    public byte[] encoded() {
        BytesOut out = new BytesOut();
        write(out);
        return out.toBytes();
    }

    /// Writes it behind something else.
    public void write(BytesOut out) {
        out.octet(FORMAT)
                .number(revision)
                .number(code)
                .bytes(version)
                .number(contentHash)
                .bytes(context)
                .number(failed.size());
        for (BigInteger each : failed) {
            out.bytes(VersionBytes.of(each));
        }
        runs.write(out);
        out.number(window.lowest)
                .number(window.first)
                .number(window.next)
                .number(window.baseCount)
                .number(window.bytes)
                .bytes(window.codeFloor == null ? NOTHING : VersionBytes.of(window.codeFloor));
    }

    /// The head of these bytes.
    public static Head read(byte[] bytes) {
        return read(new BytesIn(bytes));
    }

    /// The head of the bytes that are left.
    public static Head read(BytesIn in) {
        in.requireFormat(FORMAT);
        long revision = in.number();
        int code = (int) in.number();
        byte[] version = in.bytes();
        long hash = in.number();
        byte[] context = in.bytes();
        long count = in.number();
        List<BigInteger> failed = count == 0 ? List.of() : new ArrayList<>();
        for (; count > 0; count--) {
            failed.add(VersionBytes.number(in.bytes(), 0));
        }
        Runs runs = Runs.read(in);
        long lowest = in.number();
        long first = in.number();
        long next = in.number();
        int baseCount = (int) in.number();
        long kept = in.number();
        byte[] codeFloor = in.bytes();
        in.requireEnd();
        BigInteger floor = codeFloor.length == 0 ? null : VersionBytes.number(codeFloor, 0);
        Window window =
                next == 0 && floor == null ? Window.EMPTY : new Window(lowest, first, next, baseCount, kept, floor);
        return new Head(revision, code, version, hash, context, failed, runs, window);
    }
}
