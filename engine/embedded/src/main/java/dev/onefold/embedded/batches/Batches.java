package dev.onefold.embedded.batches;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.SealDecision;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Payload;
import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.disk.TailLog;
import dev.onefold.embedded.rows.Forgotten;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Collects members into batches and seals them. A seal is part of a checkpoint: the checkpoint that covers
/// the last member of a batch, and no earlier one, also holds the claims of its members and the entry with
/// the range of its bytes. So after a crash a batch is sealed with all its members, or it is not sealed and
/// its records come again. Only a batch of a durable checkpoint is delivered; therefore a delivered batch
/// never changes.
///
/// Members are on one tape in the order of arrival, each a line; a batch is a range of it. Guarded by the
/// engine's lock, except [#write] and [#written], which the checkpoint calls, and the reading of durable
/// bytes.
public final class Batches {
    private static final long PENDING_BYTES_MAX = Scale.of(64 << 20);

    private final Batching batching;
    private final Tape bodies;
    private final Tape seals;
    private final CRC32C crc = new CRC32C();
    private final Queue<Sealed> undurable = new ConcurrentLinkedQueue<>(); // Sealed, in no durable checkpoint.
    private long numberNext = 1;
    private long ordinalNext = 1;
    private int openRecords;
    private long openFrom;
    private long openFirstMs;
    private long openLastMs;
    private volatile Runnable whenDurable = () -> {};
    private volatile Durable durable = new Durable(0, 1);
    private volatile Forgotten ended = Forgotten.NONE; // The places whose batches have ended.
    private volatile Forgotten forgotten = Forgotten.NONE; // The same, as a durable checkpoint has it.
    private Forgotten cut = Forgotten.NONE; // The same, as the last checkpoint has it, durable or not.
    private volatile long keepFrom = 1; // The first batch whose entry is needed.
    private volatile long bodiesFrom; // The first byte of the bodies that is needed.
    private volatile long heldBytes; // Of batches that were copied from the bodies.
    private volatile TailLog.@Nullable Extent deliveries;

    public Batches(Batching batching, Path directory, long identity) {
        this.batching = batching;
        bodies = new Tape(directory, "bodies", "ONEFBODY", identity);
        seals = new Tape(directory, "seals", "ONEFSEAL", identity);
    }

    /// How batches are made.
    public Batching batching() {
        return batching;
    }

    /// The extent of the log of deliveries that the last checkpoint names, or that has become durable since. It
    /// is `null` if the checkpoint names none, because no batch was sealed or an earlier version wrote it. Any
    /// thread.
    public TailLog.@Nullable Extent deliveries() {
        return deliveries;
    }

    /// Notes how much of the log of deliveries is durable; later checkpoints name it. Any thread.
    public void deliveries(TailLog.Extent extent) {
        deliveries = extent;
    }

    /// The part of the batches that a checkpoint writes.
    ///
    /// @param state input of [#load]
    /// @param forgotten the places whose ids may come again once this is durable
    public record Cut(
            Tape.Cut bodies,
            Tape.Cut seals,
            byte[] state,
            Durable sealed,
            Forgotten forgotten,
            long bodiesFrom,
            long sealsFrom) {}

    /// The batches that are sealed for ever.
    ///
    /// @param number of the last batch that a durable checkpoint has
    /// @param ordinalNext place of the first member behind it
    public record Durable(long number, long ordinalNext) {}

    /// Adds a member.
    ///
    /// @param nowMs of the engine's clock
    /// @return its place among all members, from 1
    public long add(byte[] bytes, int from, int to, long arrivedMs, long nowMs) {
        long length = SealDecision.bytes(to - from);
        if (SealDecision.closes(batching, openRecords, bodies.end() - openFrom, length)) {
            seal(nowMs);
        }
        if (openRecords == 0) {
            openFrom = bodies.end();
            openFirstMs = arrivedMs;
        }
        bodies.append(bytes, from, to, '\n');
        crc.update(bytes, from, to - from);
        crc.update('\n');
        openRecords++;
        openLastMs = arrivedMs;
        long ordinal = ordinalNext++;
        if (SealDecision.isFull(batching, openRecords)) {
            seal(nowMs);
        }
        return ordinal;
    }

