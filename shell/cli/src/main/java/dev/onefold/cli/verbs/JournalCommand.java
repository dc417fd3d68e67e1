package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine.KeptJournal;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold journal`: whether the journal is kept, and its release.
@Command(
        name = "journal",
        description = {
            "Says whether the journal is kept, and releases it.",
            "'onefold run --keep-journal' makes a data directory that keeps for ever what came through standard input. The"
                    + " directory remembers it; only 'release' ends it."
        },
        footer = {"  onefold journal trade-risk.yaml", "  onefold journal trade-risk.yaml release"})
final class JournalCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    private JournalCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    /// The command with its verb.
    static CommandLine commandLine(EngineArgument pipeline) {
        JournalCommand journal = new JournalCommand(pipeline);
        return new CommandLine(journal).addSubcommand(new Release(journal));
    }

    @Override
    public Integer call() throws IOException {
        return pipeline.read(engine -> {
                    EngineArgument.require(engine, Capability.JOURNAL);
                    KeptJournal journal = engine.journal();
                    pipeline.caller()
                            .print(
                                    journal.isKept()
                                            ? "The journal is kept, from the first record on.\n"
                                            : "The journal is not kept: what a checkpoint covers is deleted.\n");
                    return ExitCode.DONE;
                })
                .code();
    }

    /// `onefold journal PIPELINE release`.
    @Command(
            name = "release",
            description = {
                "Keeps the journal no longer, and deletes what a checkpoint covers. Asks first, unless --yes is given.",
                "Totals can no longer be recomputed from what came through standard input. This cannot be taken back."
            },
            footerHeading = "%nExample:%n",
            footer = {"  onefold journal trade-risk.yaml release --yes"})
    static final class Release implements Callable<Integer> {
        private final JournalCommand journal;

        @Option(
                names = {"-y", "--yes"},
                description = "Does not ask.")
        private boolean yes;

        Release(JournalCommand journal) {
            this.journal = journal;
        }

        @Override
        public Integer call() throws IOException {
            Caller caller = journal.pipeline.caller();
            return journal.pipeline
                    .ask(asked -> {
                        EngineArgument.require(asked, Capability.JOURNAL);
                        boolean kept = asked.journal().isKept();
                        if (kept
                                && !yes
                                && !caller.confirms(
                                        "Delete the kept journal for good? Totals can no longer be recomputed from"
                                                + " what came through standard input.")) {
                            throw new CommandFailure(ExitCode.DIFFERENT, "The journal is kept as it was.");
                        }
                        return engine -> {
                            engine.journal().release();
                            caller.print(kept ? "The journal is released.\n" : "The journal was not kept.\n");
                            return ExitCode.DONE;
                        };
                    })
                    .code();
        }
    }
}
