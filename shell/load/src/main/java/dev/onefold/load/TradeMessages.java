package dev.onefold.load;

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

    private static final List<String> HIERARCHY = IntStream.range(0, LEAVES)
            .mapToObj(leaf -> path(leaf))
            .map(path -> ",\"Hierarchy\":{\"RiskType\":\"%s\",\"Region\":\"%s\",\"TradeDesk\":\"%s\"}}\n"
                    .formatted(path.get(0), path.get(2), path.get(1)))
            .toList();

    private static final List<String> NO_NUMBERS = List.of("12.34.56", "\"n/a\"", "1,234.50", "--5");

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
        value(trade).cents(cents);
        rest(version, leaf, message);
    }

    /// The end of a trade, as the message of this number.
    void delete(int trade, int version, long message) {
        id(trade).text("\"");
        version(version, message).text(",\"Deleted\":true}\n");
    }

    /// A record that is no event, in the place of the message of this number.
    void malformed(int trade, int cents, int leaf, long message) {
        int start = buffer.position();
        switch (Malformation.pick(dice)) {
            case TRUNCATED -> {
                trade(trade, 0, cents, leaf, message);
                buffer.truncate(start + 1 + dice.below(buffer.position() - start - 3));
                buffer.text("\n");
            }
            case NO_JSON ->
                buffer.text("keep-alive, this line is no message: ")
                        .number(message)
                        .text("\n");
            case NO_NUMBER -> {
                value(trade).text(NO_NUMBERS.get(dice.below(NO_NUMBERS.size())));
                rest(0, leaf, message);
            }
            case NO_KEY -> {
                buffer.text("{\"Value\":").cents(cents);
                rest(0, leaf, message);
            }
            case NOT_A_NUMBER -> {
                value(trade).text("NaN");
                rest(0, leaf, message);
            }
        }
    }

    private MessageBuffer id(int trade) {
        return buffer.text("{\"TradeID\":\"").uuid(Dice.mix(idSeed + 2L * trade), Dice.mix(idSeed + 2L * trade + 1));
    }

    private MessageBuffer value(int trade) {
        return id(trade).text("\",\"Value\":");
    }

    private void rest(int version, int leaf, long message) {
        version(version, message).text(HIERARCHY.get(leaf));
    }

    private MessageBuffer version(int version, long message) {
        return buffer.text(",\"Version\":")
                .number(version)
                .text(",\"Timestamp\":")
                .number(FIRST_SECOND + message / MESSAGES_PER_SECOND)
                .text(".")
                .digits(message % MESSAGES_PER_SECOND * 1_000 + dice.below(1_000), 7);
    }
}
