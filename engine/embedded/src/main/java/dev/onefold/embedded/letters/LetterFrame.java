package dev.onefold.embedded.letters;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FramedLog;
import dev.onefold.embedded.disk.Payload;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// A letter as it is in the log, whole. The last frame of an id counts.
///
///     letter  = 3, id 8, tag 8, reason, message, source, line 8, offset 8, bytes 8, content, SHA-256 32, seconds 8,
///               nanos 4, identity of a conflict (32 or none), bytes kept,
///               edit (1 or, if it is settled, 2; bytes) or 0, kind of the record 1
///     removed = 2, id 8
///
/// Texts and bytes have their length, 4, in front of them. A letter from before kinds were noted is 1, without the
/// kind.
///
/// @param tag of a conflict: the first 8 bytes of its identity; of another letter: hash of the key that its
///     record states, 0 if that cannot be read
/// @param conflict identity of the loser of a conflict, in hexadecimal; empty for another letter
/// @param content bytes that are kept of the record
/// @param edit the last one
/// @param settled whether the edit was an event when it was redriven, and lost a conflict: it counts from then on, and
///     not the first record. An edit that was accepted is the content.
/// @param kind of the record whose bytes are kept; an edit is [RecordKind#SENT]
record LetterFrame(
        DeadLetter letter,
        long tag,
        String conflict,
        byte[] content,
        byte @Nullable [] edit,
        boolean settled,
        RecordKind kind) {
    private static final byte LETTER = 3;
    private static final byte LETTER_UNMARKED = 1;
    private static final byte REMOVED = 2;
    private static final byte NO_EDIT = 0;
    private static final byte EDIT = 1;
    private static final byte SETTLED_EDIT = 2;
    private static final int ID_AT = 1;
    private static final int TAG_AT = 9;
    private static final long HEADER_BYTES = 8;

    static boolean isRemoval(byte[] payload) {
        return payload[0] == REMOVED;
    }

    static long id(byte[] payload) {
        return ByteBuffer.wrap(payload).getLong(ID_AT);
    }

    static long tag(byte[] payload) {
        return ByteBuffer.wrap(payload).getLong(TAG_AT);
    }

    static long tagOf(String conflict) {
        return Long.parseUnsignedLong(conflict, 0, 16, 16);
    }

    static byte[] removal(long id) {
        return ByteBuffer.allocate(TAG_AT).put(REMOVED).putLong(id).array();
    }

    static DeadLetter letter(long id, Malformed malformed, Rejected rejected, DeadLetter.Content content) {
        int bytes = rejected.record().length;
        String hash = hash(rejected.record());
        return new DeadLetter(
                id,
                malformed.reason(),
                malformed.message(),
                rejected.place(),
                bytes,
                content,
                false,
                hash,
                rejected.at());
    }

    /// A letter that has no edit yet.
    static LetterFrame first(DeadLetter letter, long tag, String conflict, byte[] content, RecordKind kind) {
        return new LetterFrame(letter, tag, conflict, content, null, false, kind);
    }

    static String hash(byte[] record) {
        return Sha256.hex(record);
    }

    /// The same, after it was redriven and lost a conflict, or its function rejected it. Only an edit that has lost
    /// is settled.
    ///
    /// @param lost identity of the loser; empty if another letter is kept of it
    /// @param record the redriven record; kept as an edit, unless it is the record of the letter
    LetterFrame lostAgain(Malformed malformed, String lost, byte[] record) {
        boolean asItWas = isContent(record);
        boolean hasLost = malformed.reason() == Reason.CONFLICT;
        LetterFrame kept = settled && !hasLost && !asItWas ? ofEdit() : this;
        return new LetterFrame(
                        kept.letter,
                        lost.isEmpty() ? tag : tagOf(lost),
                        lost.isEmpty() ? conflict : lost,
                        kept.content,
                        asItWas ? edit : record,
                        hasLost ? !asItWas : asItWas && settled,
                        kept.kind)
                .because(malformed);
    }

    /// The same, after its record or summary has lost a conflict.
    LetterFrame lostAs(DeadLetter as, String lost, byte[] kept) {
        return new LetterFrame(as, tagOf(lost), lost, kept, edit, false, kind);
    }

    private boolean isContent(byte[] record) {
        return letter.content() == DeadLetter.Content.RECORD && hash(record).equals(letter.sha256());
    }

    /// The same, after it was redriven and was not an event. A settled edit becomes the record, so that it
    /// stays.
    LetterFrame rejectedAgain(Malformed malformed, byte[] record) {
        if (isContent(record) || edit != null && Arrays.equals(edit, record)) {
            return because(malformed);
        }
        LetterFrame kept = settled ? ofEdit() : this;
        return new LetterFrame(kept.letter, kept.tag, kept.conflict, kept.content, record, false, kept.kind)
                .because(malformed);
    }

    /// The edit that counts instead of the record; `null` if there is none.
    byte @Nullable [] settledEdit() {
        return settled ? edit : null;
    }

    /// The same, with another edit beside its record.
    LetterFrame edited(byte[] by) {
        return rejectedAgain(new Malformed(letter.reason(), letter.message()), by);
    }

    /// The same under another definition, which rejects it.
    ///
    /// @param as its number, its place, and why it is rejected
    /// @param keyHash of the key that the record states; 0 if that cannot be read
    /// @param kept the kept bytes of the record; if these are the last edit, there is no edit any more
    LetterFrame decided(DeadLetter as, long keyHash, byte[] kept) {
        boolean isEdit = edit != null && Arrays.equals(edit, kept);
        return new LetterFrame(as, keyHash, "", kept, isEdit ? null : edit, false, isEdit ? RecordKind.SENT : kind)
                .because(new Malformed(as.reason(), as.message()));
    }

    /// The same with its last edit as its record: the edit was accepted once, and replaces the first record.
    LetterFrame ofEdit() {
        byte[] last = edit;
        if (last == null) {
            return this;
        }
        Rejected rejected = new Rejected(letter.id(), letter.place(), last, letter.at(), RecordKind.SENT);
        Malformed malformed = new Malformed(letter.reason(), letter.message());
        return decided(LetterFrame.letter(letter.id(), malformed, rejected, DeadLetter.Content.RECORD), tag, last);
    }

    /// The same, rejected for this.
    LetterFrame because(Malformed malformed) {
        DeadLetter because = new DeadLetter(
                letter.id(),
                malformed.reason(),
                malformed.message(),
                letter.place(),
                letter.bytes(),
                letter.content(),
                edit != null,
                letter.sha256(),
                letter.at());
        return new LetterFrame(because, tag, conflict, content, edit, settled, kind);
    }

    byte[] encode() {
        return Payload.of(200 + content.length, out -> {
            out.writeByte(kind == RecordKind.UNMARKED ? LETTER_UNMARKED : LETTER);
            out.writeLong(letter.id());
            out.writeLong(tag);
            Payload.write(out, letter.reason().name());
            Payload.write(out, letter.message());
            Payload.write(out, letter.place().source());
            out.writeLong(letter.place().line());
            out.writeLong(letter.place().offset());
            out.writeLong(letter.bytes());
            Payload.write(out, letter.content().name());
            out.write(HexFormat.of().parseHex(letter.sha256()));
            out.writeLong(letter.at().getEpochSecond());
            out.writeInt(letter.at().getNano());
            Payload.write(out, HexFormat.of().parseHex(conflict));
            Payload.write(out, content);
            out.writeByte(edit == null ? NO_EDIT : settled ? SETTLED_EDIT : EDIT);
            if (edit != null) {
                Payload.write(out, edit);
            }
            if (kind != RecordKind.UNMARKED) {
                out.writeByte(kind.code());
            }
        });
    }

    /// Bytes of a frame in the log.
    static long bytes(byte[] payload) {
        return HEADER_BYTES + payload.length;
    }

    /// A letter in a log.
    static LetterFrame read(FramedLog from, long at, byte[] payload) {
        try {
            return decode(payload);
        } catch (IOException | RuntimeException e) {
            throw Disk.corrupt(from.file(), at, "a dead letter cannot be read: " + e.getMessage());
        }
    }

    /// Reads a letter that was written.
    ///
    /// @throws IOException if it ends too early, or is not a letter
    static LetterFrame decode(byte[] payload) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload));
        byte form = in.readByte();
        if (form != LETTER && form != LETTER_UNMARKED) {
            throw new IOException("it is no letter");
        }
        long id = in.readLong();
        long tag = in.readLong();
        Reason reason = Reason.valueOf(Payload.text(in));
        String message = Payload.text(in);
        Place place = new Place(Payload.text(in), in.readLong(), in.readLong());
        long length = in.readLong();
        DeadLetter.Content kind = DeadLetter.Content.valueOf(Payload.text(in));
        String hash = HexFormat.of().formatHex(in.readNBytes(32));
        Instant at = Instant.ofEpochSecond(in.readLong(), in.readInt());
        String conflict = HexFormat.of().formatHex(Payload.bytes(in));
        byte[] content = Payload.bytes(in);
        byte edited = in.readByte();
        byte[] edit = edited == NO_EDIT ? null : Payload.bytes(in);
        return new LetterFrame(
                new DeadLetter(id, reason, message, place, length, kind, edit != null, hash, at),
                tag,
                conflict,
                content,
                edit,
                edited == SETTLED_EDIT,
                form == LETTER_UNMARKED ? RecordKind.UNMARKED : RecordKind.of(in.readByte()));
    }
}
