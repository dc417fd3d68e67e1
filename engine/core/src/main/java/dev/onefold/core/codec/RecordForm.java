package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.pipeline.Type;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A record. Its components are written in their order and read by name, the expected one first. Immutable.
final class RecordForm implements Form {
    private final Place place;
    private final Part[] parts;
    private final Map<String, Integer> byName = new HashMap<>();
    private final MethodHandle maker;
    private final Type.Fields type;

    /// @param maker of [Slots#maker]
    RecordForm(Place place, List<Part> parts, MethodHandle maker) {
        this.place = place;
        this.parts = parts.toArray(new Part[0]);
        this.maker = maker;
        for (int slot = 0; slot < parts.size(); slot++) {
            String name = parts.get(slot).path.toString();
            if (byName.put(name, slot) != null) {
                throw place.component(name).refused("is there twice; a name stands for one component");
            }
        }
        type = new Type.Fields(parts.stream()
                .map(part -> new Type.Component(part.path, part.form.type()))
                .toList());
    }

    @Override
    public Type.Fields type() {
        return type;
    }

    @Override
    public Place place() {
        return place;
    }

    @Override
    public void write(BytesOut out, Object value) {
        writeContent(out.octet(ValueBytes.RECORD), (Record) value);
    }

    void writeContent(BytesOut out, Record record) {
        out.number(parts.length);
        for (Part part : parts) {
            part.write(out, record);
        }
    }

    @Override
    public Object read(int tag, BytesIn in, @Nullable Object defaults) {
        if (tag != ValueBytes.RECORD) {
            throw misfit(tag);
        }
        return readContent(in, (Record) defaults);
    }

    Record readContent(BytesIn in, @Nullable Record defaults) {
        Slots slots = new Slots(parts.length);
        int next = 0;
        for (int left = in.count(); left > 0; left--) {
            int slot = next < parts.length && in.take(parts[next].name) ? next : slot(in);
            if (slot < 0) {
                ValueBytes.skip(in);
                continue;
            }
            if (slots.has(slot)) {
                throw in.broken("component " + parts[slot].path + " is there twice");
            }
            parts[slot].read(in, slots, slot, defaults);
            next = slot + 1;
        }
        if (slots.filled < parts.length) {
            for (int slot = 0; slot < parts.length; slot++) {
                if (!slots.has(slot)) {
                    parts[slot].take(defaults, slots, slot);
                }
            }
        }
        return made(slots);
    }

    private int slot(BytesIn in) {
        Integer slot = byName.get(in.text());
        return slot == null ? -1 : slot;
    }

    private Record made(Slots slots) {
        try {
            return (Record) maker.invokeExact(slots);
        } catch (Exception thrown) {
            throw place.refused("cannot be made: its constructor throws " + thrown, thrown);
        } catch (Error error) {
            throw error;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
