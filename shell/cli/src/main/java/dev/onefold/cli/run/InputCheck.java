package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Folds the first records of a file into a directory that is deleted again, to say what a pipeline makes of them.
public final class InputCheck {
    private static final int RECORDS_MAX = 100_000;

    private InputCheck() {}

    /// Says what became of the records; the exit code is 1 if one was rejected.
    ///
    /// @param function of a pipeline that has one
    public static ExitCode of(Caller caller, Pipeline pipeline, @Nullable PipelineFunction function, InputFile file)
            throws IOException {
        try (Workplace workplace = Workplace.temporary("onefold-check");
                EmbeddedEngine engine = EngineAccess.own(
                        new DataDirectory(
                                workplace.folder().resolve(pipeline.name()),
                                pipeline.name(),
                                pipeline.unpublished(),
                                function),
                        Settings.defaults(),
                        caller)) {
            Refusals refusals = new Refusals(engine.deadLetters(), false);
            engine.fold(file.source(true), () -> engine.counts().records() >= RECORDS_MAX);
            Counts counts = engine.counts();
            StringBuilder text = new StringBuilder(counts.records() >= RECORDS_MAX ? "The first " : "All ")
                    .append(Words.count(counts.records(), "record"))
                    .append(" of ")
                    .append(caller.shown(file.path()))
                    .append(", as this pipeline reads them:\n")
                    .append(new FateLines(counts, engine.causes()).text());
            engine.causes().advice().forEach(each -> text.append(each).append('\n'));
            text.append(new Doubts(pipeline, engine).text());
            refusals.appendTo(text, caller);
            caller.print(text.append("Nothing was stored.\n").toString());
            return counts.rejected() > 0 ? ExitCode.DIFFERENT : ExitCode.DONE;
        }
    }
}
