package dev.onefold.load;

import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// The messages of a burst, about 300 bytes each, one JSON object a line. A share of them repeats an earlier message,
/// picked from all earlier ones; half of the repeats say `"attempt":2`, so that a reader shows which one it keeps.
/// Equal arguments give equal bytes, however they are fetched.
///
/// It keeps no message, and knows what is right for a reader who keeps the first message of each id: how many messages
/// and which SHA-256. Not thread-safe.
///
/// ```json
/// {"id":"8f14e45f-ceea-467f-9a0c-0f1a2b3c4d5e","attempt":1,"type":"order.shipped","source":"shop-17","time":1763683200123,
///  "customer":"c-117","country":"FR","amount":12.34,"items":3,"trace":"0123456789abcdef0123456789abcdef","note":"…"}
/// ```
public final class BurstLoad implements Load {
    public static final int MESSAGES_MAX = 1_000_000_000;

    private static final int NOTE_ENDS_AT = 294;
    private static final long FIRST_MS = 1_763_683_200_000L;
    private static final int MESSAGES_PER_MS = 20;

    private static final String[] TYPES =
            words("order.created order.updated order.shipped order.cancelled payment.taken payment.refused");
    private static final String[] COUNTRIES = words("DE FR NL PL ES IT SE PT");
    private static final String[] NOTES = words("please leave the parcel with a neighbour ring twice gift wrap fragile"
            + " glass side door after five weekend only call before delivery second floor invoice enclosed return"
            + " label paid check stock colour green blue size large small urgent");

    private final long messages;
    private final int duplicates;
    private final long seed;
    private final Dice dice;
    private final MessageBuffer buffer = new MessageBuffer();
    private final MessageDigest digest = sha256Digest();
    private int composed;
    private int distinct;
    private long bytes;

    /// @param duplicates of a million messages
    public BurstLoad(long messages, int duplicates, long seed) {
        if (messages < 0 || messages > MESSAGES_MAX) {
            throw new IllegalArgumentException(
                    "%,d messages are asked for; from 0 to %,d can be made.".formatted(messages, MESSAGES_MAX));
        }
        this.messages = messages;
        this.duplicates = duplicates;
        this.seed = seed;
        dice = new Dice(seed);
    }

    private static String[] words(String text) {
        return text.split(" ", -1);
    }

    private static MessageDigest sha256Digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }

    @Override
    public long remaining() {
        return messages - composed;
    }

    /// Messages with different ids among those written so far.
    public long distinct() {
        return distinct;
    }

    /// Bytes written so far.
    public long bytes() {
        return bytes;
    }

    /// SHA-256 of the first message of each id, in their order, each with its line end.
    ///
    /// @return 64 hexadecimal digits
    public String sha256() {
        try {
            return HexFormat.of().formatHex(((MessageDigest) digest.clone()).digest());
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("Every digest of the JDK can be cloned", e);
        }
    }

    @Override
    public long write(OutputStream out, long messagesMax) throws IOException {
        long before = composed;
        bytes += buffer.write(out, Math.min(messagesMax, remaining()), this::compose);
        return composed - before;
    }

    private void compose() {
        if (distinct > 0 && dice.chance(duplicates)) {
            message(dice.below(distinct), 1 + dice.below(2));
        } else {
            int start = buffer.position();
            message(distinct++, 1);
            buffer.update(digest, start);
        }
        composed++;
    }

    /// A message depends on its number alone, so it can be sent again at any time.
    private void message(int number, int attempt) {
        int start = buffer.position();
        Dice own = new Dice(Dice.mix(seed) + number);
        buffer.text("{\"id\":\"")
                .uuid(own.bits(), own.bits())
                .text("\",\"attempt\":")
                .number(attempt)
                .text(",\"type\":\"")
                .text(word(TYPES, own))
                .text("\",\"source\":\"shop-")
                .number(own.below(500))
                .text("\",\"time\":")
                .number(FIRST_MS + number / MESSAGES_PER_MS)
                .text(",\"customer\":\"c-")
                .number(own.below(Dice.MILLION))
                .text("\",\"country\":\"")
                .text(word(COUNTRIES, own))
                .text("\",\"amount\":")
                .cents(100 + own.below(200_000))
                .text(",\"items\":")
                .number(1 + own.below(9))
                .text(",\"trace\":\"")
                .hex(own.bits(), 16)
                .hex(own.bits(), 16)
                .text("\",\"note\":\"")
                .text(word(NOTES, own));
        while (buffer.position() - start < NOTE_ENDS_AT) {
            buffer.text(" ").text(word(NOTES, own));
        }
        buffer.text("\"}\n");
    }

    private static String word(String[] words, Dice dice) {
        return words[dice.below(words.length)];
    }
}
