package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.state.RefusedRows.LostRow;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.RecordLine;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Key;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Decodes records as the served view of a definition reads them, and derives what they contribute to another
/// view as [RowFill] does for a row: so it does not matter which of the two comes to a record first, and none
/// is lost that only one of the two pipelines can read. Not thread-safe; one thread at a time uses it.
final class RecordDecoder {
    private final Definition definition;
    private final Decoder decoder;
    private final Optional<Horizon> horizon;
    private final Map<Integer, Derivation.Possible> others = new TreeMap<>();

    /// The result of decoding a record.
    sealed interface Decoded {
        record Good(Candidate candidate) implements Decoded {}

        record Bad(Malformed malformed, RecordIdentity stated, Arrival arrival) implements Decoded {}

        /// It tells of no row.
        record Silent(Event.Silence why) implements Decoded {}
    }

    RecordDecoder(Definition definition) {
        this.definition = definition;
        Pipeline served = definition.servedView().pipeline();
        Definition.requireRules(served);
        decoder = new Decoder(served);
        horizon = Horizon.of(served);
        definition.otherView().ifPresent(view -> others.put(view.number(), RowFill.derivation(served, view)));
    }

    /// A record that the served view refuses is a dead letter.
    Decoded decode(Arrival arrival) {
        byte[] record = Arrays.copyOf(arrival.data(), arrival.data().length + Decoder.PADDING);
        int length = length(arrival.data());
        decoder.message(arrival.identity());
        Malformed malformed = decoder.decode(arrival.kind(), record, 0, length);
        if (malformed != null) {
            return new Decoded.Bad(malformed, decoder.event().identity(), arrival);
        }
        Event event = decoder.event();
        if (event.silence != null) {
            return new Decoded.Silent(event.silence);
        }
        Optional<Malformed> outOfTime = horizon.flatMap(each -> refusal(each, event, arrival));
        if (outOfTime.isPresent()) {
            return new Decoded.Bad(outOfTime.get(), event.identity(), arrival);
        }
        Pipeline served = definition.servedView().pipeline();
        boolean versioned = served.input().identity() instanceof Identity.Versioned;
        byte[] version = versioned ? Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo) : new byte[0];
        byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
        return good(key, version, Contribution.of(served, event), arrival);
    }

    private static Optional<Malformed> refusal(Horizon horizon, Event event, Arrival arrival) {
        return arrival.atMs() == Arrival.NOT_KNOWN
                ? Optional.of(new Malformed(
                        Reason.TOO_OLD,
                        "The stream does not say when the record arrived, so its time cannot be compared with the"
                                + " horizon"))
                : horizon.refusal(event, arrival.atMs());
    }

    /// Decodes the rest of a record that has lost a conflict, or that the next view refused. The served view
    /// may refuse it, too.
    Decoded derive(LostRow lost, Arrival arrival) {
        Pipeline served = definition.servedView().pipeline();
        return switch (Derivation.of(lost.pipeline(), served)) {
            case Derivation.Impossible(var reason) ->
                new Decoded.Bad(
                        new Malformed(
                                Reason.REFUSED,
                                "What is kept of this record is not what the pipeline reads now: " + reason),
                        RecordIdentity.NONE,
                        arrival);
            case Derivation.Possible possible -> {
                Optional<Malformed> refusal = possible.refusal(lost.row().payload());
                if (refusal.isPresent()) {
                    yield new Decoded.Bad(refusal.get(), RecordIdentity.NONE, arrival);
                }
                boolean versioned = served.input().identity() instanceof Identity.Versioned;
                byte[] version = versioned ? lost.row().version().bytes() : new byte[0];
                byte[] key = Key.bytes(served, lost.row().key());
                yield good(key, version, possible.of(lost.row().payload()), arrival);
            }
        };
    }

    private Decoded good(byte[] key, byte[] version, Contribution contribution, Arrival arrival) {
        TreeMap<Integer, Contribution> views = new TreeMap<>();
        TreeMap<Integer, Contribution> refused = new TreeMap<>();
        views.put(definition.served(), contribution);
        others.forEach((view, derivation) -> (derivation.refusal(contribution).isPresent() ? refused : views)
                .put(view, derivation.of(contribution)));
        return new Decoded.Good(new Candidate(key, version, definition.served(), views, refused, arrival));
    }

    /// A record may be a line with its end.
    static int length(byte[] data) {
        return RecordLine.length(data);
    }
}
