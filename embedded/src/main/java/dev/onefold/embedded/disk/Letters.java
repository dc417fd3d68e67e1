package dev.onefold.embedded.disk;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.Place;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.fold.LineReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The dead letters on disk, in a log `letters-N`; in memory only what is listed of them. What changes belongs to
/// the next checkpoint, like the totals: after a crash both are as of the same record. Guarded by the engine's
/// lock, but for [#write] and [#release], which the checkpoint calls.
///
///     letter  = 1, id 8, reason, message, source, line 8, offset 8, bytes 8, kept 1, hash 32, seconds 8, nanos 4,
///               identity of a conflict (32 or none), record
///     removed = 2, id 8
public final class Letters implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFLETT", 2);
    private static final byte LETTER = 1;
    private static final byte REMOVED = 2;
    private static final long REWRITE_BYTES_MIN = Scale.of(16 << 20);

    /// A letter, and where its record is: in memory until a checkpoint has written it, then in the log.
    private static final class Entry {
        final DeadLetter letter;
        final String conflict;
        byte @Nullable [] record;
        long at = -1;

        Entry(DeadLetter letter, String conflict, byte @Nullable [] record) {
            this.letter = letter;
            this.conflict = conflict;
            this.record = record;
        }
    }

    private final Path directory;
    private final long identity;
    private final TreeMap<Long, Entry> entries = new TreeMap<>();
    private final Set<String> conflicts = new HashSet<>();
    private final List<Object> changes = new ArrayList<>(); // An Entry that is new, or the id of one that is gone.
    private @Nullable FramedLog log;
    private @Nullable FramedLog replacement; // Written by a checkpoint, in use once [#written] says so.
    private long sequence;
    private long idNext = 1;
    private long pendingBytes;
    private long removedBytes;

    public Letters(Path directory, long identity) {
        this.directory = directory;
        this.identity = identity;
    }

    private Path file(long number) {
        return directory.resolve("letters-" + number);
    }

    /// Reads the log that a checkpoint names.
    public void load(Checkpoint.Log named) {
        sequence = named.sequence();
        if (sequence == 0) {
            return;
        }
        FramedLog opened = FramedLog.open(file(sequence), KIND, identity, named.length());
        opened.forEach((at, payload) -> {
            try {
                read(at, new DataInputStream(new ByteArrayInputStream(payload)));
            } catch (IOException e) {
                throw Disk.corrupt(opened.file(), at, "a dead letter ends too early");
            }
        });
        log = opened;
    }

    private void read(long at, DataInputStream in) throws IOException {
        if (in.readByte() == REMOVED) {
            long id = in.readLong();
            idNext = Math.max(idNext, id + 1);
            forget(id);
            return;
        }
        Entry entry = readEntry(in);
        entry.at = at;
        idNext = Math.max(idNext, entry.letter.id() + 1);
        entries.put(entry.letter.id(), entry);
        if (!entry.conflict.isEmpty()) {
            conflicts.add(entry.conflict);
        }
    }

    private static Entry readEntry(DataInputStream in) throws IOException {
        long id = in.readLong();
        Reason reason = Reason.valueOf(text(in));
        String message = text(in);
        Place place = new Place(text(in), in.readLong(), in.readLong());
        long bytes = in.readLong();
        boolean kept = in.readBoolean();
        String hash = text(in);
        Instant at = Instant.ofEpochSecond(in.readLong(), in.readInt());
        return new Entry(new DeadLetter(id, reason, message, place, bytes, kept, hash, at), text(in), null);
    }

    private static String text(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }

    private static void write(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /// A record that is rejected.
    ///
    /// @param id that it had as a dead letter until it was redriven; 0 if it was none
    public record Rejected(long id, Place place, byte[] record, Instant at) {}

    /// Keeps a record that was rejected.
    public void add(Malformed malformed, Rejected rejected) {
        put(letter(malformed.reason(), malformed.message(), rejected), "", rejected.record);
    }

    private DeadLetter letter(Reason reason, String message, Rejected rejected) {
        long id = rejected.id > 0 ? rejected.id : idNext++;
        int bytes = rejected.record.length;
        String hash = HexFormat.of().formatHex(LineReader.sha256().digest(rejected.record));
        return new DeadLetter(id, reason, message, rejected.place, bytes, true, hash, rejected.at);
    }

    /// Keeps where a record is that is over the limit.
    public void addOversized(String message, Place place, long bytes, byte[] hash, Instant at) {
        String hex = HexFormat.of().formatHex(hash);
        put(new DeadLetter(idNext++, Reason.TOO_LARGE, message, place, bytes, false, hex, at), "", new byte[0]);
    }

    /// Keeps the loser of a conflict, once however often it comes; whether it is new.
    public boolean addConflict(String identity, String message, Rejected loser) {
        if (!conflicts.add(identity)) {
            return false;
        }
        put(letter(Reason.CONFLICT, message, loser), identity, loser.record);
        return true;
    }

    private void put(DeadLetter letter, String conflict, byte[] record) {
        Entry entry = new Entry(letter, conflict, record);
        entries.put(letter.id(), entry);
        changes.add(entry);
        pendingBytes += record.length + 200L;
    }

    /// Removes a letter; whether it was there. The loser of a conflict would be kept again, if it came again.
    public boolean remove(long id) {
        if (!entries.containsKey(id)) {
            return false;
        }
        forget(id);
        changes.add(id);
        return true;
    }

    private void forget(long id) {
        Entry entry = entries.remove(id);
        if (entry != null) {
            removedBytes += entry.letter.bytes();
            conflicts.remove(entry.conflict);
        }
    }

    /// Removes the letter of a record that was first read at a place; its id, or 0 if there was none.
    public long removeAt(Place place) {
        List<Long> ids = entries.values().stream()
                .map(entry -> entry.letter)
                .filter(letter -> letter.place().source().equals(place.source())
                        && letter.place().offset() == place.offset())
                .map(DeadLetter::id)
                .toList();
        ids.forEach(this::remove);
        return ids.isEmpty() ? 0 : ids.getFirst();
    }

    /// Begins behind the ids of others, so that no id of theirs is given again.
    public void beginBehind(Letters others) {
        idNext = others.idNext;
    }

    /// Takes over a letter of others, under its id.
    ///
    /// @param malformed why its record is rejected now
    public void takeOver(Letters others, long id, Malformed malformed) {
        Entry other = java.util.Objects.requireNonNull(others.entries.get(id));
        DeadLetter letter = other.letter;
        byte[] record = other.record;
        put(
                new DeadLetter(
                        id,
                        malformed.reason(),
                        malformed.message(),
                        letter.place(),
                        letter.bytes(),
                        letter.kept(),
                        letter.sha256(),
                        letter.at()),
                other.conflict,
                record != null ? record : others.readRecord(other));
        if (!other.conflict.isEmpty()) {
            conflicts.add(other.conflict);
        }
    }

    /// Whether a letter is the loser of a conflict with this identity.
    public boolean isConflict(long id, String identity) {
        Entry entry = entries.get(id);
        return entry != null && entry.conflict.equals(identity);
    }

    /// Bytes of records that wait for a checkpoint.
    public long pendingBytes() {
        return pendingBytes;
    }

    public long size() {
        return entries.size();
    }

    public List<DeadLetter> list(long after, int limit) {
        return entries.tailMap(after, false).values().stream()
                .limit(limit)
                .map(entry -> entry.letter)
                .toList();
    }

    @Nullable
    public DeadLetter letter(long id) {
        Entry entry = entries.get(id);
        return entry == null ? null : entry.letter;
    }

    /// Whether a checkpoint holds the letter, or it is gone.
    public boolean isDurable(long id) {
        Entry entry = entries.get(id);
        return entry == null || entry.at >= 0;
    }

    /// The record of a letter that is there.
    public byte[] record(long id) {
        Entry entry = entries.get(id);
        if (entry == null) {
            throw new IllegalArgumentException("There is no dead letter " + id);
        }
        if (!entry.letter.kept()) {
            throw new IllegalArgumentException("Dead letter " + id + " has " + entry.letter.bytes()
                    + " bytes, over the limit; only its place and hash are kept. Read it from " + entry.letter.place());
        }
        byte[] record = entry.record;
        return record != null ? record : readRecord(entry);
    }

    private byte[] readRecord(Entry entry) {
        FramedLog open = java.util.Objects.requireNonNull(log);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(open.read(entry.at)));
        try {
            in.readByte();
            readEntry(in);
            return in.readAllBytes();
        } catch (IOException e) {
            throw Disk.corrupt(open.file(), entry.at, "a dead letter ends too early");
        }
    }

    /// What a checkpoint has to write.
    ///
    /// @param changes entries, and ids of removed ones, in order
    /// @param all if the log is to be written anew the last id, so that it is not given again, and every entry
    public record Cut(List<Object> changes, boolean anew, List<Object> all) {}

    /// Cuts: what changed so far belongs to this checkpoint.
    public Cut cut() {
        FramedLog open = log;
        boolean anew = open != null && removedBytes > REWRITE_BYTES_MIN && removedBytes > open.length() / 2;
        List<Object> all = new ArrayList<>();
        if (anew) {
            all.add(idNext - 1);
            all.addAll(entries.values());
        }
        Cut cut = new Cut(List.copyOf(changes), anew, all);
        changes.clear();
        pendingBytes = 0;
        if (anew) {
            removedBytes = 0;
        }
        return cut;
    }

    /// Writes a cut and forces it; the log that the checkpoint shall name.
    ///
    /// @param positions is told where each entry's record is now; give it to [#written] under the engine's lock
    public Checkpoint.Log write(Cut cut, List<Written> positions) throws OutOfSpaceException {
        positions.clear();
        FramedLog open = log;
        if (cut.changes.isEmpty() && !cut.anew) {
            return new Checkpoint.Log(sequence, open == null ? 0 : open.length());
        }
        boolean fresh = open == null || cut.anew;
        FramedLog target =
                fresh ? FramedLog.create(file(sequence + 1), KIND, identity) : java.util.Objects.requireNonNull(open);
        for (Object change : cut.anew ? cut.all : cut.changes) {
            byte[] payload = change instanceof Entry entry ? encode(entry) : encodeRemoved((Long) change);
            long at = target.append(payload, payload.length);
            if (change instanceof Entry entry) {
                positions.add(new Written(entry, at));
            }
        }
        target.force();
        replacement = fresh ? target : null;
        return new Checkpoint.Log(fresh ? sequence + 1 : sequence, target.length());
    }

    /// Where a letter's record is.
    public record Written(Object entry, long at) {}

    /// Lets go of records that are in the log now.
    public void written(List<Written> positions) {
        for (Written each : positions) {
            Entry entry = (Entry) each.entry;
            entry.at = each.at;
            entry.record = null;
        }
        FramedLog fresh = replacement;
        if (fresh != null) {
            if (log != null) {
                log.close();
            }
            log = fresh;
            sequence++;
            replacement = null;
        }
    }

    /// Deletes the log that a durable checkpoint does not name any more.
    public void release(Cut cut) {
        if (cut.anew) {
            Disk.delete(file(sequence));
        }
    }

    private byte[] encode(Entry entry) {
        byte[] record = entry.record;
        if (record == null) {
            record = readRecord(entry);
        }
        DeadLetter letter = entry.letter;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(200 + record.length);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(LETTER);
            out.writeLong(letter.id());
            write(out, letter.reason().name());
            write(out, letter.message());
            write(out, letter.place().source());
            out.writeLong(letter.place().line());
            out.writeLong(letter.place().offset());
            out.writeLong(letter.bytes());
            out.writeBoolean(letter.kept());
            write(out, letter.sha256());
            out.writeLong(letter.at().getEpochSecond());
            out.writeInt(letter.at().getNano());
            write(out, entry.conflict);
            out.write(record);
        } catch (IOException e) {
            throw new IllegalStateException("Writing into memory failed", e);
        }
        return bytes.toByteArray();
    }

    private static byte[] encodeRemoved(long id) {
        return java.nio.ByteBuffer.allocate(9).put(REMOVED).putLong(id).array();
    }

    @Override
    public void close() {
        if (replacement != null) {
            replacement.close();
        }
        if (log != null) {
            log.close();
        }
    }
}
