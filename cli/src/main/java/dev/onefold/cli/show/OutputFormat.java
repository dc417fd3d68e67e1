package dev.onefold.cli.show;

/// How a result is written. The names are those of the option, hence in small letters.
public enum OutputFormat {
    table,
    json,
    csv
}
