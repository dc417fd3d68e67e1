package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import java.util.ArrayList;
import java.util.List;

/// The state that a refold leaves below the events that it folded; later refolds begin here. It replaces the undo
/// data of these events.
///
/// @param context before the first of the events
/// @param rows the rows that these events wrote, as they were before the first of them
/// @param events in the order of their versions
public record Base(byte[] context, List<Kept.Image> rows, List<Event> events) {
    private static final int FORMAT = 1;

    public Base {
        rows = List.copyOf(rows);
        events = List.copyOf(events);
    }

    /// A kept event, and whether it contributed nothing in the refold.
    public record Event(long ordinal, boolean isSkipped) {}

    /// As it is stored.
    public byte[] encoded() {
        BytesOut out = new BytesOut().octet(FORMAT).bytes(context).number(rows.size());
        rows.forEach(image -> image.write(out));
        out.number(events.size());
        events.forEach(event -> out.number(event.ordinal).octet(event.isSkipped ? 1 : 0));
        return out.toBytes();
    }

    /// The base of these bytes.
    public static Base read(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        in.requireFormat(FORMAT);
        byte[] context = in.bytes();
        List<Kept.Image> rows = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            rows.add(Kept.Image.read(in));
        }
        List<Event> events = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            events.add(new Event(in.number(), in.octet() == 1));
        }
        in.requireEnd();
        return new Base(context, rows, events);
    }
}
