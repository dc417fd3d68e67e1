package dev.onefold.receivers;

import dev.onefold.batch.BatchHandler;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.document.Problem;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Context.Connector;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Opens the receiver that a pipeline file names.
public final class Receivers {
    private Receivers() {}

    /// Opens a receiver. The caller closes it.
    ///
    /// @throws IllegalArgumentException saying what is wrong with the destination
    public static Receiver open(Batching batching, Context context) {
        Destination destination = batching.deliver();
        return switch (destination.kind()) {
            case FILE -> new FileReceiver(destination, context.folder());
            case COMMAND -> new CommandReceiver(batching, context);
            case HTTP -> HttpReceiver.open(destination, context);
            case JAVA -> HandlerReceiver.open(destination, context);
            case S3, SFTP, JDBC, KAFKA, LAMBDA -> {
                Connector connector = context.connectors().get(destination.kind());
                if (connector == null) {
                    throw new IllegalArgumentException("Batches cannot be delivered to "
                            + destination.kind().word() + " here: its connector is"
                            + " missing. Deliver to another receiver, or, in a Java program, add its module to the"
                            + " class path and to the context");
                }
                yield connector.open(batching, context);
            }
        };
    }

    /// A receiver that an application gives as an object.
    ///
    /// @param handler closed with the receiver
    /// @param timeout after which a call is interrupted
    public static Receiver of(BatchHandler handler, Duration timeout) {
        return new HandlerReceiver(handler, timeout, Optional.empty());
    }

    /// The address, path or key of a batch: the target with the batch's number.
    public static String name(Destination destination, BatchNumber number) {
        return destination.target().getFirst().replace(Destination.NUMBER, number.toString());
    }

    /// The outcome by the answer of a receiver that took a batch: `done`, or `partial` if the answer names
    /// records that failed.
    public static Outcome answered(String answer) {
        return HttpAnswer.accepted(new HttpAnswer.Body(answer, true));
    }

    /// A text of a receiver's, short and on one line.
    public static String shown(String text) {
        return Problem.visible(text.strip(), HttpAnswer.SAID_LENGTH_MAX);
    }

    /// The name of the manifest beside a content: `quakes-000042.json` for `quakes-000042.ndjson.gz`.
    public static String manifestName(String content) {
        String name = content;
        for (String end : new String[] {".gz", ".zst", ".ndjson", ".jsonl", ".csv", ".txt"}) {
            if (name.endsWith(end) && name.length() > end.length()) {
                name = name.substring(0, name.length() - end.length());
            }
        }
        return name.endsWith(".json") ? name + ".manifest.json" : name + ".json";
    }

    /// The names that contents and manifests have, with any number, each without its folder.
    public static Pattern fileNames(Destination destination) {
        String target = destination.target().getFirst();
        String name = target.substring(target.lastIndexOf('/') + 1);
        return Pattern.compile(pattern(name) + "|" + pattern(manifestName(name)));
    }

    private static String pattern(String name) {
        return Stream.of(name.split(Pattern.quote(Destination.NUMBER), -1))
                .map(Pattern::quote)
                .collect(Collectors.joining("[0-9.]+"));
    }

    /// Says that a host has no address; empty if it has one. Asks the name service.
    public static Optional<String> unknownHost(String host) {
        try {
            InetAddress _ = InetAddress.getByName(host);
            return Optional.empty();
        } catch (UnknownHostException e) {
            return Optional.of("The host " + host + " is not known. Correct its name, or look after the name service");
        }
    }

    /// The time that an option names, like `30s`; the other one if it is left out.
    public static Duration time(Destination destination, String option, Duration other) {
        return destination.option(option).map(Receivers::time).orElse(other);
    }

    private static Duration time(String text) {
        long count = Long.parseLong(text, 0, text.length() - 1, 10);
        return switch (text.charAt(text.length() - 1)) {
            case 's' -> Duration.ofSeconds(count);
            case 'm' -> Duration.ofMinutes(count);
            case 'h' -> Duration.ofHours(count);
            case 'd' -> Duration.ofDays(count);
            default -> throw new IllegalArgumentException("'" + text + "' is not a time");
        };
    }
}
