package dev.onefold.benchmark;

import dev.onefold.broker.Broker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `java -cp 'proof/benchmark/target/*:proof/benchmark/target/lib/*' dev.onefold.benchmark.Main`: whole runs,
/// each in a virtual machine of its own, so that none profits from another's warm-up. It is one idea: the verbs are
/// short, and share how a run is started and how its figures are read.
@Command(
        name = "benchmark",
        mixinStandardHelpOptions = true,
        description = {
            "Runs the engine beside the floor, and says what it costs.",
            "Make the input first: ./onefold generate trade-risk --workload benchmark --events 10000000 --output 10m.ndjson"
        })
public final class Main {
    /// Held here, because the logging system holds a logger weakly.
    private static final Logger ENGINE_LOG = Logger.getLogger("dev.onefold");

    @Option(names = "--work", description = "Folder for data directories and logs. Default: ${DEFAULT-VALUE}")
    private Path work = Path.of("target", "benchmark");

    @Option(names = "--heap", description = "Java heap of each run. Default: ${DEFAULT-VALUE}")
    private String heap = "1g";

    public static void main(String[] arguments) {
        ENGINE_LOG.setLevel(Level.WARNING);
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Command(description = "Floor and engine by turns; the ratio of each pair, and the medians.")
    int ratio(@Parameters(paramLabel = "INPUT") Path input, @Option(names = "--rounds", defaultValue = "3") int rounds)
            throws IOException, InterruptedException {
        return compare(rounds, () -> child("floor-run", input), () -> child("engine-run", input));
    }

    /// A run in a virtual machine of its own.
    private interface Turn {
        Child run() throws IOException, InterruptedException;
    }

    private static int compare(int rounds, Turn floors, Turn engines) throws IOException, InterruptedException {
        List<Double> ratios = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        List<Double> floorCpu = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Meter.Run floor = floors.run().run();
            Meter.Run engine = engines.run().run();
            ratios.add(engine.perSecond() / floor.perSecond());
            cpu.add(engine.cpuSecondsPerMillion());
            floorCpu.add(floor.cpuSecondsPerMillion());
            System.out.printf(Locale.ROOT, "%48s engine/floor %.2f%n", "", ratios.getLast());
        }
        System.out.printf(
                Locale.ROOT,
                "median engine/floor %.2f, engine %.2f and floor %.2f CPU-seconds per million (%.2f)%n",
                median(ratios),
                median(cpu),
                median(floorCpu),
                median(cpu) / median(floorCpu));
        return 0;
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted(Comparator.naturalOrder()).toList();
        return sorted.get(sorted.size() / 2);
    }

    @Command(
            description =
                    "The engine once on each input: does the cost per message stay the same, what does a key take, and how long does"
                            + " a checkpoint stop intake?")
    int linear(@Parameters(paramLabel = "INPUT", arity = "1..*") List<Path> inputs)
            throws IOException, InterruptedException {
        for (Path input : inputs) {
            child("engine-run", input);
        }
        return 0;
    }

    @Command(name = "process-input", description = "Writes the input of 'process', and what it comes to beside it.")
    int processInput(
            @Parameters(paramLabel = "OUTPUT") Path output,
            @Option(names = "--events", defaultValue = "10000000", description = "Default: ${DEFAULT-VALUE}")
                    int events)
            throws IOException {
        RunsInput.write(output, events);
        return 0;
    }

    @Command(
            description =
                    "A function per key, in each order, and how its cost grows with what is kept; totals are compared.")
    int process(
            @Parameters(paramLabel = "INPUT", description = "As 'process-input' writes it.") Path input,
            @Option(names = "--rounds", defaultValue = "1") int rounds)
            throws IOException, InterruptedException {
        for (int round = 0; round < rounds; round++) {
            child("process-run", input);
            child("process-run", input, "--by-club");
            child("process-run", input, "--order", "every");
            for (String keep : List.of("1", "100", "1000")) {
                child("process-run", input, "--order", "in-order", "--keep", keep);
            }
        }
        return 0;
    }

