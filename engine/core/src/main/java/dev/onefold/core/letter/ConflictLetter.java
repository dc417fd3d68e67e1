package dev.onefold.core.letter;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/// The dead letter of a record that lost a conflict.
///
/// @param identity the same for the same key, version and contribution, and for nothing else
/// @param kept the record, or a [RowSummary]
/// @param content which of the two
public record ConflictLetter(String identity, Malformed why, byte[] kept, DeadLetter.Content content) {
    /// The letter of a loser whose record is there.
    public static ConflictLetter of(Transition.Settled settled, byte[] record) {
        return new ConflictLetter(
                identity(settled.loser()),
                new Malformed(Reason.CONFLICT, message(settled)),
                record,
                DeadLetter.Content.RECORD);
    }

    /// The letter of a record whose id came before with another content, which is in a batch and so stays.
    ///
    /// @param identity the same for the same id and the same compared content, and for nothing else
    public static ConflictLetter ofMember(byte[] identity, byte[] record) {
        return new ConflictLetter(
                HexFormat.of().formatHex(Sha256.of(identity)),
                new Malformed(Reason.CONFLICT, "This id came with two contents; the first one stays, it is in a batch"),
                record,
                DeadLetter.Content.RECORD);
    }

    /// The letter of a loser of which only the row is left.
    public static ConflictLetter of(Transition.Settled settled, Pipeline pipeline) {
        return new ConflictLetter(
                identity(settled.loser()),
                new Malformed(Reason.CONFLICT, message(settled)),
                RowSummary.of(settled.loser(), pipeline),
                DeadLetter.Content.SUMMARY);
    }

    /// The same with another message.
    public ConflictLetter saying(String message) {
        return new ConflictLetter(identity, new Malformed(Reason.CONFLICT, message), kept, content);
    }

    private static String message(Transition.Settled settled) {
        Row loser = settled.loser();
        String what = loser.version().isNone() ? "This id" : "Version " + loser.version() + " of this key";
        return what + " came with two contents; the other one, from "
                + settled.winner().source() + ", is greater and stays";
    }

    private static String identity(Row row) {
        MessageDigest digest = Sha256.digest();
        digest.update(Tuple.of(row.key()).bytes());
        update(digest, row.version().toString());
        update(digest, row.payload().kind().name());
        for (Tuple group : row.payload().groups()) {
            digest.update(group.bytes());
        }
        for (Amount amount : row.payload().amounts()) {
            switch (amount) {
                case Amount.None _ -> digest.update((byte) 0);
                case Amount.Number(var value) -> update(digest, "1" + value);
                case Amount.Text(var value) -> update(digest, "2" + value);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static void update(MessageDigest digest, String text) {
        digest.update(Tuple.of(List.of(text)).bytes());
    }
}
