package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Commands of `onefold aws`, each in a process of its own, on an account of this machine. One at a time.
///
/// @param folder where they run
record Commands(LocalAccount account, Path folder) {
    private static final int MINUTES_MAX = 10;

    record Ended(int exitCode, String out) {}

    /// One that asks nothing.
    Process start(String... words) throws IOException {
        List<String> sure = new ArrayList<>(List.of(words));
        sure.add("--yes");
        return begin(sure);
    }

    Process begin(List<String> words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "--default-signal=INT", // A script that runs the build in its background ignores it, and so would a
                // child.
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Daws.cborEnabled=false",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.onefold.cli.Main",
                "aws"));
        command.addAll(words);
        command.addAll(List.of(
                "--region",
                "eu-central-1",
                "--endpoint",
                account.cloud.endpoint().toString()));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile());
        builder.environment()
                .putAll(Map.of(
                        "AWS_ACCESS_KEY_ID",
                        "OPERATOR",
                        "AWS_SECRET_ACCESS_KEY",
                        "secret",
                        "AWS_ENDPOINT_URL_S3",
                        account.cloud.endpoint().toString()));
        return builder.start();
    }

    /// How it ended, and what it said.
    Ended ended(Process process) throws IOException, InterruptedException {
        assertThat(process.waitFor(MINUTES_MAX, TimeUnit.MINUTES)).isTrue();
        return new Ended(process.exitValue(), Files.readString(folder.resolve("out"), StandardCharsets.UTF_8));
    }
}
