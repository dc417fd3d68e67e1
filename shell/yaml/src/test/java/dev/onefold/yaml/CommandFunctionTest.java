package dev.onefold.yaml;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.event.TypedJson;
import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.StepFunction.Chain;
import dev.onefold.core.keyed.StepFunction.Result;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.CommandFunction.ProgramException;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Functions in real processes, kind and unkind ones.
///
/// It is one idea: what a process may do to the engine.
@Timeout(120)
class CommandFunctionTest {
    private static final String SUMS = """
            pipeline: sums
            input: {format: json, key: user, version: n}
            process: {command: %s, order: every, tables: {stats: [user]}}
            """;

    private static final String FUNCTION = """
            import os, signal, subprocess, sys, time
            from dataclasses import dataclass
            import onefold

            @dataclass
            class Sum:
                sum: int

            @dataclass
            class Event:
                user: str
                n: int
                what: str

            @dataclass
            class Row:
                user: str
                sum: int

            def step(before, event):
                if event.what == "die":
                    os._exit(3)
                if event.what == "exit":
                    sys.exit("enough")
                if event.what == "hang":
                    open("hangs", "w").close()
                    while True:
                        pass
                if event.what == "slow":
                    time.sleep(0.02)
                if event.what == "stop":
                    subprocess.Popen(["sh", "-c", "sleep 1.5; kill -CONT " + str(os.getppid())])
                    os.kill(os.getppid(), signal.SIGSTOP)
                    time.sleep(1.8)
                if event.what == "throw":
                    raise ValueError("not this one")
                if event.what == "print":
                    print("Hello from step")
                    os.system("echo hello from a program")
                if event.what == "float":
                    return Sum(before.sum + 0.5)
                if event.what == "wide":
                    return Sum(before.sum + 2**63)
                if event.what == "odd":
                    return Sum(before.sum + 1_000_000), onefold.put("stats", Row("", 2**64))
                after = Sum(before.sum + event.n)
                if event.what == "remove":
                    return after, onefold.remove("stats", user=event.user)
                if event.what == "foreign":
                    return after, onefold.put("stats", Row("another", 1))
                return after, onefold.put("stats", Row(event.user, after.sum))

            onefold.serve(lambda: Sum(0), step, context=Sum, event=Event, tables={"stats": Row})
            """;

    private static final List<String> OWNER = List.of("ann");

    @TempDir
    private Path folder;

    private final List<LoadedFunction> loaded = new ArrayList<>();

    @AfterEach
    void release() {
        loaded.forEach(LoadedFunction::release);
    }

    private LoadedFunction load(Path pipeline) {
        LoadedFunction function = PipelineFunction.load(pipeline).function();
        loaded.add(function);
        return function;
    }

    private StepFunction sums() {
        return called(load(Language.PYTHON.pipeline(folder, SUMS, FUNCTION)));
    }

    private static StepFunction unwatched(LoadedFunction function) {
        return new StepFunction(function, StepFunction.Caller.DIRECT, _ -> {});
    }

    private static StepFunction called(LoadedFunction function) {
        return new StepFunction(function, StepFunction.Caller.DIRECT, impurity -> {
            throw new AssertionError("Impure: " + impurity);
        });
    }

    private static byte[] event(StepFunction function, int n, String what) {
        return content(function, "{\"user\":\"ann\",\"n\":" + n + ",\"what\":\"" + what + "\"}");
    }

    private static byte[] content(StepFunction function, String json) {
        Processing.Code code =
                Objects.requireNonNull(((Processing) function.pipeline().fold()).code());
        byte[] fields = new TypedJson(code.event()).member(("{\"event\":" + json + "}").getBytes(UTF_8), "event");
        return Arrival.counted(fields, 0, fields.length);
    }

    private static String text(Result result) {
        return switch (result) {
            case Result.Failed(String why) -> why;
            case Result.Done done -> {
                StringBuilder text =
                        new StringBuilder(Value.read(done.context()).toJson());
                done.rows()
                        .forEach((row, content) -> text.append(' ')
                                .append(row.key().parts())
                                .append(
                                        content == null
                                                ? "-"
                                                : Value.read(content).toJson()));
                yield text.toString();
            }
        };
    }

