package dev.onefold.cli.verbs;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.run.PublishedTotals;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.run.TopicInput;
import dev.onefold.cli.seed.Against;
import dev.onefold.cli.seed.AgainstOptions;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold verify`: are the totals right?
@Command(
        name = "verify",
        description = {
            "Recomputes the totals from the rows and compares.",
            "Changes nothing. Each group that differs is named, and by how much; the exit code is 1 then.",
            "Of keys that a function folds in order, the events that are kept are folded again: each context and row"
                    + " that differs is shown."
        },
        footer = {"  Against the rows:", "    ${COMMAND-FULL-NAME} trade-risk.yaml"})
final class VerifyCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    private final FromSources fromSources = new FromSources();
    private final Sample sample = new Sample();
    private final Published published = new Published();

    /// Where sources can be read again.
    private static final class FromSources {
        @Option(
                names = "--from-sources",
                description = "Recomputes from the files and topics, read again, and from the journal, if it was"
                        + " kept. Intake waits meanwhile, that of a topic only at the end.")
        private boolean isSaid;
    }

    /// Where all groups may be too many.
    private static final class Sample {
        @Option(
                names = "--sample",
                paramLabel = "N",
                description = "Recomputes one leaf group in N, others each time. All rows are read, and few"
                        + " written. Default: all groups.")
        private int oneIn = 1;
    }

    /// Where totals are published.
    private static final class Published {
        @Option(
                names = "--published",
                description = "Compares the published tables with the totals, too. A row counts as different if it is"
                        + " still so after longer than the tables may be behind.")
        private boolean isSaid;
    }

    private final AgainstOptions against = new AgainstOptions();

    private final PlaceOptions place;

    private VerifyCommand(EngineArgument pipeline, PlaceOptions place) {
        this.pipeline = pipeline;
        this.place = place;
    }

    /// The command with the options that have a meaning where its engine is.
    ///
    /// @param place where parts of AWS are, that of a source as well
    static CommandLine commandLine(EngineArgument pipeline, PlaceOptions place) {
        VerifyCommand verify = new VerifyCommand(pipeline, place);
        CommandLine commandLine = new CommandLine(verify);
        if (pipeline.mayHave(Capability.SOURCES)) {
            commandLine.addMixin("sources", verify.fromSources);
            commandLine.addMixin("published", verify.published);
        }
        if (pipeline.mayHave(Capability.SAMPLE)) {
            commandLine.addMixin("sample", verify.sample);
        }
        if (pipeline.mayHave(Capability.COMPARISON)) {
            commandLine.addMixin("against", verify.against);
            commandLine.addMixin("comparing", place.comparing());
            commandLine.getCommandSpec().usageMessage().footer(footer());
        }
        return commandLine;
    }

    private static String[] footer() {
        return new String[] {
            "  Against the rows:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  Against the table that the rows come from, once a day, with repairs:",
            "    ${COMMAND-FULL-NAME} favourites.yaml --against dynamodb:Favourites \\",
            "      --every 1d --repair",
            "  Against a query:",
            "    ${COMMAND-FULL-NAME} orders.yaml --against postgresql://localhost/shop \\",
            "      --query 'select id, version, desk, value from orders'"
        };
    }

    private ExitCode compare() throws IOException {
        if (against.isOnAws()) {
            pipeline.useForSource();
        }
        StopRequest stop = new StopRequest();
        stop.makeOnSignals();
        Against comparison = new Against(pipeline.caller(), against, stop, place);
        return comparison.every(
                () -> against.repairs() ? pipeline.use(comparison::compare) : pipeline.readAgain(comparison::compare));
    }

    private void requirePublishedHere() {
        if (!pipeline.capabilities().has(Capability.SOURCES)) {
            throw CommandFailure.usage("--published is for a data directory. Of a deployment,"
                    + " 'onefold aws publish --again' compares all items.");
        }
        if (pipeline.isOfService()) {
            throw CommandFailure.usage("--published opens the database that the definition of the pipeline names, and"
                    + " the definition of a service may name any. Run 'onefold verify --published' on the machine of"
                    + " the service, with --data.");
        }
    }

    @Override
    public Integer call() throws IOException {
        if (against.isWanted()) {
            if (fromSources.isSaid || published.isSaid) {
                throw CommandFailure.usage(
                        "--against is a comparison of its own; leave out --from-sources and --published.");
            }
            return compare().code();
        }
        if (published.isSaid) {
            requirePublishedHere();
        }
        return pipeline.read(engine -> {
                    PublishedTotals tables = published.isSaid
                            ? new PublishedTotals(
                                    engine, pipeline.caller(), span -> LockSupport.parkNanos(span.toNanos()))
                            : null;
                    TopicInput.lend(pipeline.here(), engine);
                    Verification verification;
                    try {
                        verification =
                                engine.verify(fromSources.isSaid ? new Truth.Sources() : new Truth.Rows(sample.oneIn));
                    } catch (IllegalArgumentException e) {
                        throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
                    }
                    VerificationText text = new VerificationText(
                            engine.pipeline(), verification, fromSources.isSaid, pipeline.capabilities());
                    pipeline.caller().print(text.verified(pipeline.caller().screen()));
                    ExitCode ofTables = tables == null ? ExitCode.DONE : tables.verify(pipeline.caller());
                    return verification.isEqual() ? ofTables : ExitCode.DIFFERENT;
                })
                .code();
    }
}
