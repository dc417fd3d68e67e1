package dev.onefold.aws.store;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import software.amazon.awssdk.core.SdkResponse;

/// The time of the service, or a little earlier, and never later: what its answers say in their `Date`, and what has
/// passed since by a clock of this machine, which may be wrong. So a time that was drawn before a request is not after
/// what the request does, on whatever machine it was drawn. Any thread may call.
///
/// A `Date` is in whole seconds, rounded down. The greatest difference to this machine's clock is nearest to the truth;
/// one that would put the time of a request behind its answer is given up, because this machine's clock was set back or
/// forth.
final class ServiceTime implements InstantSource {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final InstantSource machine;
    private Duration ahead = Duration.ZERO;
    private boolean heard;

    ServiceTime(InstantSource machine) {
        this.machine = machine;
    }

    /// The time of the service; the machine's as long as there was no answer.
    @Override
    public synchronized Instant instant() {
        return machine.instant().plus(ahead);
    }

    /// Learns from an answer.
    ///
    /// @param sent what [#instant] was before the request was sent
    void hear(SdkResponse response, Instant sent) {
        if (response.sdkHttpResponse() == null) {
            return;
        }
        response.sdkHttpResponse().firstMatchingHeader("Date").ifPresent(date -> hear(date, sent));
    }

    private synchronized void hear(String date, Instant sent) {
        Instant at;
        try {
            at = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        } catch (DateTimeException unreadable) {
            return; // A stand-in for the service says something else; its time stays unknown.
        }
        Duration difference = Duration.between(machine.instant(), at);
        boolean isAhead = !sent.isBefore(at.plus(SECOND));
        if (!heard || isAhead || difference.compareTo(ahead) > 0) {
            ahead = difference;
            heard = true;
        }
    }
}
