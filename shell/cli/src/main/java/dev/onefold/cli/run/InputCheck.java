package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.kafka.TopicCheck;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Folds the first records of an input into a directory that is deleted again, to say what a pipeline makes of them.
public final class InputCheck {
    private static final int RECORDS_MAX = 100_000;
    private static final int OF_TOPIC_MAX = 1_000;

    private InputCheck() {}

    /// Where the records come from.
    ///
    /// @param recordsMax after about which it ends
    private record First(String name, int recordsMax, Intake intake) {}

    private interface Intake {
        void fold(EmbeddedEngine engine) throws IOException;
    }

    /// Says what became of the records of a file; the exit code is 1 if one was rejected.
    ///
    /// @param function of a pipeline that has one
    public static ExitCode of(Caller caller, Pipeline pipeline, @Nullable PipelineFunction function, InputFile file)
            throws IOException {
        return of(
                caller,
                pipeline,
                function,
                new First(
                        caller.shown(file.path()),
                        RECORDS_MAX,
                        engine -> engine.fold(
                                file.source(true), () -> engine.counts().records() >= RECORDS_MAX)));
    }

    /// Says what the topic is that a pipeline reads, and what became of its first records; the exit code is 1 if
    /// one was rejected.
    ///
    /// @param function of a pipeline that has one
    public static ExitCode ofTopic(
            Caller caller, Pipeline pipeline, @Nullable PipelineFunction function, TopicInput topic)
            throws IOException {
        TopicCheck check = new TopicCheck(topic.clients(), topic.origin());
        try {
            check.facts()
                    .forEach(fact ->
                            caller.printLine(Words.wrap(fact, caller.screen().outWidth())));
            return of(
                    caller,
                    pipeline,
                    function,
                    new First(
                            "topic " + topic.origin().topic(),
                            OF_TOPIC_MAX,
                            engine -> check.fold(engine, OF_TOPIC_MAX, caller::note)));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(e.getMessage()));
        }
    }

    private static ExitCode of(Caller caller, Pipeline pipeline, @Nullable PipelineFunction function, First first)
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
            first.intake.fold(engine);
            Counts counts = engine.counts();
            StringBuilder text = new StringBuilder(counts.records() >= first.recordsMax ? "The first " : "All ")
                    .append(Words.count(counts.records(), "record"))
                    .append(" of ")
                    .append(first.name)
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
