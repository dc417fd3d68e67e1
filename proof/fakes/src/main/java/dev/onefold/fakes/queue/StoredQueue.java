package dev.onefold.fakes.queue;

import dev.onefold.fakes.aws.Wire;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.ReceiptHandleIsInvalidException;

/// A queue with its messages. A message is hidden for a while when it is received, and gone when it is deleted; after
/// so many receptions it goes into another queue.
final class StoredQueue {
    private final Duration visibility;
    private final int maxReceiveCount;
    private final @Nullable StoredQueue aside;
    private final Map<String, Stored> messages = new LinkedHashMap<>();

    /// A message, until it is deleted.
    static final class Stored {
        final String id;
        final String body;
        final Instant sent;
        private Instant visible;
        private int receives;
        private @Nullable Instant firstReceived;

        Stored(String id, String body, Instant sent, Instant visible) {
            this.id = id;
            this.body = body;
            this.sent = sent;
            this.visible = visible;
        }

        int receives() {
            return receives;
        }

        Instant firstReceived() {
            return firstReceived == null ? sent : firstReceived;
        }

        String receipt() {
            return id + "/" + receives;
        }
    }

    /// @param maxReceiveCount 0 for without end
    /// @param aside where a message goes that was received so often
    StoredQueue(Duration visibility, int maxReceiveCount, @Nullable StoredQueue aside) {
        this.visibility = visibility;
        this.maxReceiveCount = maxReceiveCount;
        this.aside = aside;
    }

    String add(UUID id, String body, Instant now, Duration delay) {
        messages.put(id.toString(), new Stored(id.toString(), body, now, now.plus(delay)));
        return id.toString();
    }

    /// Those that can be received.
    List<Stored> visible(Instant now) {
        List<Stored> visible = new ArrayList<>();
        for (Stored message : List.copyOf(messages.values())) {
            if (message.visible.isAfter(now)) {
                continue;
            }
            if (aside != null && message.receives >= maxReceiveCount) {
                messages.remove(message.id);
                aside.messages.put(message.id, new Stored(message.id, message.body, message.sent, now));
            } else {
                visible.add(message);
            }
        }
        return visible;
    }

    /// @param hidden or it can be received again at once, as the service allows itself
    void receive(Stored message, Instant now, boolean hidden) {
        message.receives++;
        message.firstReceived = message.firstReceived();
        if (message.receives == 1) {
            message.firstReceived = now;
        }
        if (hidden) {
            message.visible = now.plus(visibility);
        }
    }

    /// An old receipt deletes nothing, and is no mistake.
    void delete(String receipt) {
        Stored message = messages.get(id(receipt));
        if (message != null && message.receipt().equals(receipt)) {
            messages.remove(message.id);
        }
    }

    void hide(String receipt, Instant until) {
        Stored message = messages.get(id(receipt));
        if (message != null && message.receipt().equals(receipt)) {
            message.visible = until;
        }
    }

    private static String id(String receipt) {
        int slash = receipt.indexOf('/');
        if (slash < 0) {
            throw Wire.filled(
                            ReceiptHandleIsInvalidException.builder(),
                            "ReceiptHandleIsInvalid",
                            400,
                            "The input receipt handle is invalid: " + receipt)
                    .build();
        }
        return receipt.substring(0, slash);
    }

    List<String> bodies() {
        return messages.values().stream().map(message -> message.body).toList();
    }
}
