package dev.onefold.load;

import static dev.onefold.load.MessageBuffer.ascii;

import java.util.List;
import java.util.stream.IntStream;

/// Writes the messages of trades, one JSON object a line, and records that are none. Not thread-safe.
///
/// ```json
/// {"TradeID":"8f14e45f-ceea-467f-9a0c-0f1a2b3c4d5e","Value":12345.67,"Version":3,"Timestamp":1616413258.0123456,
///  "Hierarchy":{"RiskType":"PV","Region":"EMEA","TradeDesk":"FXSpot"}}
/// ```
final class TradeMessages {
    // Each in the order of its bytes, so that the leaves are in the order of answers.
    private static final List<String> RISK_TYPES = List.of("Delta", "PV");
    private static final List<String> DESKS = List.of("FXOptions", "FXSpot");
    private static final List<String> REGIONS = List.of("AMER", "APAC", "EMEA");
    static final int LEAVES = RISK_TYPES.size() * DESKS.size() * REGIONS.size();

    private static final byte[] TRADE_ID = ascii("{\"TradeID\":\"");
    private static final byte[] VALUE = ascii("\",\"Value\":");
    private static final byte[] VERSION = ascii(",\"Version\":");
    private static final byte[] TIMESTAMP = ascii(",\"Timestamp\":");
    private static final byte[] DELETED = ascii(",\"Deleted\":true}\n");
    private static final byte[][] HIERARCHY = IntStream.range(0, LEAVES)
            .mapToObj(leaf -> path(leaf))
            .map(path -> ascii(",\"Hierarchy\":{\"RiskType\":\"%s\",\"Region\":\"%s\",\"TradeDesk\":\"%s\"}}\n"
                    .formatted(path.get(0), path.get(2), path.get(1))))
            .toArray(byte[][]::new);

    private static final byte[] NO_JSON = ascii("keep-alive, this line is no message: ");
    private static final byte[] NO_KEY = ascii("{\"Value\":");
    private static final List<byte[]> NO_NUMBERS =
            List.of(ascii("12.34.56"), ascii("\"n/a\""), ascii("1,234.50"), ascii("--5"));
    private static final byte[] NOT_A_NUMBER = ascii("NaN");

    private static final long FIRST_SECOND = 1_616_413_258L;
    private static final long MESSAGES_PER_SECOND = 10_000;

    /// How a record fails to be an event.
    enum Malformation {
        TRUNCATED,
        NO_JSON,
        NO_NUMBER,
        NO_KEY,
        NOT_A_NUMBER;

        private static final Malformation[] ALL = values();

        static Malformation pick(Dice dice) {
            return ALL[dice.below(ALL.length)];
        }
    }

    private final MessageBuffer buffer;
    private final Dice dice;
    private final long idSeed;

    TradeMessages(MessageBuffer buffer, Dice dice, long seed) {
        this.buffer = buffer;
        this.dice = dice;
        idSeed = Dice.mix(seed);
    }

    /// Risk type, trade desk and region of a leaf.
    static List<String> path(int leaf) {
        return List.of(
                RISK_TYPES.get(leaf / (DESKS.size() * REGIONS.size())),
                DESKS.get(leaf / REGIONS.size() % DESKS.size()),
                REGIONS.get(leaf % REGIONS.size()));
    }

    /// A version of a trade, as the message of this number.
    void trade(int trade, int version, int cents, int leaf, long message) {
        id(trade);
        buffer.append(VALUE);
        buffer.appendCents(cents);
        rest(version, leaf, message);
    }

    /// The end of a trade, as the message of this number.
    void delete(int trade, int version, long message) {
        id(trade);
        buffer.append('"');
        version(version, message);
        buffer.append(DELETED);
    }

    /// A record that is no event, in the place of the message of this number.
    void malformed(int trade, int cents, int leaf, long message) {
        int start = buffer.position();
        switch (Malformation.pick(dice)) {
            case TRUNCATED -> {
                trade(trade, 0, cents, leaf, message);
                buffer.truncate(start + 1 + dice.below(buffer.position() - start - 3));
                buffer.append('\n');
            }
            case NO_JSON -> {
                buffer.append(NO_JSON);
                buffer.appendNumber(message);
                buffer.append('\n');
            }
            case NO_NUMBER -> {
                id(trade);
                buffer.append(VALUE);
                buffer.append(NO_NUMBERS.get(dice.below(NO_NUMBERS.size())));
                rest(0, leaf, message);
            }
            case NO_KEY -> {
                buffer.append(NO_KEY);
                buffer.appendCents(cents);
                rest(0, leaf, message);
            }
            case NOT_A_NUMBER -> {
                id(trade);
                buffer.append(VALUE);
                buffer.append(NOT_A_NUMBER);
                rest(0, leaf, message);
            }
        }
    }

    private void id(int trade) {
        long high = Dice.mix(idSeed + 2L * trade);
        long low = Dice.mix(idSeed + 2L * trade + 1);
        buffer.append(TRADE_ID);
        // The bits that say: a random UUID, version 4.
        buffer.appendUuid(high & ~0xf000L | 0x4000L, low & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L);
    }

    private void rest(int version, int leaf, long message) {
        version(version, message);
        buffer.append(HIERARCHY[leaf]);
    }

    private void version(int version, long message) {
        buffer.append(VERSION);
        buffer.appendNumber(version);
        buffer.append(TIMESTAMP);
        buffer.appendNumber(FIRST_SECOND + message / MESSAGES_PER_SECOND);
        buffer.append('.');
        buffer.appendDigits(message % MESSAGES_PER_SECOND * 1_000 + dice.below(1_000), 7);
    }
}
