package dev.onefold.aws.batch;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.Letter;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.RecordLine;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;

/// A record, decoded as far as a batch needs it.
sealed interface Message {
    /// One that is recorded under its id.
    ///
    /// @param idHash SHA-256 of what makes it the same message when it comes again
    /// @param content see [Event#contentHash]
    /// @param line the record as it is in a batch
    /// @param isMember whether it is in a batch; the pipeline's filter leaves it out otherwise
    record Good(byte[] idHash, long content, byte[] line, boolean isMember, Arrival arrival) implements Message {
        ByteBuffer id() {
            return ByteBuffer.wrap(idHash);
        }

        /// SHA-256 of what its source names it by; it keeps that when it comes again.
        byte[] seenHash() {
            return Claim.seenHash(arrival.identity());
        }

        /// SHA-256 of what a redrive is known by when it is done again: the message, and what a person made of it. The
        /// message's own mark says nothing, because its letter has one, too.
        byte[] redrivenHash() {
            byte[] identity = arrival.identity();
            return Claim.seenHash(ByteBuffer.allocate(1 + Integer.BYTES + identity.length + line.length)
                    .put((byte) 'r')
                    .putInt(identity.length)
                    .put(identity)
                    .put(line)
                    .array());
        }

        boolean isSame(long other) {
            return content == other;
        }

        /// The letter of a message whose id is recorded with another content.
        ///
        /// @param forget where ids are forgotten, the same conflict may come again and be another one, so each
        /// message has a letter of its own
        Letter conflict(Forget forget) {
            byte[] message = forget instanceof Forget.Never ? new byte[0] : arrival.identity();
            byte[] identity = ByteBuffer.allocate(idHash.length + Long.BYTES + message.length)
                    .put(idHash)
                    .putLong(content)
                    .put(message)
                    .array();
            return Letter.of(ConflictLetter.ofMember(identity, arrival.data()), arrival, 0);
        }
    }

    /// One that is a dead letter.
    record Bad(Letter letter) implements Message {}

    /// One that reports no record, such as a header again.
    record Silent() implements Message {}

    /// Decodes messages for one pipeline. Not thread-safe.
    final class Reader {
        private final Decoder decoder;
        private final Pipeline pipeline;

        Reader(Pipeline pipeline) {
            this.pipeline = pipeline;
            decoder = new Decoder(pipeline);
        }

        Message read(Arrival arrival) {
            byte[] record = Arrays.copyOf(arrival.data(), arrival.data().length + Decoder.PADDING);
            int length = RecordLine.length(arrival.data());
            decoder.message(arrival.identity());
            boolean isJson = pipeline.input().format() instanceof Format.Json;
            Malformed malformed = decoder.decode(record, 0, length);
            if (malformed != null) {
                return new Bad(
                        Letter.rejected(arrival, malformed, decoder.event().identity()));
            }
            if (decoder.event().silence != null) {
                return new Silent();
            }
            byte[] line = Arrays.copyOf(record, length);
            if (isJson) {
                RecordLine.join(line, 0, length);
            }
            Event event = decoder.event();
            return new Good(
                    Sha256.of(identity(event, arrival)),
                    event.contentHash,
                    line,
                    event.kind == Event.Kind.COUNTED,
                    arrival);
        }

        /// The claims of the records of a chunk, by the hashes of their ids. A record has none if nothing
        /// tells its id: the pipeline does not read it any more, or an earlier version wrote it. Nothing
        /// tells the content of a record that is an object, or that had several lines: it is a conflict
        /// when it comes again.
        ///
        /// @param forgotten records whose ids are known no more
        Map<ByteBuffer, Claim> claims(Chunks.Place place, ChunkItem chunk, BitSet forgotten) {
            Map<ByteBuffer, Claim> claims = new LinkedHashMap<>();
            int[] sizes = chunk.chunk().sizes();
            boolean isHere = chunk.object().isEmpty();
            boolean isInRecord = isHere && pipeline.input().identity() instanceof Identity.ById;
            for (int record = 0, from = 0; record < sizes.length; from += sizes[record++]) {
                byte[] data = isHere ? Arrays.copyOfRange(chunk.data(), from, from + sizes[record]) : new byte[0];
                Good read = read(new Arrival("", "", 0, data)) instanceof Good good ? good : null;
                byte[] id = null;
                if (chunk.ids().length > 0) {
                    id = chunk.id(record);
                } else if (isInRecord && read != null) {
                    id = read.idHash;
                }
                if (id != null && !forgotten.get(record)) {
                    long content = read == null ? 0 : read.content;
                    claims.put(
                            ByteBuffer.wrap(id),
                            new Claim(
                                    place.lane(),
                                    place.number(),
                                    content,
                                    chunk.chunk().atMs()));
                }
            }
            return claims;
        }

        private byte[] identity(Event event, Arrival arrival) {
            if (pipeline.input().identity() instanceof Identity.ByPlace) {
                return ("p" + arrival.place()).getBytes(StandardCharsets.UTF_8);
            }
            ByteBuffer id = ByteBuffer.allocate(1 + event.keyTo - event.keyFrom);
            id.put((byte) 'i').put(event.data, event.keyFrom, event.keyTo - event.keyFrom);
            return id.array();
        }
    }
}
