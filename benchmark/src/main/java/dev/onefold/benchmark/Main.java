package dev.onefold.benchmark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `java -cp 'benchmark/target/*:benchmark/target/lib/*' dev.onefold.benchmark.Main`: whole runs, each in a virtual
/// machine of its own, so that none profits from another's warm-up.
@Command(
        name = "benchmark",
        mixinStandardHelpOptions = true,
        description = {
            "Runs the engine beside the floor, and says what it costs.",
            "Make the input first: ./onefold generate trade-risk --workload benchmark --events 10000000 --output 10m.ndjson"
        })
public final class Main {
    @Option(names = "--work", description = "Folder for data directories and logs. Default: ${DEFAULT-VALUE}")
    private Path work = Path.of("target", "benchmark");

    @Option(names = "--heap", description = "Java heap of each run. Default: ${DEFAULT-VALUE}")
    private String heap = "1g";

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Command(description = "Floor and engine by turns; the ratio of each pair, and the medians.")
    int ratio(@Parameters(paramLabel = "INPUT") Path input, @Option(names = "--rounds", defaultValue = "3") int rounds)
            throws IOException, InterruptedException {
        List<Double> ratios = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Meter.Run floor = child("floor-run", input);
            Meter.Run engine = child("engine-run", input);
            ratios.add(engine.perSecond() / floor.perSecond());
            cpu.add(engine.cpuSecondsPerMillion());
            System.out.printf(Locale.ROOT, "%48s engine/floor %.2f%n", "", ratios.getLast());
        }
        System.out.printf(
                Locale.ROOT,
                "median engine/floor %.2f, engine %.2f CPU-seconds per million%n",
                median(ratios),
                median(cpu));
        return 0;
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted(Comparator.naturalOrder()).toList();
        return sorted.get(sorted.size() / 2);
    }

    @Command(
            description =
                    "The engine once on each input: does the cost per message stay the same, and what does a key take?")
    int linear(@Parameters(paramLabel = "INPUT", arity = "1..*") List<Path> inputs)
            throws IOException, InterruptedException {
        for (Path input : inputs) {
            child("engine-run", input);
        }
        return 0;
    }

    @Command(description = "The input through the journal, forced before it is acknowledged.")
    int append(@Parameters(paramLabel = "INPUT") Path input) throws IOException, InterruptedException {
        child("append-run", input);
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

    private Meter.Run child(String command, Path argument) throws IOException, InterruptedException {
        Files.createDirectories(work);
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + (command.startsWith("floor") ? "4g" : heap),
                "-XX:+UseParallelGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        line.addAll(List.of("--work", work.toString(), command, argument.toString()));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        Meter.Run run = null;
        Set<String> totals = new TreeSet<>();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String text = out.readLine(); text != null; text = out.readLine()) {
                if (Meter.Run.isLine(text)) {
                    run = Meter.Run.ofLine(text);
                } else if (text.startsWith("total\t")) {
                    totals.add(text);
                } else if (!text.startsWith("rows\t")) {
                    System.err.println(text);
                }
            }
        }
        if (process.waitFor() != 0 || run == null) {
            throw new IllegalStateException("The run '" + command + "' failed");
        }
        System.out.println(run);
        requireSameTotals(argument, totals);
        return run;
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

    @Command(name = "append-run", hidden = true)
    int appendRun(@Parameters Path input) throws IOException {
        System.out.println(EngineRun.append(input, emptyDirectory()).toLine());
        return 0;
    }

    @Command(name = "restart-run", hidden = true)
    int restartRun(@Parameters Path directory) {
        System.out.println(EngineRun.restart(directory).toLine());
        return 0;
    }

    private Path emptyDirectory() throws IOException {
        Path data = work.resolve("data");
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
