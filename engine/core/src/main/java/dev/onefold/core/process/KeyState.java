package dev.onefold.core.process;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Version;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.keyed.KeptEvents;
import dev.onefold.core.keyed.Runs;
import dev.onefold.core.keyed.Store;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;

/// The state of a key that a function folds, as people see it.
///
/// @param key the parts of the key
/// @param version the highest version that came
/// @param code version of the function that folded it last
/// @param kept number of kept events; a late event may still be folded before them
/// @param hasGaps whether versions between the lowest that is known and the highest have not come; empty
///     where that is not known, or where versions are times or have several parts
/// @param failed versions that came and contribute nothing, because the function failed
public record KeyState(
        List<String> key,
        Version version,
        int code,
        Value.Fields context,
        int kept,
        Optional<Boolean> hasGaps,
        List<Version> failed) {
    public KeyState {
        key = List.copyOf(key);
        failed = List.copyOf(failed);
    }

    /// The state of a key.
    ///
    /// @param key as an event has it
    public static KeyState of(Pipeline pipeline, byte[] key, Head head, Store store) {
        if (!(pipeline.fold() instanceof Processing processing)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no process section");
        }
        KeptEvents events = new KeptEvents(head, store, processing.keep());
        List<Kept> kept = processing.order() == Order.IN_ORDER ? events.sorted() : List.of();
        List<BigInteger> failed = processing.order() == Order.IN_ORDER
                ? kept.stream().filter(events::isSkipped).map(Kept::version).toList()
                : head.failed();
        Runs in = head.runs();
        for (Kept each : kept) {
            in = in.with(each.version(), Integer.MAX_VALUE);
        }
        boolean tells = processing.order() != Order.LATEST
                && pipeline.input().identity() instanceof Identity.Versioned versioned
                && versioned.versionTime() == null
                && versioned.composite().isEmpty();
        return new KeyState(
                Key.parts(pipeline, key),
                version(pipeline, head.number()),
                head.code(),
                Value.read(head.context()),
                kept.size() - events.excess(kept),
                tells ? Optional.of(in.hasGaps()) : Optional.empty(),
                failed.stream().map(each -> version(pipeline, each)).toList());
    }

    private static Version version(Pipeline pipeline, BigInteger number) {
        return Version.of(pipeline, VersionBytes.of(number));
    }
}
