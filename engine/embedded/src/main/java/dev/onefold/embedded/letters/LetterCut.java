package dev.onefold.embedded.letters;

import dev.onefold.embedded.disk.FramedLog;
import dev.onefold.embedded.disk.OutOfSpaceException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The part of the dead letters that a checkpoint has to write.
public final class LetterCut {
    final List<byte[]> changes;
    /// Number of the first change.
    final long first;
    /// All letters, if the log is rewritten; their new positions are put into the tags.
    final @Nullable LetterSlots all;
    final long idLast;
    /// Where each change is, once it is written.
    final long[] at;

    LetterCut(List<byte[]> changes, long first, @Nullable LetterSlots all, long idLast) {
        this.changes = changes;
        this.first = first;
        this.all = all;
        this.idLast = idLast;
        at = new long[all == null ? changes.size() : 0];
    }

    /// Writes the changes, or all letters.
    ///
    /// @param log where the letters are now; `null` if no checkpoint has written any
    void write(@Nullable FramedLog log, FramedLog target) throws OutOfSpaceException {
        if (all == null) {
            for (int i = 0; i < changes.size(); i++) {
                byte[] payload = changes.get(i);
                at[i] = LetterSlots.packed(target.append(payload, payload.length), LetterFrame.bytes(payload));
            }
            return;
        }
        byte[] last = LetterFrame.removal(idLast);
        target.append(last, last.length);
        for (long slot = 0; slot < all.size(); slot++) {
            long position = all.position(slot);
            byte[] payload = position < 0
                    ? changes.get((int) (-position - first))
                    : Objects.requireNonNull(log).read(LetterSlots.at(position));
            long place = target.append(payload, payload.length);
            all.set(slot, all.id(slot), false, position, LetterSlots.packed(place, LetterFrame.bytes(payload)));
        }
    }
}
