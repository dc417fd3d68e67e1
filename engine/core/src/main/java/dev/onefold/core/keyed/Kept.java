package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Tuple;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An event that a later one may still be folded before. It is written once and never changed.
///
/// @param ordinal number of the event among all that were ever kept of the key
/// @param content see [Arrival]
/// @param origin see [Arrival]
/// @param isSkipped whether it contributed nothing when it was kept, because the function failed
/// @param isPurged whether a person has purged it before its sources were folded again: no refold calls the function
///     for it
/// @param undo the state that its step replaced; `null` for a late event, which is in a [Base]
public record Kept(
        long ordinal,
        BigInteger version,
        byte[] content,
        byte[] origin,
        boolean isSkipped,
        boolean isPurged,
        @Nullable Undo undo) {
    static final Comparator<Kept> BY_VERSION = Comparator.comparing(Kept::version);

    private static final int FORMAT = 1;
    private static final int PURGED_FORMAT = 2; // The same, of an event that is purged.

    /// The state that a step replaced.
    ///
    /// @param context before the step
    /// @param rows the rows that the step wrote, as they were before it
    public record Undo(byte[] context, List<Image> rows) {
        public Undo {
            rows = List.copyOf(rows);
        }
    }

    /// A row at some point; without content it was not there.
    public record Image(RowId row, byte @Nullable [] content) {
        void write(BytesOut out) {
            out.number(row.table()).bytes(row.key().bytes()).octet(content == null ? 0 : 1);
            if (content != null) {
                out.bytes(content);
            }
        }

        static Image read(BytesIn in) {
            RowId row = new RowId((int) in.number(), new Tuple(in.bytes()));
            return new Image(row, in.octet() == 0 ? null : in.bytes());
        }

        int bytes() {
            return row.key().bytes().length + (content == null ? 0 : content.length);
        }
    }

    /// The bytes that it counts towards the limit of bytes that a key may keep.
    long bytes() {
        long bytes = content.length;
        if (undo != null) {
            bytes += undo.context.length;
            for (Image image : undo.rows) {
                bytes += image.bytes();
            }
        }
        return bytes;
    }

    /// The same, folded after it was skipped.
    Change.Withdrawn withdrawn() {
        return new Change.Withdrawn(VersionBytes.of(version), content, origin, true);
    }

    /// Whether the pipeline's filter left it out.
    boolean isFiltered() {
        return Arrival.isFiltered(content);
    }

    /// As it is stored.
    public byte[] encoded() {
        BytesOut out = new BytesOut()
                .octet(isPurged ? PURGED_FORMAT : FORMAT)
                .number(ordinal)
                .bytes(VersionBytes.of(version))
                .bytes(content)
                .bytes(origin)
                .octet(isSkipped ? 1 : 0)
                .octet(undo == null ? 0 : 1);
        if (undo != null) {
            out.bytes(undo.context).number(undo.rows.size());
            undo.rows.forEach(image -> image.write(out));
        }
        return out.toBytes();
    }

    /// The event of these bytes.
    public static Kept read(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        boolean isPurged = in.take(new byte[] {PURGED_FORMAT});
        if (!isPurged) {
            in.requireFormat(FORMAT);
        }
        long ordinal = in.number();
        BigInteger version = VersionBytes.number(in.bytes(), 0);
        byte[] content = in.bytes();
        byte[] origin = in.bytes();
        boolean isSkipped = in.octet() == 1;
        Undo undo = null;
        if (in.octet() == 1) {
            byte[] context = in.bytes();
            List<Image> rows = new ArrayList<>();
            for (long count = in.number(); count > 0; count--) {
                rows.add(Image.read(in));
            }
            undo = new Undo(context, rows);
        }
        in.requireEnd();
        return new Kept(ordinal, version, content, origin, isSkipped, isPurged, undo);
    }
}
