package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowVersions;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Which version a row gets, or why the command is refused.
final class Versions {
    private Versions() {}

    static <T> T orRefused(Supplier<T> known) {
        try {
            return known.get();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, e.getMessage() + ".", e);
        }
    }

    /// See [RowVersions#areByPlace].
    static boolean isByPlace(Pipeline pipeline) {
        return RowVersions.areByPlace(pipeline);
    }

    /// See [RowVersions#form].
    static RowForm form(Pipeline pipeline, @Nullable String stream, long number) {
        return orRefused(() -> RowVersions.form(pipeline, stream, number));
    }

    /// See [RowVersions#requireKind].
    static void requireKind(Pipeline pipeline, @Nullable String stream, String input) {
        orRefused(() -> {
            RowVersions.requireKind(pipeline, stream, input);
            return true;
        });
    }

    /// See [RowVersions#log].
    static String log(Pipeline pipeline, @Nullable String stream) {
        return orRefused(() -> RowVersions.log(pipeline, stream));
    }

    /// See [RowVersions#generation].
    static long generation(Pipeline pipeline, @Nullable String stream) {
        return orRefused(() -> RowVersions.generation(pipeline, stream));
    }
}
