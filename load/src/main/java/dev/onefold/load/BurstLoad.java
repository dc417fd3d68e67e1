package dev.onefold.load;

import static dev.onefold.load.MessageBuffer.ascii;

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
public final class BurstLoad {
    public static final int MESSAGES_MAX = 1_000_000_000;

    private static final int NOTE_ENDS_AT = 294;
    private static final long FIRST_MS = 1_763_683_200_000L;
    private static final int MESSAGES_PER_MS = 20;

    private static final byte[] ID = ascii("{\"id\":\"");
    private static final byte[] ATTEMPT = ascii("\",\"attempt\":");
    private static final byte[] TYPE = ascii(",\"type\":\"");
    private static final byte[] SOURCE = ascii("\",\"source\":\"shop-");
    private static final byte[] TIME = ascii("\",\"time\":");
    private static final byte[] CUSTOMER = ascii(",\"customer\":\"c-");
    private static final byte[] COUNTRY = ascii("\",\"country\":\"");
    private static final byte[] AMOUNT = ascii("\",\"amount\":");
    private static final byte[] ITEMS = ascii(",\"items\":");
    private static final byte[] TRACE = ascii(",\"trace\":\"");
    private static final byte[] NOTE = ascii("\",\"note\":\"");
    private static final byte[] END = ascii("\"}\n");
    private static final byte[][] TYPES =
            words("order.created order.updated order.shipped order.cancelled payment.taken payment.refused");
    private static final byte[][] COUNTRIES = words("DE FR NL PL ES IT SE PT");
    private static final byte[][] NOTES = words("please leave the parcel with a neighbour ring twice gift wrap fragile"
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

    private static byte[][] words(String text) {
        String[] words = text.split(" ", -1);
        byte[][] bytes = new byte[words.length][];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = ascii(words[i]);
        }
        return bytes;
    }

    private static MessageDigest sha256Digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }

    /// How many messages are still to be written.
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

    /// Writes the next messages, whole lines, at most so many; the stream is not flushed.
    ///
    /// @return how many were written; 0 at the end
    public long write(OutputStream out, long messagesMax) throws IOException {
        long end = composed + Math.min(messagesMax, remaining());
        long before = composed;
        while (composed < end) {
            int start = buffer.position();
            if (distinct > 0 && dice.chance(duplicates)) {
                message(dice.below(distinct), 1 + dice.below(2));
            } else {
                message(distinct++, 1);
                buffer.update(digest, start);
            }
            composed++;
            bytes += buffer.position() - start;
            if (buffer.isNearlyFull()) {
                buffer.writeTo(out);
            }
        }
        buffer.writeTo(out);
        return composed - before;
    }

    /// A message depends on its number alone, so it can be sent again at any time.
    private void message(int number, int attempt) {
        int start = buffer.position();
        Dice own = new Dice(Dice.mix(seed) + number);
        buffer.append(ID);
        buffer.appendUuid(own.bits() & ~0xf000L | 0x4000L, own.bits() & -1L >>> 2 | Long.MIN_VALUE);
        buffer.append(ATTEMPT);
        buffer.appendNumber(attempt);
        buffer.append(TYPE);
        buffer.append(word(TYPES, own));
        buffer.append(SOURCE);
        buffer.appendNumber(own.below(500));
        buffer.append(TIME);
        buffer.appendNumber(FIRST_MS + number / MESSAGES_PER_MS);
        buffer.append(CUSTOMER);
        buffer.appendNumber(own.below(Dice.MILLION));
        buffer.append(COUNTRY);
        buffer.append(word(COUNTRIES, own));
        buffer.append(AMOUNT);
        buffer.appendCents(100 + own.below(200_000));
        buffer.append(ITEMS);
        buffer.appendNumber(1 + own.below(9));
        buffer.append(TRACE);
        buffer.appendHex(own.bits(), 16);
        buffer.appendHex(own.bits(), 16);
        buffer.append(NOTE);
        buffer.append(word(NOTES, own));
        while (buffer.position() - start < NOTE_ENDS_AT) {
            buffer.append(' ');
            buffer.append(word(NOTES, own));
        }
        buffer.append(END);
    }

    private static byte[] word(byte[][] words, Dice dice) {
        return words[dice.below(words.length)];
    }
}
