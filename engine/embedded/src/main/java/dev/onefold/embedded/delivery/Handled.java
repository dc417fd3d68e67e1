package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Members;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.embedded.disk.Payload;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A batch, or a part of one, whose delivery was begun.
///
/// @param members of a part; `null`: all of the batch
/// @param sha256 of the content as it is delivered, in hex; empty until it was made
/// @param bytes of the content as it is delivered
/// @param previous SHA-256 of the whole batch before; of a part: of its whole batch, and then of the batch before that;
///     may be empty
record Handled(
        BatchNumber number, @Nullable Members members, Delivery delivery, String sha256, long bytes, String previous) {
    private static final int HASH_LENGTH = 64;

    /// A batch whose delivery has not begun.
    static Handled fresh(long number, long nowMs) {
        return new Handled(BatchNumber.of(number), null, DeliveryRules.sealed(nowMs), "", 0, "");
    }

    Handled with(Delivery other) {
        return new Handled(number, members, other, sha256, bytes, previous);
    }

    Handled prepared(String hash, long contentBytes, String before) {
        return new Handled(number, members, delivery, hash, contentBytes, before);
    }

    /// The delivery of a part of it.
    Handled part(Delivery.Part part) {
        String whole = number.isWhole() ? sha256 + previous : previous;
        return new Handled(part.number(), part.members(), part.delivery(), "", 0, whole);
    }

    /// SHA-256 of the whole batch of a part; empty for a whole batch.
    String of() {
        return number.isWhole() ? "" : previous.substring(0, Math.min(HASH_LENGTH, previous.length()));
    }

    /// SHA-256 of the batch before the whole one; empty if there is none or an earlier version has not noted it.
    String before() {
        return number.isWhole() ? previous : previous.substring(of().length());
    }

    /// The manifest that proves its content.
    ///
    /// @param content the content as it is handed over
    Manifest manifest(String pipeline, Contents.Prepared content) {
        return new Manifest(
                Manifest.id(pipeline, number),
                number,
                "",
                members == null ? content.sealed().records() : members.count(),
                content.bytes(),
                content.sha256(),
                before(),
                of(),
                Instant.ofEpochMilli(content.sealed().firstMs()),
                Instant.ofEpochMilli(content.sealed().lastMs()),
                Instant.ofEpochMilli(content.sealed().sealedMs()));
    }

    byte[] encode() {
        return Payload.of(200, out -> {
            Payload.write(out, number.toString());
            write(out, members);
            Payload.write(out, sha256);
            out.writeLong(bytes);
            Payload.write(out, previous);
            write(out, delivery);
        });
    }

    static Handled decode(byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            BatchNumber number = BatchNumber.read(Payload.text(in)).orElseThrow(() -> new IOException("no number"));
            Members members = members(in);
            String sha256 = Payload.text(in);
            long bytes = in.readLong();
            String previous = Payload.text(in);
            return new Handled(number, members, delivery(in), sha256, bytes, previous);
        } catch (IOException e) {
            throw new EngineException(EngineException.Kind.CORRUPT, "An entry of the deliveries is cut off", e);
        }
    }

    private static void write(DataOutputStream out, @Nullable Members members) throws IOException {
        List<Members.Range> ranges = members == null ? List.of() : members.ranges();
        out.writeInt(ranges.size());
        for (Members.Range range : ranges) {
            out.writeInt(range.from());
            out.writeInt(range.to());
        }
    }

    private static @Nullable Members members(DataInputStream in) throws IOException {
        List<Members.Range> ranges = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            ranges.add(new Members.Range(in.readInt(), in.readInt()));
        }
        return ranges.isEmpty() ? null : new Members(ranges);
    }

    private static void write(DataOutputStream out, Delivery delivery) throws IOException {
        Delivery.Tries tries = delivery.tries();
        out.writeInt(tries.count());
        out.writeLong(tries.firstMs());
        out.writeInt(tries.generation());
        out.writeBoolean(tries.isPerhapsIn());
        switch (delivery) {
            case Delivery.Waiting waiting -> write(out, 1, waiting.notBeforeMs(), waiting.reason());
            case Delivery.Started started -> write(out, 2, started.atMs(), started.owner());
            case Delivery.Done done -> write(out, 3, done.atMs(), done.how().name());
            case Delivery.InDoubt doubt -> {
                write(out, 4, doubt.startedMs(), doubt.owner());
                Payload.write(out, doubt.reason());
            }
            case Delivery.Aside aside -> write(out, aside.isConflict() ? 6 : 5, aside.atMs(), aside.reason());
            case Delivery.Divided divided -> {
                out.writeByte(7);
                out.writeInt(divided.parts().size());
                for (Delivery.Part part : divided.parts()) {
                    Payload.write(out, part.number().toString());
                    write(out, part.members());
                    write(out, part.delivery());
                }
            }
        }
    }

    private static void write(DataOutputStream out, int kind, long atMs, String text) throws IOException {
        out.writeByte(kind);
        out.writeLong(atMs);
        Payload.write(out, text);
    }

    private static Delivery delivery(DataInputStream in) throws IOException {
        Delivery.Tries tries = new Delivery.Tries(in.readInt(), in.readLong(), in.readInt(), in.readBoolean());
        int kind = in.readByte();
        if (kind == 7) {
            List<Delivery.Part> parts = new ArrayList<>();
            for (int count = in.readInt(); count > 0; count--) {
                BatchNumber number = BatchNumber.read(Payload.text(in)).orElseThrow(() -> new IOException("no number"));
                Members members = members(in);
                if (members == null) {
                    throw new IOException("a part without members");
                }
                parts.add(new Delivery.Part(number, members, delivery(in)));
            }
            return new Delivery.Divided(tries, parts);
        }
        long atMs = in.readLong();
        String text = Payload.text(in);
        return switch (kind) {
            case 1 -> new Delivery.Waiting(tries, atMs, text);
            case 2 -> new Delivery.Started(tries, text, atMs);
            case 3 -> new Delivery.Done(tries, atMs, Delivery.How.valueOf(text));
            case 4 -> new Delivery.InDoubt(tries, text, atMs, Payload.text(in));
            case 5, 6 -> new Delivery.Aside(tries, atMs, text, kind == 6);
            default -> throw new IOException("a delivery of kind " + kind);
        };
    }
}