    @Command(description = "Sealed batches of one record, delivered in the order of keys and in any order, by turns.")
    int order(
            @Option(names = "--rounds", defaultValue = "3") int rounds,
            @Option(names = "--records", defaultValue = "100000") int records,
            @Option(names = "--keys", defaultValue = "10000") int keys)
            throws InterruptedException {
        for (int round = 0; round < rounds; round++) {
            Path folder = work.resolve("order-" + System.nanoTime());
            new OrderRun("any", records, keys, 1, false).print(folder.resolve("any"));
            new OrderRun("any", records, keys, 1, true).print(folder.resolve("any-held"));
            new OrderRun("key", records, keys, 1, false).print(folder.resolve("key"));
            new OrderRun("key", records, keys, 1, true).print(folder.resolve("key-held"));
            new OrderRun("key", records, records / 9_000, 1, true).print(folder.resolve("key-held-long"));
        }
        return 0;
    }

    @Command(
            description = {
                "Gzip files of distinct messages: the floor and the engine by turns, and the ratio of each pair.",
                "Make the input first: ./onefold generate burst --events 1200000 --output burst.ndjson"
            })
    int burst(
            @Parameters(paramLabel = "INPUT") Path input,
            @Option(names = "--rounds", defaultValue = "3") int rounds,
            @Option(names = "--size", defaultValue = "50000", description = "Of a batch. Default: ${DEFAULT-VALUE}")
                    int size)
            throws IOException, InterruptedException {
        String option = "--size=" + size;
        return compare(rounds, () -> child("floor-burst", input, option), () -> child("engine-burst", input, option));
    }

