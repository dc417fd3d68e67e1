package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.core.EngineException;
import java.time.Duration;
import java.util.List;
import software.amazon.awssdk.core.exception.SdkException;

/// A trial from its beginning to its end, at which all that it has made is deleted: whether it came to its end, was
/// stopped, or failed.
final class Session {
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration POLL_LOCAL = Duration.ofMillis(500);
    private static final Duration HELD = Duration.ofDays(7);

    private final Caller caller;
    private final Board board;
    private final Asked asked;
    private final Signals signals;

    Session(Caller caller, Board board, Asked asked, Signals signals) {
        this.caller = caller;
        this.board = board;
        this.asked = asked;
        this.signals = signals;
    }

    ExitCode run(Services services, Trial.Code code, Load load) {
        boolean isLocal = services.place().endpoint() != null;
        TrialStack stack = new TrialStack(services, asked.name(), isLocal ? POLL_LOCAL : POLL);
        RuntimeException failure = null;
        ExitCode result = ExitCode.DIFFERENT;
        try {
            result = new Trial(caller, board, services, asked, signals).run(stack, code, load);
        } catch (Signals.Stopped stopped) {
            board.say("Stopped.");
            result = signals.exitCode();
        } catch (CommandFailure | EngineException e) {
            failure = e;
        } catch (SdkException e) {
            failure = new CommandFailure(ExitCode.DIRECTORY, "A service failed: " + Reason.of(e), e);
        } finally {
            board.endStep();
            if (stack.isBegun() && !asked.keeps()) {
                result = removed(stack, result);
            }
        }
        if (!stack.isBegun()) {
            if (failure == null) {
                board.say("Nothing was made.");
            }
        } else if (asked.keeps() && asked.isLocal() && (failure != null || signals.isMade())) {
            board.say("Nothing is kept: the servers that stand in for AWS end with this trial.");
        } else if (asked.keeps()) {
            keep(services.place());
        }
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    /// Keeps what stands in for AWS until somebody wants it to end, if the trial is to be kept and nobody has stopped
    /// it.
    void hold() {
        if (asked.keeps() && !signals.isMade()) {
            board.say("Ctrl-C ends it.");
            signals.pause(HELD);
        }
    }

    private ExitCode removed(TrialStack stack, ExitCode result) {
        board.step("Deleting what was made");
        List<String> left = stack.remove(said -> board.step("Deleting what was made: " + said));
        if (left.isEmpty()) {
            board.say("All that was made is deleted.");
            return result;
        }
        board.say("");
        caller.out().flush();
        caller.note("Not deleted:");
        left.forEach(each -> caller.note("  " + each));
        if (!asked.isLocal()) {
            caller.note("It costs as long as it is there. 'onefold aws clean " + asked.name() + "' tries again.");
        }
        return result == ExitCode.DONE ? ExitCode.DIFFERENT : result;
    }

    private void keep(Connection.Place place) {
        board.say("What was made of the stack " + asked.name() + " is kept: 'onefold aws query PIPELINE --deployment "
                + asked.name() + "' asks it, and 'onefold aws clean " + asked.name() + "' deletes it.");
        if (asked.isLocal()) {
            board.say(
                    "It is at " + place.endpoint() + " (--endpoint, --region eu-central-1, AWS_ACCESS_KEY_ID=OPERATOR,"
                            + " AWS_SECRET_ACCESS_KEY=secret).");
        }
    }
}
