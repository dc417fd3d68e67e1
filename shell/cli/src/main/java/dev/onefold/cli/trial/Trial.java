package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.EngineException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;

/// One trial: makes a deployment, feeds it while both sides are shown, waits until all is in, compares, says
/// its cost, and deletes all that it has made: whether it came to its end, was stopped, or failed. Is not
/// thread-safe; the producer has a thread of its own.
final class Trial {
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration POLL_LOCAL = Duration.ofMillis(500);
    private static final Duration HELD = Duration.ofDays(7);
    private static final Duration LOOK_EACH = Duration.ofSeconds(2);
    private static final Duration FLOW_OVER = Duration.ofMinutes(1);
    private static final Duration DRAIN_MAX = Duration.ofMinutes(20);
    private static final Duration COUNTING_MAX = Duration.ofMinutes(3);
    private static final int LINES_AROUND = 8;

    private final Caller caller;
    private final Board board;
    private final Services services;
    private final TrialSettings settings;
    private final StopRequest stop;
    private final Store store;
    private final Instant begun = Instant.now();
    private Figures.@Nullable Flow flow;

    /// The code to deploy.
    ///
    /// @param bucket a new one
    record Code(Path archive, String bucket) {}

    Trial(Caller caller, Board board, Services services, TrialSettings settings, StopRequest stop) {
        this.caller = caller;
        this.board = board;
        this.services = services;
        this.settings = settings;
        this.stop = stop;
        store = Connection.store(Store.Tables.of(settings.name()), services.place());
    }

