package dev.onefold.oracle.generate;

import java.util.List;

/// Texts and names that have broken programs: separators, quotes, reserved words, nothing, and the far ends of Unicode.
final class Nasty {
    /// May stand in a pipeline file as well as in a record.
    static final List<String> TEXTS = List.of(
            "a",
            "b",
            "A",
            "",
            " ",
            "FX:Spot",
            "FX/Spot",
            "FX|Spot",
            "FX#Spot",
            "a,b",
            "a;b",
            "it's",
            "say \"hi\"",
            "\"\"",
            "back\\slash",
            "message_count",
            "count",
            "total",
            "null",
            "true",
            "false",
            "NaN",
            "missing",
            "__proto__",
            "5",
            "5.5",
            "05",
            "-0",
            "1e3",
            "\u00E9",
            "e\u0301",
            "\u4E2D\u6587",
            "\uE000",
            "\uFF5E",
            "\uD834\uDD1E",
            "\uD83D\uDE00",
            "\u202Eabc",
            "x".repeat(300));

    /// Cannot stand in a pipeline file.
    static final List<String> TEXTS_OF_RECORDS =
            List.of("a\u0000b", "\u0000", "\u0000\u0001", "line\nbreak", "tab\t", "\u007F", "\uFFFF", "\u001F");

    static final List<String> NAMES = List.of(
            "desk",
            "region",
            "Value",
            "kind",
            "at",
            "Ship to",
            "unit.price",
            "(x)",
            "it's",
            "say \"hi\"",
            "a,b",
            "and",
            "or",
            "not",
            "is",
            "in",
            "missing",
            "true",
            "count",
            "sum",
            "decimal",
            "bucket",
            "null",
            "__proto__",
            "1st",
            "$ref",
            "a=b",
            "x<y",
            "\u00E9t\u00E9",
            "\uD834\uDD1E",
            "tab\\slash",
            "@id",
            "a-b",
            "#hash",
            "key: value",
            "[0]",
            "{}",
            "*");

    static final List<String> MEASURE_NAMES = List.of(
            "n", "value", "count", "sum", "select", "message_count", "missing", "total", "a-b", "_x", "9", "null");

    private Nasty() {}
}
