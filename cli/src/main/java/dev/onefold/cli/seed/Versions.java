package dev.onefold.cli.seed;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowForm;

/// Which version a row gets.
final class Versions {
    private Versions() {}

    /// Whether versions are positions in a log, which a row does not have.
    static boolean isByPlace(Pipeline pipeline) {
        return false;
    }

    /// The form of the rows of a seeding.
    static RowForm form(Pipeline pipeline, Opened opened, long number) {
        return RowForm.plain();
    }
}
