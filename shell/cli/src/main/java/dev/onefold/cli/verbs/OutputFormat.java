package dev.onefold.cli.verbs;

/// How a result is written. The names are those of the option, hence in small letters.
enum OutputFormat {
    table,
    json,
    csv
}
