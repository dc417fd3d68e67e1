package dev.onefold.core;

import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Version;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The rejected records: listed, read, redriven, purged. A rejected record never delays healthy ones.
public interface DeadLetters {
    /// Number of letters that are read at once where many are read.
    int PAGE = 1_000;

    /// Up to `limit` letters with ids above `after`, in the order of their ids.
    List<DeadLetter> list(long after, int limit);

    /// How many there are.
    long size();

    /// The greatest id; 0 if there is no letter. It is found by asking for letters above greater and greater
    /// ids.
    default long lastId() {
        long last = 0;
        for (long step = 1; step > 0; ) {
            List<DeadLetter> behind = list(last + step - 1, 1);
            if (behind.isEmpty()) {
                step /= 2;
            } else {
                last = behind.getFirst().id();
                step *= 2;
            }
        }
        return last;
    }

    /// How many there are of each reason, in the order of the reasons.
    ///
    /// @param most of the first letters that are counted
    default Map<Reason, Long> byReason(long most) {
        Map<Reason, Long> counts = new EnumMap<>(Reason.class);
        long counted = 0;
        for (List<DeadLetter> page = list(0, PAGE);
                !page.isEmpty() && counted < most;
                page = list(page.getLast().id(), PAGE)) {
            page.forEach(letter -> counts.merge(letter.reason(), 1L, Long::sum));
            counted += page.size();
        }
        return counts;
    }

    /// The record of a letter as it arrived, also if edits of it were tried since.
    ///
    /// @throws IllegalArgumentException if there is no such letter, or its bytes are not kept
    byte[] record(long id);

    /// The last edit of a letter that was rejected; empty if there is none, or no such letter.
    Optional<byte[]> edited(long id);

    /// Letters whose records state this key: perhaps newer versions of it than the one that counts.
    ///
    /// @param limit most letters that are returned, 0 to [#PAGE]
    /// @throws IllegalArgumentException if the pipeline's keys have another number of parts, or it has none
    List<OfKey> ofKey(List<String> key, int limit);

    /// Requires a limit of [#ofKey].
    static void requireKeyLimit(int limit) {
        if (limit < 0 || limit > PAGE) {
            throw new IllegalArgumentException("The limit is " + limit + "; it is 0 to " + PAGE);
        }
    }

    /// A letter of a key.
    ///
    /// @param version the version that the record states; none if it states none, or if it cannot be read
    record OfKey(DeadLetter letter, Version version) {}

    /// Sends a letter through again under its own place: as it arrived, or as an edit of its key. Durable
    /// when this returns. The letter keeps its record until an edit, or the record itself, is in. Redriving a
    /// letter that is gone changes nothing.
    ///
    /// @param edited the record to be taken in place of the letter's; `null` for the record as it arrived
    /// @throws IllegalArgumentException if the edit is empty, or of another key than the letter's record;
    ///     nothing is changed then
    default Redriven redrive(long id, byte @Nullable [] edited) {
        return redrive(id, edited, Keys.SAME);
    }

    /// Sends a letter through again as [#redrive(long, byte\[\])], with the keys that an edit may have.
    Redriven redrive(long id, byte @Nullable [] edited, Keys keys);

    /// Removes letters for good; durable when this returns. Returns how many there were.
    int purge(List<Long> ids);

    /// Keys that an edit may have.
    enum Keys {
        /// The key of the letter's record, if both keys can be read.
        SAME,
        /// Any key: the letter's record was sent under a wrong one.
        ANY
    }

    /// The fate of a redriven letter.
    enum Redriven {
        ACCEPTED,
        DUPLICATE,
        STALE,
        /// One version with two contents: the loser is among the letters, under the same id if it is the redriven one.
        CONFLICTING,
        /// Rejected again: it stays, under its id, with its record, this edit and its new reason.
        REJECTED,
        /// The letter holds no record that could be sent as it is: only an edit can be redriven. Nothing is
        /// changed.
        NO_RECORD,
        /// There is no such letter, or no longer.
        GONE
    }
}