    private void seal(long nowMs) {
        Sealed sealed = new Sealed(
                numberNext,
                openFrom,
                bodies.end(),
                ordinalNext - openRecords,
                openRecords,
                (int) crc.getValue(),
                openFirstMs,
                openLastMs,
                nowMs);
        byte[] entry = sealed.encode();
        seals.append(entry, 0, entry.length);
        undurable.add(sealed);
        numberNext++;
        openRecords = 0;
        openFrom = bodies.end();
        crc.reset();
    }

    /// Seals the open batch if it has waited long enough; returns whether it has. It is durable with the next
    /// checkpoint.
    public boolean sealIfDue(long nowMs) {
        openFirstMs = Math.min(openFirstMs, nowMs); // A clock that was ahead and is right now delays nothing.
        if (openRecords == 0 || !SealDecision.isDue(batching, openFirstMs, nowMs)) {
            return false;
        }
        seal(nowMs);
        return true;
    }

    /// Seals the open batch without waiting for more; returns whether there was one. It is durable with the
    /// next checkpoint.
    public boolean sealNow(long nowMs) {
        if (openRecords == 0) {
            return false;
        }
        seal(nowMs);
        return true;
    }

    /// Whether enough bytes wait for a checkpoint that one is due.
    public boolean isFull() {
        return bodies.pendingBytes() + seals.pendingBytes() > PENDING_BYTES_MAX;
    }

    /// Whether batches are sealed that no checkpoint has taken.
    public boolean hasUnwrittenSeals() {
        return seals.pendingBytes() > 0;
    }

    /// The records that are in no batch which is sealed for ever.
    ///
    /// @param firstMs when the first of them arrived
    /// @param sealed number of the last batch that is sealed for ever; 0 if there is none
    public record Open(long records, long firstMs, long sealed) {}

    /// The records that are in no batch which is sealed for ever.
    public Open open() {
        Sealed first = undurable.peek();
        return first == null
                ? new Open(openRecords, openFirstMs, numberNext - 1)
                : new Open(ordinalNext - first.ordinal(), first.firstMs(), first.number() - 1);
    }

    /// Members in all batches, the open one included.
    public long members() {
        return ordinalNext - 1;
    }

    /// Number of the last batch that is sealed for ever; 0 if there is none. Any thread.
    public long durableNumber() {
        return durable.number;
    }

    /// The batches that are sealed for ever. Any thread.
    public Durable durable() {
        return durable;
    }

    /// Notes the places whose batches have ended, durably. Their ids may come again as soon as a checkpoint
    /// that says so is durable, and not before: a replay of the journal decides by the checkpoint, so it
    /// never forgets an id that was not forgotten when the record came. Any thread.
    public void ended(Forgotten places) {
        ended = places;
    }

    /// The places whose ids may come again. Any thread.
    public Forgotten forgotten() {
        return forgotten;
    }

    /// Whether batches have ended of which no checkpoint was taken.
    public boolean hasUnwrittenEnds() {
        return !ended.sameAs(cut);
    }

    /// Bytes of sealed batches that are not delivered yet.
    public long backlogBytes() {
        return openFrom - Math.min(openFrom, bodiesFrom) + heldBytes;
    }

    /// Bytes of members that are not delivered yet. Any thread.
    public long undeliveredBytes() {
        return bodies.end() - bodiesFrom + heldBytes;
    }

