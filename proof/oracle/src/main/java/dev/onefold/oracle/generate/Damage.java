package dev.onefold.oracle.generate;

import dev.onefold.oracle.Oracle;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Breaks records: values that belong to no field, and bytes that make no record.
final class Damage {
    private static final List<String> JSON_VALUES = List.of(
            "NaN",
            "Infinity",
            "01",
            "1.",
            ".5",
            "+5",
            "--1",
            "0x1F",
            "1e",
            "1e999999999",
            "1e-999999999",
            "1_000",
            "'a'",
            "nul",
            "True",
            "\"\\x\"",
            "\"\\u12\"",
            "\"a\u0001b\"",
            "\"\\ud834\"",
            "\"\\udd1e\\ud834\"",
            "{}",
            "[]",
            "[\"a\"]",
            "{\"a\":1}",
            "\"1,000.5\"",
            "\" 5\"",
            "\"\"",
            "\"+5\"",
            "\"5 \"",
            "\"0x1F\"",
            "123456789012345678901234567890.123",
            "1.23456789",
            "\"2019-02-30T00:00:00Z\"",
            "\"2019-10-27\"",
            "\"2019-10-27T22:20:18\"",
            "true",
            "\"" + "k".repeat(1_000) + "\"",
            "\"" + "k".repeat(1_001) + "\"",
            "9".repeat(65),
            "-" + "9".repeat(64),
            "[".repeat(63) + "]".repeat(63),
            "[".repeat(64) + "]".repeat(64));

    private static final List<String> CSV_VALUES = List.of(
            "NaN",
            "1,000.5",
            " 5",
            "+5",
            "5.",
            ".5",
            "1e999999999",
            "2019-02-30T00:00:00Z",
            "2019-10-27",
            "true",
            "{}",
            "k".repeat(1_000),
            "k".repeat(1_001),
            "9".repeat(65),
            "1.23456789");

    private static final List<String> LINES = List.of(
            "",
            " ",
            "\r",
            "{",
            "}",
            "[]",
            "{}",
            "null",
            "17",
            "keep-alive",
            "\"",
            "{\"a\":1}{\"a\":2}",
            "\uFEFF{}",
            "<xml/>");

    private static final List<byte[]> NO_UTF8 = List.of(
            new byte[] {(byte) 0xc3},
            new byte[] {(byte) 0xff},
            new byte[] {(byte) 0xc0, (byte) 0x80},
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            new byte[] {(byte) 0xf4, (byte) 0x90, (byte) 0x80, (byte) 0x80});

    private final Chance chance;
    private final boolean csv;
    private final char delimiter;

    Damage(Chance chance, boolean csv, char delimiter) {
        this.chance = chance;
        this.csv = csv;
        this.delimiter = delimiter;
    }

    Value value() {
        return new Value.Raw(chance.of(csv ? CSV_VALUES : JSON_VALUES));
    }

    /// A line with something wrong with it, or by luck not.
    byte[] line(byte[] healthy) {
        byte[] damaged = damaged(healthy);
        return csv && !Oracle.isCsv(damaged, delimiter) ? withoutQuotes(damaged) : damaged;
    }

    /// A quote without an end would take the lines behind it into its record.
    private static byte[] withoutQuotes(byte[] line) {
        ByteArrayOutputStream without = new ByteArrayOutputStream();
        for (byte one : line) {
            if (one != '"') {
                without.write(one);
            }
        }
        return without.toByteArray();
    }

    private byte[] damaged(byte[] healthy) {
        int at = healthy.length == 0 ? 0 : chance.between(0, healthy.length - 1);
        return switch (chance.between(0, 5)) {
            case 0 -> Arrays.copyOf(healthy, at);
            case 1 -> splice(healthy, at, at, new byte[] {anyByte()});
            case 2 -> splice(healthy, at, Math.min(at + 1, healthy.length), new byte[] {anyByte()});
            case 3 -> splice(healthy, at, at, chance.of(NO_UTF8));
            case 4 -> splice(healthy, 0, 0, csv ? healthy : behindIt(healthy));
            default -> chance.of(LINES).getBytes(StandardCharsets.UTF_8);
        };
    }

    /// Objects side by side in a first line would be taken for a file that holds no lines.
    private static byte[] behindIt(byte[] healthy) {
        return splice(healthy, healthy.length, healthy.length, new byte[] {']'});
    }

    private static byte[] splice(byte[] line, int from, int to, byte[] insert) {
        ByteArrayOutputStream spliced = new ByteArrayOutputStream();
        spliced.write(line, 0, from);
        spliced.writeBytes(insert);
        spliced.write(line, to, line.length - to);
        return spliced.toByteArray();
    }

    /// Any byte but the ends of lines.
    private byte anyByte() {
        byte any = (byte) (chance.percent(60) ? chance.between(' ', '~') : chance.between(0, 255));
        return any == '\n' || any == '\r' ? (byte) '"' : any;
    }
}
