package dev.onefold.cli.aws;

import dev.onefold.aws.function.StateFunction;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import java.io.File;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// The jars that the functions run on: those of this program, but for what only a command line needs. Where the
/// process has more jars than the program, `onefold.program` is the class path of the program.
public final class FunctionJars {
    /// The name prefixes of jars that the functions do not need. Every other jar is included: an unneeded jar
    /// costs some milliseconds, a missing jar an outage.
    private static final List<String> LEFT_OUT = List.of(
            "onefold-cli-",
            "onefold-embedded-",
            "onefold-server-",
            "onefold-sftp-",
            "onefold-sqs-",
            "onefold-yaml-",
            "bcpkix-",
            "bcprov-",
            "bcutil-",
            "jetty-",
            "jline-",
            "picocli-",
            "progressbar-",
            "prometheus-metrics-",
            "snakeyaml-",
            "sshd-",
            "zstd-jni-",
            "cloudformation-",
            "cloudwatch-",
            "smithy-rpcv2-protocol-");

    private FunctionJars() {}

    /// In the order of their names.
    ///
    /// @throws CommandFailure if this program does not run from jars
    public static List<Path> find() {
        List<Path> jars = Stream.of(System.getProperty("onefold.program", System.getProperty("java.class.path"))
                        .split(File.pathSeparator, -1))
                .map(Path::of)
                .filter(path -> path.toString().endsWith(".jar"))
                .filter(path -> LEFT_OUT.stream().noneMatch(String.valueOf(path.getFileName())::startsWith))
                .sorted(Comparator.comparing(path -> String.valueOf(path.getFileName())))
                .toList();
        if (jars.stream().noneMatch(path -> String.valueOf(path.getFileName()).startsWith("onefold-aws-"))) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    "The functions (" + StateFunction.class.getName()
                            + ") are not in a jar here. Run this command as ./onefold, which builds them.");
        }
        return jars;
    }
}
