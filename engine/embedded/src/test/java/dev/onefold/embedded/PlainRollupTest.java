package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.EngineSocket;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.fold.TotalsFold;
import dev.onefold.embedded.rows.Rows;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.process.Step;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A plain roll-up is folded without functions, batches and seeds. The virtual machine says which classes it
/// initialises: a
/// class that it does not has no object, and none of its methods was entered.
class PlainRollupTest {
    private static final Pattern INITIALISED = Pattern.compile("Initializing '(dev/onefold/[^']*)'");
    private static final Pattern OF_OTHER_KINDS = Pattern.compile("dev/onefold/"
            + "((embedded/(batches|delivery)|core/(process|keyed|batch|seal|shape|codec|form)|process|batch)/.*"
            + "|api/BatchRoutes|core/event/(ChangeScanner\\$\\w+|Content\\w+)"
            + "|embedded/KeyReader.*"
            + "|embedded/fold/(Arrivals|Codes|FunctionVersions|Key(ed)?[A-Z]\\w*|MemberFold)(\\$.*)?"
            + "|embedded/guard/Backlog"
            + "|embedded/rows/(Claims|Forgotten|Key[A-Z]\\w*|Keys|ClaimSweeper)(\\$.*)?)");

    private static final String TOTALS_FILL = "dev/onefold/embedded/fold/TotalsFill";

    @TempDir
    Path folder;

    /// The life of a roll-up, in a virtual machine of its own.
    static final class Life {
        private static final FileSource FILE = file();

        private static @Nullable FileSource reopen(String name) {
            return name.equals(FILE.name()) ? FILE : null;
        }

        private Life() {}

        private static FileSource file() {
            byte[] lines = (row(4, 1, 7) + "\n" + row(5, 1, 8) + "\nno record\n").getBytes(StandardCharsets.UTF_8);
            return new FileSource("file", () -> new ByteArrayInputStream(lines), false);
        }

        public static void main(String[] arguments) {
            Path data = Path.of(arguments[0]);
            Settings settings = Settings.defaults().withKeepJournal(true).withThreads(2);
            try (EmbeddedEngine engine = EmbeddedEngine.open(data, pipeline("g"), settings.withShards(2))) {
                engine.append("lines", List.of(row(1, 1, 1), row(2, 1, 2), row(1, 2, 3), row(1, 1, 1), row(2, 1, 9)));
                engine.append("lines", List.of(row(3, 1, 4), "{\"k\":\"3\"}"));
                engine.fold(FILE, FoldListener.silent());
                for (DeadLetter letter : engine.deadLetters().list(0, 9)) {
                    engine.deadLetters().redrive(letter.id(), null, DeadLetters.Keys.SAME);
                }
                engine.deadLetters().purge(List.of(1L));
                engine.checkpointNow();
                ask(engine);
            }
            try (EmbeddedEngine engine = EmbeddedEngine.open(data, pipeline("g"), settings.withShards(3))) {
                ask(engine);
            }
            for (Pipeline next : List.of(pipeline("h"), shorter("h"))) {
                try (EmbeddedEngine engine = EmbeddedEngine.open(data, next, settings.withShards(3))) {
                    engine.fillView(Life::reopen, true);
                    ask(engine);
                }
            }
            try (EmbeddedEngine engine = EmbeddedEngine.read(data, settings)) {
                ask(engine);
            }
        }

        private static Pipeline pipeline(String group) {
            return PipelineBuilder.named("p")
                    .key("k")
                    .version("v")
                    .rollup(r ->
                            r.levels(group).count("rows").sum("sum", "n", 18, 0).max("most", "n", 18, 0))
                    .build();
        }

        /// A definition that is filled from the rows of [#pipeline].
        private static Pipeline shorter(String group) {
            return PipelineBuilder.named("p")
                    .key("k")
                    .version("v")
                    .rollup(r -> r.levels(group).count("rows"))
                    .build();
        }

        private static String row(int key, int version, int amount) {
            return "{\"k\":\"%d\",\"v\":%d,\"g\":\"%d\",\"h\":\"%d\",\"n\":%d}"
                    .formatted(key, version, key % 3, key % 2, amount);
        }

        private static void ask(EmbeddedEngine engine) {
            engine.query(Query.all("main"));
            engine.get(List.of("1"));
            engine.rangeSums();
            engine.status();
            require(engine.verify(new Truth.Rows(1)).isEqual());
            require(engine.verify(Life::reopen).isEqual());
        }

        private static void require(boolean isTrue) {
            if (!isTrue) {
                throw new IllegalStateException("The totals differ");
            }
        }
    }

    @Test
    void a_plain_roll_up_creates_no_object_of_functions_batches_or_seeds_and_enters_none_of_their_methods()
            throws IOException, InterruptedException {
        Path log = folder.resolve("classes");
        Process life = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-Xlog:class+init=info:file=" + log,
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classPath(Life.class, EmbeddedEngine.class, EngineSocket.class, Query.class, Step.class),
                        Life.class.getName(),
                        folder.resolve("data").toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(life.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(life.waitFor()).as(said).isZero();
        Set<String> classes;
        try (var lines = Files.lines(log)) {
            classes = lines.flatMap(line -> INITIALISED.matcher(line).results())
                    .map((MatchResult found) -> found.group(1))
                    .collect(Collectors.toSet());
        }
        assertThat(classes).contains(named(TotalsFold.class), named(Rows.class), TOTALS_FILL);
        assertThat(classes).filteredOn(OF_OTHER_KINDS.asMatchPredicate()).isEmpty();
    }

    private static String classPath(Class<?>... ofEachModule) {
        return Stream.of(ofEachModule)
                .map(type ->
                        type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String named(Class<?> type) {
        return type.getName().replace('.', '/');
    }
}
