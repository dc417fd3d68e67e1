package dev.onefold.mapping;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One batch, tried until all of it is done. What fails may be cut into parts, which are done in their order.
final class BatchAttempt {
    private final StreamMapping mapping;
    private final ShardReader shard;
    private final Lane lane;
    private final Deque<Part> parts = new ArrayDeque<>();

    /// @param failures of an invocation with these records, or with more of them when the first one was there
    private record Part(List<Delivery> records, int failures) {}

    BatchAttempt(StreamMapping mapping, ShardReader shard, Lane lane, List<Delivery> batch) {
        this.mapping = mapping;
        this.shard = shard;
        this.lane = lane;
        parts.push(new Part(batch, 0));
    }

    void next() {
        if (lane.isAbandoned()) {
            return;
        }
        if (parts.isEmpty()) {
            lane.ended();
            return;
        }
        Part part = parts.pop();
        int expired = expired(part.records());
        if (expired > 0) {
            push(part.records().subList(expired, part.records().size()), 0);
            giveUp(new Part(part.records().subList(0, expired), part.failures()), GivenUp.Condition.AGE);
        } else if (isTooLarge(part)) {
            giveUp(part, GivenUp.Condition.SIZE);
        } else {
            invoke(part);
        }
    }

    private void push(List<Delivery> records, int failures) {
        if (!records.isEmpty()) {
            parts.push(new Part(records, failures));
        }
    }

    private int expired(List<Delivery> records) {
        Duration age = mapping.settings.failing().maximumRecordAge();
        if (age.equals(MappingSettings.FOREVER)) {
            return 0;
        }
        Instant oldest = mapping.now().minus(age);
        int expired = 0;
        while (expired < records.size() && records.get(expired).record.arrival().isBefore(oldest)) {
            expired++;
        }
        return expired;
    }

    /// Only one record alone is; batches are cut so.
    private static boolean isTooLarge(Part part) {
        return part.records().size() == 1
                && EventBytes.empty() + part.records().getFirst().bytes() > EventBytes.MAX;
    }

    private void invoke(Part part) {
        byte[] event = EventBytes.of(
                part.records().stream().map(each -> each.record.json()).toList());
        if (mapping.strikes(mapping.faults.twice())) {
            // The other one's answer says how it ends.
            mapping.then(() -> mapping.target.invoker().invoke(event), (_, _) -> {});
        }
        boolean isLost = mapping.strikes(mapping.faults.lostAnswer());
        mapping.then(() -> mapping.target.invoker().invoke(event), (answer, failure) -> {
            if (lane.isAbandoned()) {
                return;
            }
            if (failure != null || isLost) {
                failed(part, failure == null ? "the answer was lost" : failure.toString());
            } else {
                answered(part, answer == null ? new byte[0] : answer);
            }
        });
    }

    private void answered(Part part, byte[] answer) {
        List<Delivery> records = part.records();
        Optional<Set<String>> failures = mapping.settings.failing().reportBatchItemFailures()
                ? BatchAnswer.failures(answer)
                : Optional.of(Set.of());
        int from = failures.map(failed -> firstOf(failed, records)).orElse(0);
        if (from == records.size()) {
            mapping.fine();
            shard.done(records);
            next();
            return;
        }
        mapping.problem("The function reported a record of shard " + shard.id() + " as failed: "
                + records.get(from).record.sequence());
        shard.done(records.subList(0, from));
        // What is left begins with another record, which has its own attempts.
        retry(new Part(records.subList(from, records.size()), from == 0 ? part.failures() + 1 : 1));
    }

    /// The lowest one of those that failed; one that was not in the batch makes all of it fail.
    private static int firstOf(Set<String> failures, List<Delivery> records) {
        int known = 0;
        int first = records.size();
        for (int i = 0; i < records.size(); i++) {
            if (failures.contains(records.get(i).record.sequence())) {
                known++;
                first = Math.min(first, i);
            }
        }
        return known == failures.size() ? first : 0;
    }

    private void failed(Part part, String why) {
        mapping.problem("The function failed for shard " + shard.id() + " from "
                + part.records().getFirst().record.sequence() + ": " + why);
        List<Delivery> records = part.records();
        int cut = cut(records.size());
        if (cut == 0) {
            retry(new Part(records, part.failures() + 1));
        } else {
            // Cutting in two is no attempt.
            push(records.subList(cut, records.size()), part.failures());
            push(records.subList(0, cut), part.failures());
            mapping.after(StreamMapping.pause(0), this::next);
        }
    }

    /// Where a batch that failed is cut in two; 0 if it is not.
    private int cut(int size) {
        if (size < 2) {
            return 0;
        }
        if (mapping.strikes(mapping.faults.recut())) {
            return 1 + mapping.random.nextInt(size - 1);
        }
        return mapping.settings.failing().bisectBatchOnFunctionError() ? size / 2 : 0;
    }

    private void retry(Part part) {
        int retries = mapping.settings.failing().maximumRetryAttempts();
        if (retries >= 0 && part.failures() > retries) {
            giveUp(part, GivenUp.Condition.ATTEMPTS);
        } else {
            parts.push(part);
            mapping.after(StreamMapping.pause(part.failures()), this::next);
        }
    }

    /// Goes on only when the destination knows.
    private void giveUp(Part part, GivenUp.Condition condition) {
        List<Delivery> records = part.records();
        GivenUp givenUp = new GivenUp(condition, shard.id(), records, part.failures());
        mapping.problem(givenUp.text());
        Destination onFailure = mapping.target.onFailure();
        if (onFailure == null) {
            mapping.after(Duration.ZERO, () -> given(records)); // Not at once: ten thousand may follow.
        } else {
            String body = givenUp.message(mapping);
            tell(onFailure, body, records, 0);
        }
    }

    private void tell(Destination destination, String body, List<Delivery> records, int failures) {
        mapping.then(
                () -> destination
                        .client()
                        .sendMessage(request ->
                                request.queueUrl(destination.queueUrl()).messageBody(body)),
                (_, failure) -> told(destination, body, records, failure == null ? -1 : failures, failure));
    }

    private void told(
            Destination destination, String body, List<Delivery> records, int failures, @Nullable Throwable failure) {
        if (failure == null) {
            given(records);
        } else if (!lane.isAbandoned()) {
            mapping.problem("What was given up cannot be told to " + destination.queueUrl() + ": " + failure);
            mapping.after(StreamMapping.pause(failures), () -> tell(destination, body, records, failures + 1));
        }
    }

    private void given(List<Delivery> records) {
        if (!lane.isAbandoned()) {
            shard.done(records);
            next();
        }
    }
}
