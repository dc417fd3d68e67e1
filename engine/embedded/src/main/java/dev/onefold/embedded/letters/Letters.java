package dev.onefold.embedded.letters;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FramedLog;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.rows.Memory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The dead letters: whole in a log `letters-N`; in memory only their places, see [LetterSlots], and the
/// changes that no checkpoint has written yet. A change belongs to the next checkpoint, like the totals:
/// after a crash both are as of the same record. Guarded by the engine's lock, except [#write] and
/// [#release], which the checkpoint calls.
///
/// The log is rewritten when more than half of it, and 16 MiB, is of frames that are not valid any more. The
/// new log begins with the removal of the last given id, so that no id is given twice.
public final class Letters implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFLETT", 4);
    private static final long REWRITE_BYTES_MIN = Scale.of(16 << 20);
    private static final long PENDING_OVERHEAD_BYTES = 48;
    /// Bytes of the heap that a letter takes beside its record until a checkpoint has written it, about.
    public static final long PENDING_BYTES = 400;

    private final Path directory;
    private final long identity;
    private final Memory memory;
    private final LetterSlots slots;
    private final LetterIndex conflicts;
    private final LetterLog lines = new LetterLog();
    private @Nullable LetterPlaces places; // Made when a place is looked for.
    private final List<byte[]> unwritten = new ArrayList<>();
    private long unwrittenFirst = 1; // Number of the first of them.
    private @Nullable FramedLog log;
    private @Nullable FramedLog replacement; // Written by a checkpoint, in use once [#written] says so.
    private long sequence;
    private long idNext = 1;
    private long pendingBytes;
    private long liveBytes;

    public Letters(Path directory, long identity, Memory memory) {
        this.directory = directory;
        this.identity = identity;
        this.memory = memory;
        slots = new LetterSlots(memory);
        conflicts = new LetterIndex(memory, slots);
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
        log = opened;
        opened.forEach((at, payload) -> {
            long id = LetterFrame.id(payload);
            idNext = Math.max(idNext, id + 1);
            if (LetterFrame.isRemoval(payload)) {
                forget(id);
            } else {
                boolean isConflict =
                        !LetterFrame.read(opened, at, payload).conflict().isEmpty();
                put(id, payload, LetterSlots.packed(at, LetterFrame.bytes(payload)), isConflict);
            }
        });
        if (slots.isSparse()) {
            compact();
        }
    }

    /// Bytes of memory that may be needed to keep this many more.
    ///
    /// @param events number of events that may lose a conflict; if none has lost one yet, the first ones need
    ///     few bytes
    public long bytesFor(long rejected, long events) {
        long losers = conflicts.isEmpty() ? 0 : events;
        return slots.bytesFor(rejected + losers) + conflicts.bytesFor(losers);
    }

    /// Keeps a rejected record. A redriven one keeps its letter, with its first record.
    ///
    /// @param identity the identity that the record states
    public void add(Malformed malformed, RecordIdentity identity, Rejected rejected, DeadLetter.Content content) {
        if (rejected.id() > 0) {
            put(frame(rejected.id()).rejectedAgain(malformed, rejected.record()));
        } else {
            DeadLetter letter = LetterFrame.letter(idNext++, malformed, rejected, content);
            lines.note(letter);
            put(LetterFrame.first(letter, identity.keyHash(), "", rejected.record(), rejected.kind()));
        }
    }

    /// Keeps the place of a record that is over the limit.
    public void addOversized(String message, Place place, long bytes, byte[] hash, Instant at) {
        String hex = HexFormat.of().formatHex(hash);
        DeadLetter.Content content = DeadLetter.Content.NOTHING;
        DeadLetter letter = new DeadLetter(idNext++, Reason.TOO_LARGE, message, place, bytes, content, false, hex, at);
        lines.note(letter);
        put(LetterFrame.first(letter, 0, "", new byte[0], RecordKind.SENT));
    }

    /// Keeps the loser of a conflict, once however often it comes.
    ///
    /// @param id number of the loser's dead letter until it was decided again; 0 if it had none
    /// @param place of the loser
    /// @param kind of the loser's record, if that is kept
    /// @return whether it is under the id of its earlier letter
    public boolean addConflict(ConflictLetter lost, long id, Place place, Instant at, RecordKind kind) {
        String identity = lost.identity();
        boolean isRecord = lost.content() == DeadLetter.Content.RECORD;
        long known = of(identity);
        if (known > 0 && known != id) {
            // The loser is kept under another id. The letter that it came with keeps its record beside a lost edit.
            boolean stays = id > 0
                    && isRecord
                    && !LetterFrame.hash(lost.kept()).equals(frame(id).letter().sha256());
            if (stays) {
                put(frame(id).lostAgain(lost.why(), "", lost.kept()));
            }
            return stays;
        }
        if (id > 0 && isRecord) { // If it is known: its last edit may have been rejected meanwhile.
            put(frame(id).lostAgain(lost.why(), known > 0 ? "" : identity, lost.kept()));
        } else if (known == 0) {
            Rejected loser = new Rejected(id, place, lost.kept(), at, kind);
            DeadLetter letter = LetterFrame.letter(id > 0 ? id : idNext++, lost.why(), loser, lost.content());
            if (id == 0) {
                lines.note(letter);
            }
            put(
                    id > 0
                            ? frame(id).lostAs(letter, identity, lost.kept())
                            : LetterFrame.first(letter, LetterFrame.tagOf(identity), identity, lost.kept(), kind));
        }
        return id > 0;
    }

    /// The letter that is kept under the identity of a loser; 0 if there is none.
    public long of(String identity) {
        long slot = conflicts.find(
                LetterFrame.tagOf(identity),
                at -> frame(slots.id(at)).conflict().equals(identity));
        return slot < 0 ? 0 : slots.id(slot);
    }

    private void put(LetterFrame frame) {
        byte[] payload = frame.encode();
        unwritten.add(payload);
        pendingBytes += payload.length + PENDING_OVERHEAD_BYTES;
        long number = unwrittenFirst + unwritten.size() - 1;
        put(frame.letter().id(), payload, -number, !frame.conflict().isEmpty());
    }

    private void put(long id, byte[] payload, long position, boolean isConflict) {
        long slot = slots.from(id);
        long tag = LetterFrame.tag(payload);
        boolean isNew = slot == slots.size();
        if (isNew) {
            slots.add(id, isConflict, position, tag);
        } else if (slots.id(slot) != id) {
            throw new IllegalStateException("Dead letter " + id + " was given behind " + slots.id(slot));
        } else {
            liveBytes -= length(slots.position(slot));
        }
        if (isConflict && (isNew || !slots.isConflict(slot) || slots.tag(slot) != tag)) {
            conflicts.add(tag, slot);
        }
        slots.set(slot, id, isConflict, position, tag);
        liveBytes += LetterFrame.bytes(payload);
        if (isNew && places != null) {
            places.add(slot);
        }
    }

    private long length(long position) {
        return position >= 0 ? LetterSlots.length(position) : LetterFrame.bytes(pending(position));
    }

    private byte[] pending(long position) {
        return unwritten.get((int) (-position - unwrittenFirst));
    }

    /// Removes a letter; whether it was there. The loser of a conflict would be kept again, if it came again.
    public boolean remove(long id) {
        if (!forget(id)) {
            return false;
        }
        unwritten.add(LetterFrame.removal(id));
        pendingBytes += PENDING_OVERHEAD_BYTES;
        return true;
    }

    /// Removes the letter of an event that lost a conflict, or that a function has met, if there is one.
    ///
    /// @param identity as [#identity] has it
    public void removeOf(String identity) {
        if (!identity.isEmpty()) {
            remove(of(identity));
        }
    }

    private boolean forget(long id) {
        long slot = slots.find(id);
        if (slot >= 0) {
            liveBytes -= length(slots.position(slot));
            slots.position(slot, 0);
        }
        return slot >= 0;
    }

    /// The ids of the letters of records that were first read at a place, in their order.
    public List<Long> at(Place place) {
        places = places == null ? new LetterPlaces(memory, slots, this::inSlot) : places;
        return places.at(place);
    }

    /// Takes over all letters of others, under their ids; no id of theirs is given again.
    ///
    /// @param kept called after each of them, so that a checkpoint may be taken
    public void addAll(Letters others, Runnable kept) {
        for (long slot = 0; slot < others.slots.size(); slot++) {
            if (others.slots.position(slot) != 0) {
                put(others.frame(others.slots.id(slot)));
                kept.run();
            }
        }
        idNext = others.idNext;
    }

    /// Keeps an edit beside a record, as one that was rejected.
    public void edit(long id, byte[] edit) {
        put(frame(id).edited(edit));
    }

    /// Notes why another definition rejects a letter, and the bytes that are kept of its record under that
    /// one.
    public void decide(Malformed malformed, RecordIdentity identity, Rejected rejected, DeadLetter.Content content) {
        DeadLetter as = LetterFrame.letter(rejected.id(), malformed, rejected, content);
        put(frame(rejected.id()).decided(as, identity.keyHash(), rejected.record()));
    }

    /// Gives no id below this one from now on.
    public void numberFrom(long id) {
        idNext = Math.max(idNext, id);
    }

    /// Bytes that wait for a checkpoint.
    public long pendingBytes() {
        return pendingBytes;
    }

    /// The id of the next letter.
    public long idNext() {
        return idNext;
    }

    public long size() {
        return slots.live();
    }

    public List<DeadLetter> list(long after, int limit) {
        List<DeadLetter> list = new ArrayList<>();
        long first = after == Long.MAX_VALUE ? slots.size() : slots.from(after + 1);
        for (long slot = first; slot < slots.size() && list.size() < limit; slot++) {
            if (slots.position(slot) != 0) {
                list.add(inSlot(slot));
            }
        }
        return list;
    }

    /// Records whose key may have this hash, in the order of their ids; also those of an [EventIdentity].
    public List<Long> ofKeyHash(long hash) {
        List<Long> found = new ArrayList<>();
        for (long slot = 0; slot < slots.size() && found.size() < DeadLetters.PAGE; slot++) {
            if (EventIdentity.mayBeOf(hash, slots.tag(slot), slots.isConflict(slot)) && slots.position(slot) != 0) {
                found.add(slots.id(slot));
            }
        }
        return found;
    }

    private DeadLetter inSlot(long slot) {
        return frame(slots.id(slot)).letter();
    }

    public @Nullable DeadLetter letter(long id) {
        return slots.find(id) < 0 ? null : frame(id).letter();
    }

    /// Whether a checkpoint holds the letter as it is, or it is gone.
    public boolean isDurable(long id) {
        long slot = slots.find(id);
        return slot < 0 || slots.position(slot) > 0;
    }

    /// The identity of the event of a letter that is there; empty if none is known.
    public String identity(long id) {
        return frame(id).conflict();
    }

    /// The kept bytes of an existing letter's record: the record, or a summary of its event.
    public byte[] record(long id) {
        if (slots.find(id) < 0) {
            throw new IllegalArgumentException("There is no dead letter " + id);
        }
        LetterFrame frame = frame(id);
        if (!frame.letter().kept()) {
            throw new IllegalArgumentException("Dead letter " + id + " has "
                    + frame.letter().bytes() + " bytes, over the limit; only its place and hash are kept. Read it from "
                    + frame.letter().place());
        }
        return frame.content();
    }

    /// The kind of an existing letter's record, by the way it came.
    public RecordKind kind(long id) {
        return frame(id).kind();
    }

    /// The last edit of a letter; `null` if it has none, or is not there.
    public byte @Nullable [] edited(long id) {
        return slots.find(id) < 0 ? null : frame(id).edit();
    }

    /// The edit that counts instead of the record; `null` if there is none. See [LetterFrame].
    public byte @Nullable [] settledEdit(long id) {
        return frame(id).settledEdit();
    }

    private LetterFrame frame(long id) {
        long slot = slots.find(id);
        if (slot < 0) {
            throw new IllegalStateException("Dead letter " + id + " is not there");
        }
        long position = slots.position(slot);
        FramedLog open = log;
        if (position > 0 && open != null) {
            return LetterFrame.read(open, LetterSlots.at(position), open.read(LetterSlots.at(position)));
        }
        try {
            return LetterFrame.decode(pending(position));
        } catch (IOException e) {
            throw new IllegalStateException("A dead letter in memory cannot be read", e);
        }
    }

    /// Cuts: all changes so far belong to this checkpoint.
    public LetterCut cut() {
        if (slots.isSparse()) {
            compact();
        }
        FramedLog open = log;
        long length = open == null ? 0 : open.length() + pendingBytes;
        long dead = length - liveBytes;
        boolean rewrites = dead > REWRITE_BYTES_MIN
                && dead > length / 2
                && memory.fits(new LetterSlots(memory).bytesFor(slots.live()));
        pendingBytes = 0;
        return new LetterCut(List.copyOf(unwritten), unwrittenFirst, rewrites ? slots.copy() : null, idNext - 1);
    }

    private void compact() {
        slots.compact();
        conflicts.clear();
        for (long slot = 0; slot < slots.size(); slot++) {
            if (slots.isConflict(slot)) {
                conflicts.add(slots.tag(slot), slot);
            }
        }
        if (places != null) {
            places.close();
            places = null;
        }
    }

    /// Writes a cut and forces it; returns the log that the checkpoint must name.
    public Checkpoint.Log write(LetterCut cut) throws OutOfSpaceException {
        FramedLog open = log;
        if (cut.changes.isEmpty() && cut.all == null) {
            return new Checkpoint.Log(sequence, open == null ? 0 : open.length());
        }
        boolean fresh = open == null || cut.all != null;
        if (replacement != null) {
            replacement.close(); // A full disk has interrupted the writing.
            replacement = null;
        }
        FramedLog target = fresh ? FramedLog.create(file(sequence + 1), KIND, identity) : Objects.requireNonNull(open);
        replacement = fresh ? target : null;
        cut.write(open, target);
        target.force();
        return new Checkpoint.Log(fresh ? sequence + 1 : sequence, target.length());
    }

    /// Releases changes that are in the log now.
    public void written(LetterCut cut) {
        if (cut.all != null) {
            for (long slot = 0; slot < cut.all.size(); slot++) {
                moved(cut.all.id(slot), cut.all.position(slot), cut.all.tag(slot));
            }
            cut.all.close();
        } else {
            for (int i = 0; i < cut.changes.size(); i++) {
                byte[] payload = cut.changes.get(i);
                if (!LetterFrame.isRemoval(payload)) {
                    moved(LetterFrame.id(payload), -(cut.first + i), cut.at[i]);
                }
            }
        }
        unwritten.subList(0, cut.changes.size()).clear();
        unwrittenFirst += cut.changes.size();
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

    /// Logs new letters from now on, and those that were kept since they were loaded: the view serves.
    ///
    /// @param pipeline its name
    public void log(String pipeline) {
        lines.begin(pipeline);
    }

    private void moved(long id, long from, long to) {
        long slot = slots.find(id);
        if (slot >= 0 && slots.position(slot) == from) {
            liveBytes += LetterSlots.length(to) - length(from);
            slots.position(slot, to);
        }
    }

    /// Deletes the log that a durable checkpoint does not name any more.
    public void release(LetterCut cut) {
        if (cut.all != null) {
            Disk.delete(file(sequence));
        }
    }

    @Override
    public void close() {
        lines.write();
        if (replacement != null) {
            replacement.close();
        }
        if (log != null) {
            log.close();
        }
    }

    /// Frees the memory. Nobody may write any more.
    public void free() {
        slots.close();
        conflicts.clear();
        if (places != null) {
            places.close();
        }
    }
}