    @Command(
            description =
                    "A topic of Kafka by turns into a plain consumer, which is the floor, and into the engine; the broker's"
                            + " processor time apart.")
    int kafka(
            @Option(names = "--messages", defaultValue = "1000000", description = "Default: ${DEFAULT-VALUE}")
                    long messages,
            @Option(names = "--partitions", defaultValue = "8", description = "Default: ${DEFAULT-VALUE}")
                    int partitions,
            @Option(names = "--rounds", defaultValue = "3") int rounds)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = empty(work.resolve("broker"));
        try (Broker broker = Broker.start(folder, 0, Map.of())) {
            requireSameTotals(folder, KafkaRun.write(broker, partitions, messages));
            String[] options = {"--servers=" + broker.servers(), "--messages=" + messages};
            return compare(
                    rounds,
                    () -> beside(broker, () -> child("floor-kafka", folder, options)),
                    () -> beside(broker, () -> child("engine-kafka", folder, options)));
        }
    }

    private static Child beside(Broker broker, Turn turn) throws IOException, InterruptedException {
        Duration before = cpu(broker);
        Child child = turn.run();
        System.out.printf(
                Locale.ROOT,
                "%48s broker %.2f CPU-s/M%n",
                "",
                cpu(broker).minus(before).toMillis() * 1e3 / child.run().messages());
        return child;
    }

    private static Duration cpu(Broker broker) {
        return broker.process().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    @Command(description = "The input through the journal, forced before it is acknowledged.")
    int append(@Parameters(paramLabel = "INPUT") Path input) throws IOException, InterruptedException {
        child("append-run", input);
        return 0;
    }

    @Command(
            description = {
                "A service: records by HTTP beside records in process, delays, totals, the live page, idle streams.",
                "Make the input first: ./onefold generate trade-risk --workload benchmark --events 1000000 --output 1m.ndjson"
            })
    int serve(
            @Parameters(paramLabel = "INPUT") Path input,
            @Option(names = "--rounds", defaultValue = "3") int rounds,
            @Option(
                            names = "--seconds",
                            defaultValue = "10",
                            description = "For each figure. Default: ${DEFAULT-VALUE}")
                    int seconds,
            @Option(names = "--groups", defaultValue = "100000", description = "Default: ${DEFAULT-VALUE}") int groups,
            @Option(
                            names = "--rate",
                            defaultValue = "50000",
                            description = "Records a second. Default: ${DEFAULT-VALUE}")
                    int rate)
            throws IOException, InterruptedException {
        List<byte[]> bodies = ServeRun.bodies(input);
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Meter.Run append = child("append-run", input).run();
            empty(work.resolve("served"));
            try (Service service = Service.in(start("serve-run", work.resolve("served")))) {
                ratios.add(new ServeRun(service, seconds, groups).post(bodies) / append.perSecond());
            }
            System.out.printf(Locale.ROOT, "%48s POST/append %.2f%n", "", ratios.getLast());
        }
        System.out.printf(Locale.ROOT, "median POST/append %.2f%n", median(ratios));
        try (Service service = Service.in(start("serve-run", work.resolve("served")))) {
            ServeRun run = new ServeRun(service, seconds, groups);
            run.idleStreams(1_000);
            run.fill();
            run.steady(rate, 100);
            run.oneLine(1);
            run.oneLine(64);
            run.totals("19 groups", "/v1/trade-risk/totals", rate / 5);
            run.totals(groups + " groups", "/v1/many/totals", rate / 5);
            run.page(rate / 50);
        }
        return 0;
    }

    @Command(description = "How long requests with records wait beside readers of changes of many groups.")
    int readers(
            @Option(names = "--seconds", defaultValue = "20", description = "Default: ${DEFAULT-VALUE}") int seconds,
            @Option(names = "--groups", defaultValue = "60000", description = "Default: ${DEFAULT-VALUE}") int groups,
            @Option(names = "--readers", defaultValue = "300", description = "Default: ${DEFAULT-VALUE}") int readers,
            @Option(
                            names = "--rate",
                            defaultValue = "2500",
                            description = "Records a second, in requests of 50. Default: ${DEFAULT-VALUE}")
                    int rate)
            throws IOException, InterruptedException {
        empty(work.resolve("served"));
        try (Service service = Service.in(start("serve-run", work.resolve("served")))) {
            ServeRun run = new ServeRun(service, seconds, groups);
            run.fill();
            run.besideReaders("nothing", 0, _ -> "", rate);
            run.besideReaders("one query", readers, _ -> "/v1/many/changes", rate);
            run.besideReaders("different queries", readers, i -> "/v1/many/changes?by=value&top=" + (groups - i), rate);
            run.besideReaders("nothing, again", 0, _ -> "", rate);
        }
        return 0;
    }

    @Command(description = "Time to the first answer of a directory that 'linear' or 'ratio' has left.")
    int restart(@Option(names = "--rounds", defaultValue = "3") int rounds) throws IOException, InterruptedException {
        for (int round = 0; round < rounds; round++) {
            child("restart-run", work.resolve("data"));
        }
        return 0;
    }

    @Command(description = "Micro-benchmarks (JMH).")
    int jmh() throws IOException {
        org.openjdk.jmh.Main.main(new String[] {"dev.onefold.benchmark.*"});
        return 0;
    }

    @Command(
            description = {
                "Kills the engine (SIGKILL) in the middle of its intake, and takes the time to its first answer.",
                "The answer must cover all that was said to be durable before."
            })
    int killed(
            @Parameters(paramLabel = "INPUT") Path input,
            @Option(names = "--at", defaultValue = "10000000", description = "Records. Default: ${DEFAULT-VALUE}")
                    long records,
            @Option(names = "--rounds", defaultValue = "3") int rounds)
            throws IOException, InterruptedException {
        for (int round = 0; round < rounds; round++) {
            emptyDirectory();
            long durable = killedAt(input, records);
            long found = child("restart-run", work.resolve("data")).durable();
            if (found < durable) {
                throw new IllegalStateException(
                        "Durable were " + durable + " bytes; after the restart they are " + found);
            }
            System.out.printf(Locale.ROOT, "%48s durable before %,d bytes, after %,d%n", "", durable, found);
        }
        return 0;
    }

    /// Returns how many bytes were said to be durable before the kill.
    private long killedAt(Path input, long records) throws IOException, InterruptedException {
        Process process = start("fold-and-tell", input);
        long durable = 0;
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String text = out.readLine(); text != null; text = out.readLine()) {
                String[] fields = text.split("\t", -1);
                if (fields.length != 3) {
                    System.err.println(text);
                    continue;
                }
                durable = Long.parseLong(fields[2]);
                if (Long.parseLong(fields[1]) >= records) {
                    process.destroyForcibly().waitFor();
                    return durable;
                }
            }
        }
        throw new IllegalStateException(input + " ended before it had " + records + " records");
    }

    private Process start(String command, Path argument, String... options) throws IOException {
        Files.createDirectories(work);
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + (command.startsWith("floor") ? "4g" : heap),
                "-XX:+UseParallelGC",
                "-XX:MaxNewSize=64m", // As the launcher sets it.
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        line.addAll(List.of("--work", work.toString(), command, argument.toString()));
        line.addAll(List.of(options));
        return new ProcessBuilder(line).redirectErrorStream(true).start();
    }

    /// What a run says besides its cost.
    ///
    /// @param durable bytes of the source that a checkpoint covers; 0 where the run does not say
    private record Child(Meter.Run run, long durable) {}

    private Child child(String command, Path argument, String... options) throws IOException, InterruptedException {
        Process process = start(command, argument, options);
        Meter.Run run = null;
        Set<String> totals = new TreeSet<>();
        Map<String, Long> figures = new HashMap<>();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String text = out.readLine(); text != null; text = out.readLine()) {
                if (Meter.Run.isLine(text)) {
                    run = Meter.Run.ofLine(text);
                } else if (text.startsWith("total\t")) {
                    totals.add(text);
                } else if (text.matches("(rows|stop|durable)\t[0-9]+")) {
                    figures.put(
                            text.substring(0, text.indexOf('\t')),
                            Long.parseLong(text, text.indexOf('\t') + 1, text.length(), 10));
                } else {
                    System.err.println(text);
                }
            }
        }
        if (process.waitFor() != 0 || run == null) {
            throw new IllegalStateException("The run '" + command + "' failed");
        }
        System.out.println(run);
        if (figures.containsKey("stop")) {
            System.out.printf(
                    Locale.ROOT,
                    "%36s keys %,d, %.0f bytes a key all in, longest stop by a checkpoint %.1f ms%n",
                    "",
                    figures.getOrDefault("rows", 0L),
                    (double) run.residentBytes() / figures.getOrDefault("rows", 1L),
                    figures.getOrDefault("stop", 0L) / 1e6);
        }
        if (figures.containsKey("disk")) {
            System.out.printf(
                    Locale.ROOT,
                    "%36s %.0f bytes a key on disk%n",
                    "",
                    (double) figures.getOrDefault("disk", 0L) / figures.getOrDefault("rows", 1L));
        }
        requireSameTotals(argument, totals);
        return new Child(run, figures.getOrDefault("durable", 0L));
    }

    private Set<String> firstTotals = Set.of();
    private Path firstInput = Path.of("");

    /// A rate with wrong totals is no rate: the floor and the engine share no code, and must agree.
    private void requireSameTotals(Path input, Set<String> totals) {
        if (totals.isEmpty()) {
            return;
        }
        if (!input.equals(firstInput)) {
            firstInput = input;
            firstTotals = totals;
        } else if (!totals.equals(firstTotals)) {
            throw new IllegalStateException("The totals differ: " + firstTotals + " and " + totals);
        }
    }

    @Command(name = "floor-run", hidden = true)
    int floorRun(@Parameters Path input) throws IOException, InterruptedException {
        Meter meter = new Meter();
        Floor.Result result = new Floor(input, work.resolve("floor.log")).run();
        System.out.println(meter.stop("floor", result.messages()).toLine());
        for (int leaf = 0; leaf < Floor.LEAVES; leaf++) {
            String name = (leaf >= 6 ? "PV:" : "Delta:")
                    + (leaf % 6 >= 3 ? "FXSpot:" : "FXOptions:")
                    + List.of("AMER", "APAC", "EMEA").get(leaf % 3);
            System.out.println("total\t" + name + "\t" + result.sums()[leaf] + "\t" + result.counts()[leaf]);
        }
        return 0;
    }

    @Command(name = "engine-run", hidden = true)
    int engineRun(@Parameters Path input) throws IOException {
        System.out.println(EngineRun.fold(input, emptyDirectory()).toLine());
        return 0;
    }

    @Command(name = "floor-kafka", hidden = true)
    int floorKafka(
            @Parameters Path folder,
            @Option(names = "--servers") String servers,
            @Option(names = "--messages") long messages) {
        System.out.println(KafkaRun.floor(servers, messages).toLine());
        return 0;
    }

    @Command(name = "engine-kafka", hidden = true)
    int engineKafka(
            @Parameters Path folder,
            @Option(names = "--servers") String servers,
            @Option(names = "--messages") long messages)
            throws IOException {
        System.out.println(KafkaRun.fold(servers, messages, emptyDirectory()).toLine());
        return 0;
    }

    @Command(name = "floor-burst", hidden = true)
    int floorBurst(@Parameters Path input, @Option(names = "--size") int size)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createDirectories(empty(work.resolve("files")));
        Meter meter = new Meter();
        long messages = new BurstFloor(folder, size).run(input);
        System.out.println(meter.stop("floor", messages).toLine());
        BurstRun.print(folder);
        return 0;
    }

    @Command(name = "engine-burst", hidden = true)
    int engineBurst(
            @Parameters Path input,
            @Option(names = "--size") int size,
            @Option(names = "--end", defaultValue = ".gz") String end)
            throws IOException, InterruptedException {
        Path folder = Files.createDirectories(empty(work.resolve("files")));
        System.out.println(
                BurstRun.deliver(input, emptyDirectory(), folder, size, end).toLine());
        BurstRun.print(folder);
        return 0;
    }

    @Command(name = "process-run", hidden = true)
    int processRun(
            @Parameters Path input,
            @Option(names = "--order", defaultValue = "latest") String order,
            @Option(names = "--keep", defaultValue = "0") int keep,
            @Option(names = "--by-club") boolean withRollup)
            throws IOException {
        System.out.println(ProcessRun.fold(input, emptyDirectory(), order, keep, withRollup)
                .toLine());
        return 0;
    }

    @Command(name = "fold-and-tell", hidden = true)
    int foldAndTell(@Parameters Path input) {
        EngineRun.foldAndTell(input, work.resolve("data"));
        return 0;
    }

    @Command(name = "append-run", hidden = true)
    int appendRun(@Parameters Path input) throws IOException {
        System.out.println(EngineRun.append(input, emptyDirectory()).toLine());
        return 0;
    }

    @Command(name = "serve-run", hidden = true)
    int serveRun(@Parameters Path directory) throws IOException {
        Service.serve(directory);
        return 0;
    }

    @Command(name = "restart-run", hidden = true)
    int restartRun(@Parameters Path directory) {
        System.out.println(EngineRun.restart(directory).toLine());
        return 0;
    }

    private Path emptyDirectory() throws IOException {
        return empty(work.resolve("data"));
    }

    private static Path empty(Path data) throws IOException {
        if (Files.exists(data)) {
            try (var files = Files.walk(data)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        return data;
    }
}
