package dev.onefold.local.function;

import com.amazonaws.services.lambda.runtime.api.client.AWSLambda;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/// The native part of Lambda's runtime client. By itself each process unpacks it to one and the same path, over what
/// another one has loaded from there, which then crashes; in Lambda each process has a file system of its own. Here it
/// is unpacked once, for all.
final class NativeLibrary {
    private static final String PROPERTY =
            "com.amazonaws.services.lambda.runtime.api.client.runtimeapi.NativeClient.JNI";

    /// Options of a process that is to use it; none where there is none for this machine.
    static final List<String> OPTIONS = options();

    private NativeLibrary() {}

    private static List<String> options() {
        String machine = switch (System.getProperty("os.arch")) {
            case "amd64" -> "x86_64";
            case "aarch64" -> "aarch_64";
            default -> "none";
        };
        String libc = Files.exists(Path.of("/etc/alpine-release")) ? "linux_musl-" : "linux-";
        try (InputStream in = AWSLambda.class.getResourceAsStream("/jni/libaws-lambda-jni." + libc + machine + ".so")) {
            if (in == null) {
                return List.of();
            }
            Path file = Files.createTempFile("onefold-lambda-", ".so");
            file.toFile().deleteOnExit();
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
            return List.of("-D" + PROPERTY + "=" + file);
        } catch (IOException e) {
            throw new UncheckedIOException("The native part of Lambda's runtime client cannot be unpacked", e);
        }
    }
}
