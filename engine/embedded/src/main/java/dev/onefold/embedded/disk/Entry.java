package dev.onefold.embedded.disk;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.RecordKind;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// An entry of the journal: a change of the state that cannot be read again.
///
///     lines    = 8, source, lines before 8, offset 8, arrived 8, next letter 8, lines
///     messages = 9, the same with messages, each in a frame of its own
///     rows     = 10, the same with lines that a seeding or a repair has brought
///     redrive  = 11, id 8, source, line 8, offset 8, arrived 8, next letter 8, settles 1, kind of the record 1, record
///     purge    = 3, count 4, letters: id 8, source, line 8, offset 8, settles 1, identity
///     oversize = 4, source, lines before 8, offset 8, bytes 8, next letter 8, SHA-256 32
///
/// Lines were 5, messages 7 and redrives 6, without a kind, before kinds were noted: their records are
/// [RecordKind#UNMARKED].
///
/// The id of the next letter precedes the content that may become letters. A fold of a file beside it may have
/// given ids that a crash takes back, and a reported id of a letter must stay valid.
public sealed interface Entry {
    /// Whole lines of a source, or messages of a queue, with the number of records and of bytes of the source
    /// before them.
    ///
    /// @param messages whether these are messages, in frames
    /// @param arrivedMs time of their arrival, in milliseconds since 1970; a replay decides by it
    /// @param letterNext id of the next dead letter when they arrived
    record Lines(
            String source,
            long recordsBefore,
            long offset,
            long arrivedMs,
            long letterNext,
            boolean messages,
            RecordKind kind,
            byte[] bytes)
            implements Entry {
        private int code() {
            return switch (kind) {
                case SENT -> messages ? 9 : 8;
                case ROW -> 10;
                case UNMARKED -> messages ? 7 : 5;
            };
        }
    }

    /// A dead letter that is sent through again, as this record, under the place where it was first read.
    ///
    /// @param arrivedMs when the record was first read, in milliseconds since 1970: that decides about its time
    /// @param kind of the record that is sent through; an edit is [RecordKind#SENT]
    record Redrive(
            long id, Place place, long arrivedMs, long letterNext, Settles settles, RecordKind kind, byte[] record)
            implements Entry {
        /// Whether the record replaces the first one from then on, also when the sources are folded again.
        public boolean decides() {
            return settles != Settles.NOTHING;
        }
    }

    /// Dead letters that are removed for good.
    record Purge(List<Purged> letters) implements Entry {
        public Purge {
            letters = List.copyOf(letters);
        }
    }

    /// A letter that is removed.
    ///
    /// @param place of its record, by which a fold of the sources knows the record
    /// @param identity of its event, by which a fold of the sources knows the letters of other copies; may be empty
    record Purged(long id, Place place, Settles settles, String identity) {}

    /// The kind of record that is settled when a person redrives or purges a dead letter. The codes are part of
    /// the format.
    enum Settles {
        /// The redriven record is the one that arrived, or it was rejected again. (Entries of Onefold 0.1
        /// have this only for a record that was not an event.)
        NOTHING(0),

        /// A record that was rejected, and has changed nothing.
        REJECTED(1),

        /// The loser of a conflict among rows.
        LOST_ROW(2),

        /// An event at which the user's function had failed.
        FAILED(3),

        /// The loser of a conflict among the events of a function.
        LOST(4);

        private final int code;

        Settles(int code) {
            this.code = code;
        }

        static Settles of(int code) {
            for (Settles each : values()) {
                if (each.code == code) {
                    return each;
                }
            }
            throw new IllegalArgumentException("A letter settles " + code);
        }
    }

    /// A line over the limit: only these values are kept.
    record Oversized(String source, long recordsBefore, long offset, long bytes, long letterNext, byte[] sha256)
            implements Entry {}

    /// As it is written.
    default ByteBuffer encode() {
        return ByteBuffer.wrap(Payload.of(this instanceof Lines lines ? lines.bytes.length + 1_000 : 1_000, out -> {
            switch (this) {
                case Lines lines -> {
                    out.writeByte(lines.code());
                    Payload.write(out, lines.source);
                    out.writeLong(lines.recordsBefore);
                    out.writeLong(lines.offset);
                    out.writeLong(lines.arrivedMs);
                    out.writeLong(lines.letterNext);
                    out.write(lines.bytes);
                }
                case Redrive redrive -> {
                    boolean isUnmarked = redrive.kind == RecordKind.UNMARKED;
                    out.writeByte(isUnmarked ? 6 : 11);
                    out.writeLong(redrive.id);
                    write(out, redrive.place);
                    out.writeLong(redrive.arrivedMs);
                    out.writeLong(redrive.letterNext);
                    out.writeByte(redrive.settles.code);
                    if (!isUnmarked) {
                        out.writeByte(redrive.kind.code());
                    }
                    out.write(redrive.record);
                }
                case Purge purge -> {
                    out.writeByte(3);
                    out.writeInt(purge.letters.size());
                    for (Purged letter : purge.letters) {
                        out.writeLong(letter.id);
                        write(out, letter.place);
                        out.writeByte(letter.settles.code);
                        Payload.write(out, letter.identity);
                    }
                }
                case Oversized oversized -> {
                    out.writeByte(4);
                    Payload.write(out, oversized.source);
                    out.writeLong(oversized.recordsBefore);
                    out.writeLong(oversized.offset);
                    out.writeLong(oversized.bytes);
                    out.writeLong(oversized.letterNext);
                    out.write(oversized.sha256);
                }
            }
        }));
    }

    /// As it was written; the journal has checked that it is whole.
    static Entry decode(byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            byte kind = in.readByte();
            return switch (kind) {
                case 5, 7, 8, 9, 10 ->
                    new Lines(
                            Payload.text(in),
                            in.readLong(),
                            in.readLong(),
                            in.readLong(),
                            in.readLong(),
                            kind == 7 || kind == 9,
                            kind < 8 ? RecordKind.UNMARKED : kind == 10 ? RecordKind.ROW : RecordKind.SENT,
                            in.readAllBytes());
                case 6, 11 ->
                    new Redrive(
                            in.readLong(),
                            place(in),
                            in.readLong(),
                            in.readLong(),
                            Settles.of(in.readByte()),
                            kind == 6 ? RecordKind.UNMARKED : RecordKind.of(in.readByte()),
                            in.readAllBytes());
                case 3 -> {
                    List<Purged> letters = new ArrayList<>();
                    for (int count = in.readInt(); count > 0; count--) {
                        letters.add(new Purged(in.readLong(), place(in), Settles.of(in.readByte()), Payload.text(in)));
                    }
                    yield new Purge(letters);
                }
                case 4 ->
                    new Oversized(
                            Payload.text(in),
                            in.readLong(),
                            in.readLong(),
                            in.readLong(),
                            in.readLong(),
                            in.readAllBytes());
                default ->
                    throw new EngineException(
                            EngineException.Kind.FORMAT,
                            "The journal holds an entry of kind " + payload[0]
                                    + ". Use the version of Onefold that wrote it.");
            };
        } catch (IOException e) {
            throw new IllegalStateException("A checked entry is cut off", e);
        }
    }

    private static void write(DataOutputStream out, Place place) throws IOException {
        Payload.write(out, place.source());
        out.writeLong(place.line());
        out.writeLong(place.offset());
    }

    private static Place place(DataInputStream in) throws IOException {
        return new Place(Payload.text(in), in.readLong(), in.readLong());
    }
}