    /// Does all of it.
    ExitCode run(Code code, TrialLoad load) {
        TrialStack stack = new TrialStack(
                services,
                settings.name(),
                code.bucket(),
                services.place().endpoint() == null ? POLL : POLL_LOCAL,
                board::step);
        RuntimeException failure = null;
        ExitCode result = ExitCode.DIFFERENT;
        try {
            result = compared(stack, code, load);
        } catch (StopRequest.Stopped stopped) {
            board.say("Stopped.");
            result = stop.exitCodeUnfinished();
        } catch (CommandFailure | EngineException e) {
            failure = e;
        } catch (SdkException e) {
            failure = new CommandFailure(ExitCode.DIRECTORY, "A service failed: " + Reason.of(e), e);
        } finally {
            board.endStep();
            if (stack.isBegun() && !settings.keeps()) {
                result = removed(stack, result);
            }
        }
        if (!stack.isBegun() && failure == null) {
            board.say("Nothing was made.");
        } else if (stack.isBegun() && settings.keeps()) {
            sayKept(failure != null || stop.isMade());
        }
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    private ExitCode removed(TrialStack stack, ExitCode result) {
        List<String> left = stack.remove("Deleting what was made", List.of(stack.bucket()));
        if (left.isEmpty()) {
            board.say("All that was made is deleted.");
            return result;
        }
        board.sayLeft(left);
        if (!settings.isLocal()) {
            caller.note("It costs as long as it is there. 'onefold aws clean " + settings.name() + "' tries again.");
        }
        return result == ExitCode.DONE ? ExitCode.DIFFERENT : result;
    }

    private void sayKept(boolean isUndone) {
        if (settings.isLocal() && isUndone) {
            board.say("Nothing is kept: the servers that stand in for AWS end with this trial.");
            return;
        }
        board.say(
                "What was made of the stack " + settings.name() + " is kept: 'onefold aws status PIPELINE --deployment "
                        + settings.name() + "' asks it, and 'onefold aws clean " + settings.name() + "' deletes it.");
        if (settings.isLocal()) {
            board.say("It is at " + services.place().endpoint()
                    + " (--endpoint, --region eu-central-1, AWS_ACCESS_KEY_ID=OPERATOR,"
                    + " AWS_SECRET_ACCESS_KEY=secret).");
        }
    }

    /// Keeps what stands in for AWS until somebody wants it to end, if the trial is to be kept and nobody has
    /// stopped it.
    void hold() {
        if (settings.keeps() && !stop.isMade()) {
            board.say("Ctrl-C ends it.");
            stop.pause(HELD);
        }
    }

    private ExitCode compared(TrialStack stack, Code code, TrialLoad load) {
        long startNanos = System.nanoTime();
        Map<String, String> outputs =
                stack.make(code.archive(), settings.tried().yaml(), settings.all(), stop);
        board.say("The stack " + settings.name() + " is there after "
                + Words.duration(Duration.ofNanos(System.nanoTime() - startNanos)) + ".");
        sayDashboard(outputs.get("DashboardName"));
        TrialPipeline tried = settings.tried();
        Figures figures = new Figures(
                services.metrics(),
                settings.name(),
                tried.functionNames(outputs),
                tried.tableNames(settings.name(), outputs));
        Deployed deployed = tried.deployed(new Deployed.Parts(caller, board, services, store, outputs), load.oracle());
        StreamLoad.Moment last = feed(deployed, load, figures);
        drain(deployed, figures, last);
        ExitCode compared = deployed.compare(last.right(), last.put());
        bill(figures, last);
        return compared;
    }

    private void sayDashboard(@Nullable String name) {
        Region region = services.streams().serviceClientConfiguration().region();
        if (name != null && !settings.isLocal()) {
            board.say("Its dashboard, a minute late: https://" + region
                    + ".console.aws.amazon.com/cloudwatch/home?region=" + region + "#dashboards/dashboard/" + name);
        }
    }

    /// Puts the load, and shows how far both sides are.
    private StreamLoad.Moment feed(Deployed deployed, TrialLoad load, Figures figures) {
        long startNanos = System.nanoTime();
        try (StreamLoad producing = new StreamLoad(load, settings.amount(), deployed.sink(), stop)) {
            while (true) {
                stop.check();
                StreamLoad.Moment moment = producing.moment();
                look(deployed, figures);
                Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
                show(
                        deployed,
                        moment,
                        "Putting " + Words.count(settings.amount().records(), "record") + ": "
                                + Words.count(moment.put()) + " after " + Words.duration(elapsed) + ", "
                                + Words.rate(moment.put(), elapsed) + ".");
                if (moment.isDone()) {
                    board.say("All records are put: " + Words.count(moment.put()) + " within " + Words.duration(elapsed)
                            + ", " + Words.rate(moment.put(), elapsed) + ".");
                    return moment;
                }
                stop.pause(LOOK_EACH);
            }
        }
    }

    private void drain(Deployed deployed, Figures figures, StreamLoad.Moment last) {
        long startNanos = System.nanoTime();
        while (!deployed.isDone()) {
            stop.check();
            if (System.nanoTime() - startNanos > DRAIN_MAX.toNanos()) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "After " + Words.duration(DRAIN_MAX) + " records were still on their way. See the logs of the"
                                + " functions, with --keep.");
            }
            look(deployed, figures);
            show(
                    deployed,
                    last,
                    "All " + Words.count(last.put(), "record") + " are put. Waiting until all of them are worked on.");
            stop.pause(LOOK_EACH);
        }
        board.say("All was worked on within " + Words.duration(Duration.ofNanos(System.nanoTime() - startNanos))
                + " of the last record.");
        long aside = deployed.aside();
        if (aside > 0) {
            board.say("About " + Words.count(aside, "message")
                    + " were put aside in a queue: the records that they name are in no result.");
        }
    }

    /// Reads what the engine has, and what CloudWatch has counted.
    private void look(Deployed deployed, Figures figures) {
        if (!board.isDrawn() && !board.isLineDue()) {
            return;
        }
        deployed.read();
        Instant now = Instant.now();
        Instant from = now.minus(FLOW_OVER);
        flow = figures.flow(from.isBefore(begun) ? begun : from, now);
    }

    private void show(Deployed deployed, StreamLoad.Moment moment, String title) {
        if (board.isDrawn()) {
            board.draw(picture(deployed, moment, title));
        } else if (board.isLineDue()) {
            board.line(title + " " + deployed.line(moment.right()) + flowText());
        }
    }

    private List<String> picture(Deployed deployed, StreamLoad.Moment moment, String title) {
        int width = caller.screen().outWidth();
        List<String> lines = new ArrayList<>(Words.wrap(title, width).lines().toList());
        lines.add("");
        lines.addAll(deployed.picture(moment.right(), caller.screen().height() - LINES_AROUND));
        lines.add("");
        lines.addAll(
                Words.wrap(flowText() + "Ctrl-C ends it" + (settings.keeps() ? "." : ", and deletes all of it."), width)
                        .lines()
                        .toList());
        return lines;
    }

    private String flowText() {
        Figures.Flow now = flow;
        if (now == null || now.records() == 0 && !now.hasDelay()) {
            return "No figures of CloudWatch yet. ";
        }
        return "In the last minute " + settings.tried().functions().getFirst() + " took " + Words.count(now.records())
                + " records/s." + delay(now) + " " + Words.count(now.injected(), "failure") + " on purpose. ";
    }

    private static String delay(Figures.Flow flow) {
        return flow.hasDelay()
                ? " Delay until visible: mean " + seconds(flow.delayMsMean()) + ", p99 " + seconds(flow.delayMsP99())
                        + ", longest " + seconds(flow.delayMsMax()) + "."
                : "";
    }

    private static String seconds(long ms) {
        return Words.duration(Duration.ofMillis(ms));
    }

    /// CloudWatch counts late, so it is given some time.
    private void bill(Figures figures, StreamLoad.Moment last) {
        long deadline = System.nanoTime() + COUNTING_MAX.toNanos();
        Figures.Usage usage = figures.usage(begun, Instant.now());
        while (usage.records() < last.put() && System.nanoTime() < deadline && !stop.isMade()) {
            board.step("Waiting until CloudWatch has counted it all: " + Words.count(usage.records()) + " of "
                    + Words.count(last.put(), "record"));
            stop.pause(Duration.ofSeconds(10));
            usage = figures.usage(begun, Instant.now());
        }
        board.say(Words.count(usage.injected(), "invocation") + " failed on purpose."
                + delay(figures.flow(begun, Instant.now())));
        Duration time = Duration.between(begun, Instant.now());
        board.say("What " + Words.duration(time) + " of it cost, by what CloudWatch has counted, at list prices of"
                + " us-east-1:");
        Prices.bill(
                        settings.tried().work(),
                        usage,
                        last.sent(),
                        time,
                        caller.screen().width())
                .forEach(caller::printLine);
        board.say("Logs, and requests to queues and buckets, are not in it; they are below a cent."
                + (usage.records() < last.put() ? " CloudWatch had not counted all of it yet." : ""));
    }
}