    /// Continues from a checkpoint.
    ///
    /// @param state the state of the [Cut]; empty in a new directory
    public void load(byte[] state) {
        if (state.length == 0) {
            return;
        }
        @Nullable Integer openCrc = null;
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(state))) {
            numberNext = in.readLong();
            ordinalNext = in.readLong();
            openRecords = in.readInt();
            openFrom = in.readLong();
            openFirstMs = in.readLong();
            openLastMs = in.readLong();
            bodiesFrom = in.readLong();
            bodies.load(bodiesFrom, in.readLong());
            keepFrom = in.readLong();
            seals.load((keepFrom - 1) * Sealed.BYTES, in.readLong());
            forgotten = Forgotten.read(in);
            ended = forgotten;
            cut = forgotten;
            if (in.available() > 0) { // Before format 10 of the checkpoint there was nothing else.
                openCrc = in.readInt();
                deliveries = in.readBoolean() ? new TailLog.Extent(in.readLong(), in.readLong(), in.readInt()) : null;
            }
        } catch (IOException e) {
            throw new EngineException(EngineException.Kind.CORRUPT, "The checkpoint's batches end too early", e);
        }
        durable = new Durable(numberNext - 1, ordinalNext - openRecords);
        try (InputStream open = bodies.open(openFrom, bodies.end())) {
            byte[] buffer = new byte[1 << 16];
            for (int read = open.read(buffer); read > 0; read = open.read(buffer)) {
                crc.update(buffer, 0, read);
            }
            if (openCrc != null && openCrc != (int) crc.getValue()) {
                throw bodies.corrupt(openFrom, "the records of the open batch are not what was collected");
            }
            requireSeals();
        } catch (IOException e) {
            throw new IllegalStateException("A tape throws no such exception", e);
        }
    }

    private void requireSeals() throws IOException {
        try (InputStream entries = new BufferedInputStream(seals.open(seals.begin(), seals.end()))) {
            for (long number = keepFrom; number < numberNext; number++) {
                decode(number, entries.readNBytes(Sealed.BYTES));
            }
        }
    }

    private Sealed decode(long number, byte[] entry) {
        Sealed sealed = Sealed.decode(number, entry);
        if (sealed == null) {
            throw seals.corrupt(
                    (number - 1) * Sealed.BYTES,
                    "the entry of batch " + BatchNumber.of(number) + " is not what was written");
        }
        return sealed;
    }

    /// Cuts here: all that was added so far belongs to this checkpoint.
    public Cut cut() {
        bodies.letGo(bodiesFrom);
        seals.letGo((keepFrom - 1) * Sealed.BYTES);
        Forgotten now = ended;
        TailLog.Extent log = deliveries;
        byte[] state = Payload.of(100, out -> {
            out.writeLong(numberNext);
            out.writeLong(ordinalNext);
            out.writeInt(openRecords);
            out.writeLong(openFrom);
            out.writeLong(openFirstMs);
            out.writeLong(openLastMs);
            out.writeLong(bodies.begin());
            out.writeLong(bodies.end());
            out.writeLong(seals.begin() / Sealed.BYTES + 1);
            out.writeLong(seals.end());
            now.write(out);
            out.writeInt((int) crc.getValue());
            out.writeBoolean(log != null);
            if (log != null) {
                out.writeLong(log.number());
                out.writeLong(log.length());
                out.writeInt(log.checksum());
            }
        });
        cut = now;
        Durable sealed = new Durable(numberNext - 1, ordinalNext - openRecords);
        return new Cut(bodies.cut(), seals.cut(), state, sealed, now, bodies.begin(), seals.begin());
    }

    /// Writes a cut; durable when this returns. After a full disk it can be written again.
    public void write(Cut cut) throws OutOfSpaceException {
        bodies.write(cut.bodies);
        seals.write(cut.seals);
    }

    /// The checkpoint of a cut is durable: its batches can be delivered, and unneeded files are deleted.
    public void written(Cut cut) {
        bodies.release(cut.bodiesFrom);
        seals.release(cut.sealsFrom);
        durable = cut.sealed;
        undurable.removeIf(each -> each.number() <= cut.sealed.number);
        forgotten = cut.forgotten;
        whenDurable.run();
    }

    /// Called whenever batches may have become durable, by the thread that writes checkpoints.
    public void whenDurable(Runnable listener) {
        whenDurable = listener;
    }

    /// Notes that nothing in front of these places is needed any more. Any thread.
    ///
    /// @param number of the first batch whose entry is needed
    /// @param from the first byte of the bodies that is needed
    public void letGo(long number, long from) {
        keepFrom = Math.max(keepFrom, number);
        bodiesFrom = Math.max(bodiesFrom, from);
    }

    /// Notes the bytes that undelivered batches take beside the bodies. Any thread.
    public void held(long bytes) {
        heldBytes = bytes;
    }

    /// Number of the first batch whose entry is kept. Any thread.
    public long firstKnown() {
        return keepFrom;
    }

    /// The entry of a sealed batch. Any thread.
    ///
    /// @param number of a batch of a durable checkpoint, at least [#firstKnown]
    public Sealed sealed(long number) {
        return decode(number, seals.read((number - 1) * Sealed.BYTES, Sealed.BYTES));
    }

    /// The content of a sealed batch before compression. Any thread.
    public InputStream open(Sealed sealed) {
        return bodies.open(sealed.from(), sealed.to());
    }

    /// The names of all files that a checkpoint needs.
    public List<String> files() {
        List<String> names = new ArrayList<>(bodies.files());
        names.addAll(seals.files());
        return names;
    }
}
