package dev.onefold.cli.letters;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.pipeline.Processing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// The order in which many letters are redriven. A function with few kept events takes the events of a key in
/// the order of their versions: an event behind them would be too late. Takes some 100 bytes of heap for each
/// letter.
final class RedriveOrder {
    private static final Comparator<Of> ORDER = Comparator.comparingLong(Of::keyHash)
            .thenComparing(Of::version, Arrays::compareUnsigned)
            .thenComparingLong(Of::id);

    private final DeadLetters letters;
    private final Decoder decoder;
    private final List<Of> all = new ArrayList<>();

    private record Of(long id, long keyHash, byte[] version) {}

    RedriveOrder(Engine engine) {
        letters = engine.deadLetters();
        decoder = new Decoder(engine.pipeline());
    }

    /// Whether the order makes a difference: totals are the same in any order.
    static boolean isOf(Engine engine) {
        return engine.pipeline().fold() instanceof Processing;
    }

    void add(List<DeadLetter> some) {
        for (DeadLetter letter : some) {
            RecordIdentity stated = letter.kept() ? decoder.identity(letters.record(letter.id())) : RecordIdentity.NONE;
            byte[] version = stated.version();
            all.add(new Of(letter.id(), stated.keyHash(), version == null ? new byte[0] : version));
        }
    }

    /// The letters of each key in ascending version.
    List<Long> ids() {
        return all.stream().sorted(ORDER).map(Of::id).toList();
    }
}
