package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.load.Pace;
import dev.onefold.sqs.Queue;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResultEntry;

class QueueProductionTest {
    private static final Queue QUEUE = Queue.of("https://sqs.eu-central-1.amazonaws.com/123456789012/orders");

    private static final int LINES = 1_000; // More than are under way at a time.

    @TempDir
    Path folder;

    private final Set<Integer> taken = new ConcurrentSkipListSet<>();
    private final StopRequest stop = new StopRequest();
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    /// A queue that takes all, and at its first request the command is stopped.
    private SqsAsyncClient stopping(ExitCode code) {
        return (SqsAsyncClient) Proxy.newProxyInstance(
                QueueProductionTest.class.getClassLoader(),
                new Class<?>[] {SqsAsyncClient.class},
                (_, _, arguments) -> {
                    SendMessageBatchRequest.Builder request = SendMessageBatchRequest.builder();
                    @SuppressWarnings("unchecked")
                    Consumer<SendMessageBatchRequest.Builder> filled =
                            (Consumer<SendMessageBatchRequest.Builder>) arguments[0];
                    filled.accept(request);
                    stop.make(code);
                    return CompletableFuture.completedFuture(answer(request.build()));
                });
    }

    private SendMessageBatchResponse answer(SendMessageBatchRequest request) {
        List<SendMessageBatchResultEntry> in = new ArrayList<>();
        for (SendMessageBatchRequestEntry entry : request.entries()) {
            taken.add(Integer.valueOf(entry.messageBody()));
            in.add(SendMessageBatchResultEntry.builder().id(entry.id()).build());
        }
        return SendMessageBatchResponse.builder().successful(in).build();
    }

    private ExitCode send(SqsAsyncClient client, long from) throws Exception {
        Cli cli = Cli.in(folder);
        String lines = String.join(
                "\n", IntStream.rangeClosed(1, LINES).mapToObj(String::valueOf).toList());
        cli.write("one.ndjson", lines);
        cli.write("two.ndjson", lines);
        Caller caller = cli.caller(InputStream.nullInputStream(), said, said);
        return new QueueProduction(
                        caller,
                        client,
                        QUEUE,
                        new Production.Limits(new Pace(0, System.nanoTime()), stop),
                        RecordEnds.LINES)
                .run(List.of("one.ndjson", "two.ndjson"), from, -1);
    }

    @Test
    void a_stop_with_lines_left_is_no_success_and_says_where_to_go_on() throws Exception {
        assertThat(send(stopping(ExitCode.DONE), 3)).isEqualTo(ExitCode.DIFFERENT); // As SIGTERM does it.
        assertThat(taken).hasSizeLessThan(LINES - 2);
        int next = 3 + taken.size();
        assertThat(taken)
                .containsExactlyElementsOf(IntStream.range(3, next).boxed().toList());
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("Stopped. Go on with --from " + next + " of one.ndjson.");
    }

    @Test
    void a_stop_before_the_first_line_names_it() throws Exception {
        stop.make(ExitCode.INTERRUPTED);
        assertThat(send(stopping(ExitCode.DONE), 3)).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(taken).isEmpty();
        assertThat(said.toString(StandardCharsets.UTF_8)).contains("Stopped. Go on with --from 3 of one.ndjson.");
    }
}