    @Test
    void the_types_the_first_context_and_the_hash_of_the_file_are_found() throws Exception {
        LoadedFunction function = load(Language.PYTHON.pipeline(folder, SUMS, FUNCTION));
        Processing.Code code = Objects.requireNonNull(function.processing().code());
        assertThat(code.context()).hasToString("{sum: long}");
        assertThat(code.event()).hasToString("{user: text, n: long, what: text}");
        assertThat(code.tables()).hasToString("{stats={user: text, sum: long}}");
        assertThat(text(called(function).step(OWNER, called(function).start(), event(called(function), 5, ""))))
                .isEqualTo("{\"sum\":5} [ann]{\"user\":\"ann\",\"sum\":5}");
        byte[] hash = java.security.MessageDigest.getInstance("SHA-256")
                .digest(Files.readAllBytes(folder.resolve("function.py")));
        assertThat(code.sha256()).isEqualTo(java.util.HexFormat.of().formatHex(hash));
    }

    /// The oracle adds plain numbers, and knows which events come to nothing.
    @Test
    void answers_that_were_asked_for_ahead_are_those_of_single_calls_whatever_some_events_do() {
        StepFunction function = sums();
        Seeds.forAllSeeds(12, random -> {
            List<String> kinds = new ArrayList<>(Collections.nCopies(40, ""));
            kinds.addAll(List.of(
                    "throw", "throw", "print", "float", "remove", "foreign", random.nextInt(3) == 0 ? "die" : ""));
            kinds.addAll(random.nextInt(2) == 0 ? List.of("wide", "odd") : List.of());
            List<String> whats = new ArrayList<>();
            List<byte[]> contents = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                whats.add(kinds.get(random.nextInt(kinds.size())));
                contents.add(event(function, i, whats.get(i)));
            }
            int skipped = random.nextInt(60); // It was expected, and does not come: a duplicate, perhaps.
            function.ahead(List.of(
                    new Chain(function.start(), contents), new Chain(function.start(), contents.subList(1, 5))));
            byte[] context = function.start();
            long sum = 0;
            for (int i = 0; i < 60; i++) {
                if (i == skipped) {
                    continue;
                }
                Result result = function.step(OWNER, context, contents.get(i));
                switch (whats.get(i)) {
                    case "throw" ->
                        assertThat(text(result))
                                .startsWith("The function failed: ValueError: not this one, at function.py:");
                    case "float" ->
                        assertThat(text(result))
                                .startsWith("The function failed: TypeError: 0.5 is a float, and int is wanted"
                                        .replace("0.5", sum + ".5"));
                    case "wide", "odd" ->
                        assertThat(text(result)).startsWith("The function's result cannot be stored: ");
                    case "foreign" -> assertThat(text(result)).contains("a function writes rows of its own key only");
                    case "die" ->
                        assertThat(text(result))
                                .isEqualTo("The process of the function has ended with exit code 3. Another process did"
                                        + " the same with this event");
                    default -> {
                        sum += i;
                        assertThat(text(result))
                                .isEqualTo("{\"sum\":" + sum + "} [ann]"
                                        + (whats.get(i).equals("remove")
                                                ? "-"
                                                : "{\"user\":\"ann\",\"sum\":" + sum + "}"));
                        context = ((Result.Done) result).context();
                    }
                }
            }
        });
    }

    @Test
    void a_command_whose_file_has_changed_since_it_was_started_folds_no_event() throws Exception {
        for (String change : List.of("after = Sum(before.sum + 1000 * event.n)", "after = before")) {
            Path pipeline = Language.PYTHON.pipeline(folder, SUMS, FUNCTION);
            StepFunction function = called(load(pipeline));
            assertThat(text(function.step(OWNER, function.start(), event(function, 1, ""))))
                    .startsWith("{\"sum\":1}");
            Files.writeString(
                    folder.resolve("function.py"), FUNCTION.replace("after = Sum(before.sum + event.n)", change));
            assertThatThrownBy(() -> function.step(OWNER, function.start(), event(function, 1, "die")))
                    .isInstanceOf(ProgramException.class)
                    .hasMessageContaining(
                            "function.py, in the folder " + folder + ", has changed since it was started");
            assertThatThrownBy(() -> function.step(OWNER, function.start(), event(function, 1, "")))
                    .isInstanceOf(ProgramException.class);
        }
    }

    @Test
    void an_event_that_hangs_costs_a_second_and_takes_no_other_one_with_it() {
        StepFunction function = sums();
        List<byte[]> contents = List.of(event(function, 1, ""), event(function, 2, "hang"), event(function, 3, ""));
        long from = System.nanoTime();
        function.ahead(List.of(new Chain(function.start(), contents)));
        byte[] context = ((Result.Done) function.step(OWNER, function.start(), contents.get(0))).context();
        assertThat(text(function.step(OWNER, context, contents.get(1))))
                .isEqualTo("The function did not return within 1 s");
        assertThat(text(function.step(OWNER, context, contents.get(2)))).startsWith("{\"sum\":4}");
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    @Tag("campaign")
    void the_time_for_which_this_process_was_stopped_does_not_count() throws Exception {
        StepFunction function = sums();
        String go = "while sleep 20; do kill -CONT " + ProcessHandle.current().pid() + " || exit; done";
        Process going = new ProcessBuilder("setsid", "sh", "-c", go).start(); // If the child does not come to it.
        assertThat(text(function.step(OWNER, function.start(), event(function, 1, "stop"))))
                .startsWith("{\"sum\":1}");
        going.destroy();
    }

    @Test
    void a_process_that_is_killed_between_and_within_calls_changes_no_result() throws Exception {
        StepFunction function = sums();
        Random random = new Random(7);
        AtomicInteger killed = new AtomicInteger();
        Thread killer = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Instant young = Instant.now().minusSeconds(2); // It has not begun, perhaps.
                children().stream()
                        .filter(child ->
                                child.info().startInstant().orElseThrow().isBefore(young))
                        .forEach(child -> killed.addAndGet(child.destroyForcibly() ? 1 : 0));
                try {
                    Thread.sleep(random.nextInt(500));
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        try {
            byte[] context = function.start();
            long sum = 0;
            while (killed.get() < 3) {
                List<byte[]> contents = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    contents.add(event(function, i, ""));
                }
                function.ahead(List.of(new Chain(context, contents)));
                for (int i = 0; i < 40; i++) {
                    sum += i;
                    Result result = function.step(OWNER, context, contents.get(i));
                    assertThat(text(result)).startsWith("{\"sum\":" + sum + "}");
                    context = ((Result.Done) result).context();
                }
            }
        } finally {
            killer.interrupt();
            killer.join();
        }
    }

    private static List<ProcessHandle> children() {
        return ProcessHandle.current().children().toList();
    }

    @Test
    void a_slow_function_has_a_second_for_each_event_not_for_each_line() {
        StepFunction function = sums();
        List<byte[]> contents = Collections.nCopies(120, event(function, 1, "slow"));
        List<ProcessHandle> before = children();
        function.ahead(List.of(new Chain(function.start(), contents)));
        byte[] context = function.start();
        for (byte[] content : contents) {
            context = ((Result.Done) function.step(OWNER, context, content)).context();
        }
        assertThat(Value.read(context).toJson()).isEqualTo("{\"sum\":120}");
        assertThat(children()).containsExactlyInAnyOrderElementsOf(before); // None was killed.
    }

    private static final String NODE_HANGS = """
            import { serve } from "./onefold.mjs";
            import { writeFileSync } from "node:fs";
            serve({
                start: () => ({ sum: 0n }),
                step: () => {
                    writeFileSync("hangs", "");
                    for (;;);
                },
                context: "{sum: long}",
                event: "{user: text, n: long, what: text}",
                tables: { stats: "{user: text, sum: long}" },
            });
            """;

    /// An engine in a process of its own, which calls a function that hangs.
    static final class Engine {
        private Engine() {}

        public static void main(String[] arguments) {
            StepFunction function =
                    unwatched(PipelineFunction.load(Path.of(arguments[0])).function());
            children().forEach(child -> System.out.println(child.pid()));
            function.step(OWNER, function.start(), event(function, 1, "hang"));
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"PYTHON", "NODE"})
    void a_call_that_hangs_ends_soon_after_an_engine_that_was_killed(Language language) throws Exception {
        Path pipeline = language.pipeline(folder, SUMS, language == Language.PYTHON ? FUNCTION : NODE_HANGS);
        Process engine = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Engine.class.getName(),
                        pipeline.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        ProcessHandle child = ProcessHandle.of(
                        Long.parseLong(engine.inputReader().readLine()))
                .orElseThrow();
        while (!Files.exists(folder.resolve("hangs"))) {
            Thread.sleep(5);
        }
        engine.destroyForcibly().waitFor();
        assertThat(child.isAlive()).isTrue();
        child.onExit().get(20, TimeUnit.SECONDS);
    }

    @Test
    void the_processes_end_when_the_function_is_released() throws Exception {
        StepFunction function = sums();
        function.step(OWNER, function.start(), event(function, 1, ""));
        List<ProcessHandle> running = children();
        release();
        for (ProcessHandle each : running) {
            each.onExit().get();
        }
        assertThat(text(function.step(OWNER, function.start(), event(function, 2, ""))))
                .startsWith("{\"sum\":2}");
    }

    /// Programs that speak the protocol themselves, each with one mistake.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            say("not JSON")                                   | has answered wrongly: The record is not a JSON object: it begins with 'not JSON'
            say('{"answers":[]}'); time.sleep(60)             | has answered wrongly: it has no answer
            time.sleep(60)                                    | The function did not return within 1 s
            say('{"answers":[[{"sum":1}],[{"sum":2}]]}')      | has answered wrongly: it has more answers than events
            say('{"answers":[[{"sum":1}]]} {}')               | has answered wrongly: Unexpected data after
            say('{"answers":7}')                              | has answered wrongly: it has no array 'answers'
            say('{"answers":[7]}')                            | has answered wrongly: it has '7' where an array is wanted
            say('{"answers":[[]]}')                           | The function's result cannot be stored: an answer has no context
            say('{"answers":[[{"sum":1.5}]]}')                | The function's result cannot be stored: Field sum is '1.5'
            say('{"answers":[[{}]]}')                         | The function's result cannot be stored: Field sum is missing
            say('{"answers":[[{"sum":1},["put","t",{}]]]}')   | The function's result cannot be stored: There is no table t
            say('{"answers":[[{"sum":1},["get","stats",1]]]}')| The function's result cannot be stored: a write is
            say('{"answers":[[{"sum":1},["put","stats",{}]]]}')| The function's result cannot be stored: Field user is missing
            say('x' * 17000000)                               | has written a line of more than 16777216 bytes
            sys.stdout.write('{"answers":[[{'); sys.exit(9)   | has ended with exit code 9
            sys.stderr.write("a reason"); sys.exit(9)         | has ended with exit code 9; it said: a reason
            os.close(1); time.sleep(60)                       | has closed its output
            os._exit(0)                                       | has ended with exit code 0
            os._exit(0) if os.fork() else time.sleep(60)      | has ended with exit code 0
            os.fork() or os.fork() or time.sleep(60); time.sleep(60) | The function did not return within 1 s
            os.kill(os.getpid(), signal.SIGSTOP)              | The function did not return within 1 s
            for _ in range(100): say(' ' * 1000000)           | has answered wrongly: The record is empty
            while True: say('{"answers":[]}')                 | has answered wrongly: it has no answer
            """)
    void a_program_that_answers_wrongly_makes_dead_letters_alone(String mistake, String why) {
        StepFunction function = unwatched(load(Language.PYTHON.pipeline(folder, SUMS, """
                import json, os, signal, sys, time
                def say(line):
                    sys.stdout.write(line + "\\n")
                    sys.stdout.flush()
                say(json.dumps({"onefold": 1, "context": "{sum: long}", "event": "{user: text, n: long, what: text}",
                                "tables": {"stats": "{user: text, sum: long}"}, "start": {"sum": 0}}))
                for line in sys.stdin:
                    chains = json.loads(line)["steps"]
                    if all(event["n"] for chain in chains for event in chain[1:]):
                        say(json.dumps({"answers": [[{"sum": 1}] for chain in chains for _ in chain[1:]]}))
                    else:
                        %s
                """.formatted(mistake))));
        List<byte[]> contents = List.of(event(function, 1, ""), event(function, 0, ""), event(function, 2, ""));
        function.ahead(List.of(new Chain(function.start(), List.of(contents.get(0), contents.get(2)))));
        byte[] one = ((Result.Done) function.step(OWNER, function.start(), contents.get(0))).context();
        Result wrong = function.step(OWNER, one, contents.get(1));
        assertThat(wrong).isInstanceOf(Result.Failed.class);
        assertThat(text(wrong)).contains(why);
        assertThat(text(function.step(OWNER, one, contents.get(2)))).isEqualTo("{\"sum\":1}");
    }

    @Test
    void a_second_answer_that_comes_late_is_no_answer_to_the_next_event() {
        StepFunction function = unwatched(load(Language.PYTHON.pipeline(folder, SUMS, """
                import json, os, sys, time
                print(json.dumps({"onefold": 1, "context": "{sum: long}", "event": "{user: text, n: long, what: text}",
                                "tables": {"stats": "{user: text, sum: long}"}, "start": {"sum": 0}}), flush=True)
                for line in sys.stdin:
                    n = json.loads(line)["steps"][0][1]["n"]
                    print(json.dumps({"answers": [[{"sum": n}]]}) + ("\\n" + json.dumps({"answers": [[{"sum": 666}]]})
                                                                     if n % 2 else ""), flush=True)
                """)));
        for (int n = 0; n < 20; n++) {
            assertThat(text(function.step(OWNER, function.start(), event(function, n, ""))))
                    .isEqualTo("{\"sum\":" + n + "}");
        }
    }

    @Test
    void a_line_that_comes_between_two_events_is_no_answer_to_the_second() {
        StepFunction function = unwatched(load(Language.PYTHON.pipeline(folder, SUMS, """
                import json, os, sys, time
                print(json.dumps({"onefold": 1, "context": "{sum: long}", "event": "{user: text, n: long, what: text}",
                                "tables": {"stats": "{user: text, sum: long}"}, "start": {"sum": 0}}), flush=True)
                for line in sys.stdin:
                    n = json.loads(line)["steps"][0][1]["n"]
                    print(json.dumps({"answers": [[{"sum": n}]]}), flush=True)
                    if n % 2:
                        time.sleep(0.05)
                        print(json.dumps({"answers": [[{"sum": 666}]]}), flush=True)
                        open("said%d" % n, "w").close()
                """)));
        for (int n = 0; n < 6; n++) { // The first one is a sample, and called twice.
            assertThat(text(function.step(OWNER, function.start(), event(function, n, ""))))
                    .isEqualTo("{\"sum\":" + n + "}");
            while (n % 2 == 1 && !Files.exists(folder.resolve("said" + n))) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void a_program_that_leaves_out_an_answer_gives_no_event_the_answer_of_another_one() {
        StepFunction function = unwatched(load(Language.PYTHON.pipeline(folder, SUMS, """
                import json, sys
                print(json.dumps({"onefold": 1, "context": "{sum: long}", "event": "{user: text, n: long, what: text}",
                                "tables": {"stats": "{user: text, sum: long}"}, "start": {"sum": 0}}), flush=True)
                for line in sys.stdin:
                    events = [event for chain in json.loads(line)["steps"] for event in chain[1:]]
                    print(json.dumps({"answers": [[{"sum": event["n"]}] for event in events if event["n"]]}), flush=True)
                """)));
        List<byte[]> contents = List.of(event(function, 1, ""), event(function, 0, ""), event(function, 2, ""));
        function.ahead(List.of(new Chain(function.start(), contents)));
        byte[] one = ((Result.Done) function.step(OWNER, function.start(), contents.get(0))).context();
        assertThat(Value.read(one).toJson()).isEqualTo("{\"sum\":1}");
        assertThat(function.step(OWNER, one, contents.get(1))).isInstanceOf(Result.Failed.class);
        assertThat(text(function.step(OWNER, one, contents.get(2)))).isEqualTo("{\"sum\":2}");
    }

    @Test
    void what_it_writes_to_standard_error_never_stops_it() {
        StepFunction function = called(load(Language.PYTHON.pipeline(
                folder,
                SUMS,
                FUNCTION.replace(
                        "print(\"Hello from step\")", "sys.stderr.write(\"x\" * 3000000 + \"\\n\" * 100000)"))));
        assertThat(text(function.step(OWNER, function.start(), event(function, 7, "print"))))
                .startsWith("{\"sum\":7}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            [no-such-program, x]                | cannot be started
            [sh, -c, 'echo boom >&2; exit 4']   | has ended with exit code 4; it said: boom
            [sh, -c, 'sleep 60']                | has not answered within 500 ms
            [sh, -c, 'echo hello']              | does not begin with the line that describes a function: 'hello' is not JSON
            [sh, -c, 'echo {}']                 | does not begin with the line that describes a function
            [sh, -c, 'cat hello']               | it speaks protocol 2, and this Onefold speaks protocol 1
            [sh, -c, 'cat type']                | the type of the context, {sum: float}, is wrong: A type cannot be read at character 12: 'float' is not a type
            [sh, -c, 'cat path']                | component a.b is a path, which only a component of the event may be
            [sh, -c, 'cat table']               | it does not say the type of the rows of table stats
            [sh, -c, 'cat more']                | the program names others, and the pipeline file has no such table; it has stats
            [sh, -c, 'cat key']                 | Table stats has the key [user], and a row of it has no component user; it has sum
            [sh, -c, 'cat start']               | Field sum is missing
            """)
    void a_command_that_is_no_function_is_refused_with_the_reason(String command, String why) throws IOException {
        String hello = "{\"onefold\":1,\"context\":\"{sum: long}\",\"event\":\"{user: text}\","
                + "\"tables\":{\"stats\":\"{user: text}\"},\"start\":{\"sum\":0}}\n";
        Files.writeString(folder.resolve("hello"), hello.replace(":1,", ":2,"));
        Files.writeString(folder.resolve("type"), hello.replace("long", "float"));
        Files.writeString(folder.resolve("path"), hello.replace("sum: long", "a.b: long"));
        Files.writeString(folder.resolve("table"), hello.replace("\"stats\":\"{user: text}\"", ""));
        Files.writeString(
                folder.resolve("more"), hello.replace("\"stats\":", "\"others\":\"{user: text}\",\"stats\":"));
        Files.writeString(folder.resolve("key"), hello.replace("\"stats\":\"{user", "\"stats\":\"{sum"));
        Files.writeString(folder.resolve("start"), hello.replace("\"start\":{\"sum\":0}", "\"start\":{}"));
        Path pipeline = Files.writeString(folder.resolve("pipeline.yaml"), SUMS.formatted(command));
        assertThatThrownBy(
                        () -> PipelineFunction.load(pipeline, PipelineFile.pipeline(pipeline), Duration.ofMillis(500)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    private static final String ECHO = """
            pipeline: echo
            input: {format: json, key: user, version: n}
            process: {command: %s, order: every, tables: {rows: [user]}}
            """;

    private static final String PYTHON_ECHO =
            """
            import enum
            from dataclasses import dataclass
            from datetime import date, datetime, timedelta
            from decimal import Decimal
            from typing import List, Optional
            import onefold

            class Kind(enum.Enum):
                WALK = 1
                RUN = 2

            @dataclass
            class Inner:
                d: Decimal
                t: Optional[datetime]

            @dataclass
            class All:
                user: str = onefold.named("user")
                b: bool
                i: onefold.Int32
                n: int
                d: Decimal
                t: datetime
                day: date
                s: timedelta
                kind: Kind
                maybe: Optional[int]
                texts: List[str]
                inner: Optional[Inner]
                inners: List[Inner]
            """.replace("    user: str = onefold.named(\"user\")\n", "    user: str\n") + """

            def step(before, event):
                return event, onefold.put("rows", event)

            onefold.serve(lambda: All("", False, 0, 0, Decimal(0), datetime.fromisoformat("1970-01-01T00:00:00+00:00"),
                                      date(1970, 1, 1), timedelta(0), Kind.RUN, None, [], None, []),
                          step, context=All, event=All, tables={"rows": All})
            """;

    private static final String NODE_ECHO = """
            import { serve, put } from "./onefold.mjs";
            const inner = "{d: decimal, t: time?}";
            const all = `{user: text, b: boolean, i: int, n: long, d: decimal, t: time, day: date, s: duration,
                kind: (WALK|RUN), maybe: long?, texts: [text], inner: ${inner}?, inners: [${inner}]}`.replace(/\\s+/g, " ");
            serve({
                start: () => ({ user: "", b: false, i: 0, n: 0n, d: "0", t: new Date(0), day: "1970-01-01", s: "PT0S",
                                kind: "RUN", texts: [], inners: [] }),
                step: (before, event) => [event, put("rows", event)],
                context: all,
                event: all,
                tables: { rows: all },
            });
            """;

    private static final String NODE_LARGE = """
            import { serve, put } from "./onefold.mjs";
            serve({
                start: () => ({ count: 0 }),
                step: (before, { user, n }) => {
                    const text = "x".repeat(80_000);
                    console.log("Hello from step");
                    process.stdout.write("and from elsewhere\\n");
                    return [{ count: before.count + 1 },
                            Array.from({ length: 20 }, (_, i) => put("stats", { user, i, text }))];
                },
                context: "{count: int}",
                event: "{user: text, n: long}",
                tables: { stats: "{user: text, i: int, text: text}" },
            });
            """;

    /// An answer is larger than a pipe holds, and is read later than it is written.
    @Test
    void a_function_in_node_may_have_large_answers() {
        StepFunction function =
                called(load(Language.NODE.pipeline(folder, SUMS.replace("[user]", "[user, i]"), NODE_LARGE)));
        byte[] content = content(function, "{\"user\":\"ann\",\"n\":1}");
        List<byte[]> contents = Collections.nCopies(4, content);
        byte[] context = function.start();
        for (int i = 0; i < 3; i++) {
            function.ahead(List.of(new Chain(context, contents)));
            for (byte[] each : contents) {
                Result result = function.step(OWNER, context, each);
                assertThat(result).isInstanceOf(Result.Done.class);
                assertThat(((Result.Done) result).rows()).hasSize(20);
                context = ((Result.Done) result).context();
            }
        }
        assertThat(Value.read(context).toJson()).isEqualTo("{\"count\":12}");
    }

    private static final String HALF = """
            pipeline: halves
            input: {format: json, key: user, version: n}
            process: {command: %s, order: every, tables: {rows: [user]}}
            """;

    private static final String PYTHON_HALF = """
            from dataclasses import dataclass
            import onefold

            @dataclass
            class Text:
                text: str

            @dataclass
            class Event:
                user: str
                n: int

            @dataclass
            class Row:
                user: str
                text: str

            def step(before, event):
                half = "a\\ud83d"
                if event.n == 1:
                    return Text(half)
                if event.n == 2:
                    return Text(""), onefold.put("rows", Row(event.user, half))
                raise ValueError(half)

            onefold.serve(lambda: Text(""), step, context=Text, event=Event, tables={"rows": Row})
            """;

    private static final String NODE_HALF = """
            import { serve, put } from "./onefold.mjs";
            serve({
                start: () => ({ text: "" }),
                step: (before, { user, n }) => {
                    const half = "a\\ud83d";
                    if (n === 1n) {
                        return { text: half };
                    }
                    if (n === 2n) {
                        return [{ text: "" }, put("rows", { user, text: half })];
                    }
                    throw new Error(half);
                },
                context: "{text: text}",
                event: "{user: text, n: long}",
                tables: { rows: "{user: text, text: text}" },
            });
            """;

    @ParameterizedTest
    @CsvSource({"PYTHON", "NODE"})
    void half_a_surrogate_pair_in_a_result_is_refused_and_what_was_thrown_is_still_said(Language language) {
        String text = language == Language.PYTHON ? PYTHON_HALF : NODE_HALF;
        StepFunction function = called(load(language.pipeline(folder, HALF, text)));
        for (int n = 1; n <= 2; n++) {
            byte[] content = content(function, "{\"user\":\"ann\",\"n\":" + n + "}");
            assertThat(text(function.step(OWNER, function.start(), content)))
                    .as("event " + n)
                    .startsWith("The function failed: TypeError: ")
                    .contains("a\\ud83d", ", and a text of whole characters is wanted");
        }
        byte[] content = content(function, "{\"user\":\"ann\",\"n\":3}");
        assertThat(text(function.step(OWNER, function.start(), content))).contains("Error: a?, at function.");
    }

    /// Each value that the types can hold, up to microseconds, comes back with the bytes that it had.
    @ParameterizedTest
    @CsvSource({"PYTHON", "NODE"})
    void every_value_passes_through_a_program_unchanged(Language language) {
        String text = language == Language.PYTHON ? PYTHON_ECHO : NODE_ECHO;
        StepFunction function = called(load(language.pipeline(folder, ECHO, text)));
        Seeds.forAllSeeds(300, random -> {
            List<byte[]> contents = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                contents.add(content(function, RandomValues.object(random)));
            }
            function.ahead(List.of(new Chain(function.start(), contents)));
            byte[] context = function.start();
            for (byte[] content : contents) {
                List<String> owner = List.of(String.valueOf(
                        Objects.requireNonNull(value(content).components().get("user"))
                                .plain()));
                Result result = function.step(owner, context, content);
                assertThat(text(result)).startsWith(value(content).toJson());
                Result.Done done = (Result.Done) result;
                assertThat(done.context()).isEqualTo(value(content).toBytes());
                assertThat(done.rows().values()).containsExactly(value(content).toBytes());
                context = done.context();
            }
        });
    }

    private static Value.Fields value(byte[] content) {
        return Value.read(java.util.Arrays.copyOfRange(content, 1, content.length));
    }
}
