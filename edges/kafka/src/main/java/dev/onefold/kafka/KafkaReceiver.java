package dev.onefold.kafka;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;

/// Writes a batch to a partition of a topic in one transaction: its records, and behind them its manifest.
///
/// Whoever takes the topic over fences the one before, so nothing of that one comes later. Then it looks whether the
/// manifest of the batch is there already. So a batch is in the topic once, even if the answer was lost, or if two
/// processes have the batch. One batch at a time is delivered, so the manifest of a later one is that of another data
/// directory.
public final class KafkaReceiver implements Receiver {
    private static final String TRANSACTIONAL_ID = "onefold-batches-";
    private static final byte[] MANIFEST_KEY = ":onefold".getBytes(StandardCharsets.UTF_8);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    /// The clocks of brokers may differ from that of the engine so much.
    private static final Duration CLOCKS_MAX = Duration.ofHours(1);

    private final String topic;
    private final String servers;
    private final KafkaClients clients;
    private volatile boolean isClosed;
    private @Nullable Admin admin;
    private @Nullable Producer<byte[], byte[]> producer;
    private List<Integer> partitions = List.of();
    private long written; // Number of the last whole one, or of its parts: the topic had no later one then.
    private long since; // Manifests that came after it have at least this time, in milliseconds.

    private KafkaReceiver(String topic, String servers, KafkaClients clients) {
        this.topic = topic;
        this.servers = servers;
        this.clients = clients;
    }

    /// Opens the receiver. No connection is made.
    ///
    /// @throws IllegalArgumentException if the properties cannot be read, or are not possible
    public static Receiver open(Batching batching, Context context) {
        Destination destination = batching.deliver();
        String servers = destination.option("servers").orElse("");
        return new KafkaReceiver(
                destination.target().getFirst(),
                servers,
                new KafkaClients(
                        servers,
                        destination.option("properties"),
                        Optional.empty(),
                        context.folder(),
                        context.environment()::get));
    }

    @Override
    public synchronized Outcome deliver(Handover handover) throws InterruptedException {
        boolean isDone = false;
        try {
            Outcome outcome = delivered(handover);
            isDone = outcome instanceof Outcome.Done;
            return outcome;
        } catch (InterruptException e) {
            boolean _ = Thread.interrupted();
            InterruptedException interrupted = new InterruptedException("Interrupted while a batch was delivered");
            interrupted.initCause(e);
            throw interrupted;
        } catch (KafkaException | IllegalArgumentException e) {
            return new Outcome.NotNow(said(e), null);
        } finally {
            if (!isDone) {
                drop();
            }
        }
    }

    private Outcome delivered(Handover handover) {
        Manifest manifest = handover.manifest();
        TopicLook look = look();
        long number = manifest.number().number();
        boolean isLater = written > 0 && number > written;
        boolean isKnown = isLater && producer != null && handover.attempt() == 1;
        Producer<byte[], byte[]> own = producer == null ? takeOver(look) : producer;
        Manifest found = isKnown ? null : find(look, manifest, isLater ? since : 0);
        if (found != null) {
            return found.id().equals(manifest.id()) && found.sha256().equals(manifest.sha256())
                    ? new Outcome.Done()
                    : new Outcome.Conflict("The topic " + topic + " has batch " + found.id() + " with SHA-256 "
                            + found.sha256() + ", and not batch " + manifest.id() + " with " + manifest.sha256());
        }
        Outcome outcome = write(own, handover);
        if (outcome instanceof Outcome.Done) {
            written = number;
            since = System.currentTimeMillis() - CLOCKS_MAX.toMillis();
        }
        return outcome;
    }

    private TopicLook look() {
        Admin asked = admin;
        if (asked == null) {
            asked = clients.admin();
            admin = asked;
        }
        return new TopicLook(asked, topic, ANSWER_MAX, () -> isClosed);
    }

    private Producer<byte[], byte[]> takeOver(TopicLook look) {
        partitions = look.ask().await().partitions();
        Producer<byte[], byte[]> own = clients.producer(TRANSACTIONAL_ID + topic);
        producer = own;
        own.initTransactions();
        return own;
    }

    /// The manifest of a batch, or of a later one of its pipeline; `null` if the topic has none.
    private @Nullable Manifest find(TopicLook look, Manifest wanted, long from) {
        AtomicReference<@Nullable Manifest> found = new AtomicReference<>();
        try (TopicReading reading = new TopicReading(look, look.from(partitions, from), clients.consumer())) {
            reading.read(look.ends(partitions), record -> {
                Manifest last = found.get();
                if (last != null && last.id().equals(wanted.id())) {
                    return false;
                }
                if (Arrays.equals(record.key(), MANIFEST_KEY) && record.value() != null) {
                    Manifest.read(new String(record.value(), StandardCharsets.UTF_8))
                            .filter(each -> each.id().equals(wanted.id()) || isLater(each, wanted))
                            .ifPresent(found::set);
                }
                return true;
            });
        }
        return found.get();
    }

    private static boolean isLater(Manifest one, Manifest other) {
        return one.pipeline().equals(other.pipeline())
                && one.number().number() > other.number().number();
    }

    private Outcome write(Producer<byte[], byte[]> own, Handover handover) {
        Manifest manifest = handover.manifest();
        int partition = (int) (manifest.number().number() % partitions.size());
        AtomicReference<@Nullable Exception> failed = new AtomicReference<>();
        own.beginTransaction();
        try (InputStream in = new BufferedInputStream(handover.open())) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (next == '\n') {
                    send(own, new ProducerRecord<>(topic, partition, null, line.toByteArray()), failed);
                    line.reset();
                } else {
                    line.write(next);
                }
            }
        } catch (ClosedByInterruptException e) {
            throw new InterruptException(new InterruptedException("A batch was being read"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        byte[] proof = manifest.toJson().getBytes(StandardCharsets.UTF_8);
        send(own, new ProducerRecord<>(topic, partition, MANIFEST_KEY, proof), failed);
        own.flush();
        Exception failure = failed.get();
        if (failure != null) {
            return failure instanceof RecordTooLargeException
                    ? new Outcome.Refused(said(failure))
                    : new Outcome.NotNow(said(failure), null);
        }
        try {
            own.commitTransaction();
            return new Outcome.Done();
        } catch (KafkaException e) {
            return new Outcome.Unknown("The commit was not answered. " + said(e));
        }
    }

    private static void send(
            Producer<byte[], byte[]> own,
            ProducerRecord<byte[], byte[]> record,
            AtomicReference<@Nullable Exception> failed) {
        var _ = own.send(record, (_, failure) -> {
            if (failure != null) {
                failed.compareAndSet(null, failure);
            }
        });
    }

    private String said(Exception e) {
        return "Kafka at " + servers + " says: "
                + Objects.requireNonNullElse(e.getMessage(), e.getClass().getSimpleName());
    }

    /// What is open is aborted by whoever takes the topic over.
    private void drop() {
        Producer<byte[], byte[]> own = producer;
        producer = null;
        if (own != null) {
            own.close(Duration.ZERO);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        synchronized (this) {
            drop();
            if (admin != null) {
                admin.close(Duration.ZERO);
            }
        }
    }
}
