package dev.onefold.local.function;

import com.amazonaws.services.lambda.crac.Core;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.amazonaws.services.lambda.runtime.api.client.AWSLambda;
import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import dev.onefold.local.server.Child;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import software.amazon.awssdk.utilslite.SdkInternalThreadLocal;

/// One process that runs a function, one invocation at a time, until it is killed. A process that was killed
/// answers nothing, and what it had asked the service for may still be done.
public final class Sandbox implements AutoCloseable {
    /// Of a function's memory, in hundredths.
    private static final int HEAP_PERCENT = 80;

    /// How long its start may take, which is no part of an invocation's time.
    private static final int START_SECONDS_MAX = 120;

    private final RuntimeApi api;
    private final Child child;
    private final FunctionSettings settings;
    private final CompletableFuture<Void> dead = new CompletableFuture<>();
    private final Optional<ClassCache> learning;

    private Sandbox(RuntimeApi api, Child child, FunctionSettings settings, Optional<ClassCache> learning) {
        this.api = api;
        this.child = child;
        this.settings = settings;
        this.learning = learning;
        var _ = child.process().onExit().thenAccept(this::ended);
    }

    /// Starts the process.
    ///
    /// @param classPath the function's own, as its archive has it
    public static Sandbox start(FunctionSettings settings, List<Path> classPath) throws IOException {
        return start(settings, classPath, _ -> {});
    }

    /// The same.
    ///
    /// @param log gets each line that the function logs, from one thread
    static Sandbox start(FunctionSettings settings, List<Path> classPath, Consumer<String> log) throws IOException {
        RuntimeApi api = RuntimeApi.open(settings.name());
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // As in Lambda, where it starts fast rather than running fast.
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        command.add("-Xmx" + settings.memoryMb() * HEAP_PERCENT / 100 + "m");
        command.addAll(NativeLibrary.OPTIONS);
        command.addAll(settings.jvmOptions());
        String path = path(classPath);
        ClassCache cache = ClassCache.of(path);
        boolean hasOwn = settings.jvmOptions().stream().anyMatch(option -> option.startsWith("-XX:AOT"));
        List<String> learning = hasOwn ? List.of() : cache.toLearn();
        command.addAll(hasOwn || !learning.isEmpty() ? learning : cache.toUse());
        command.addAll(List.of("-cp", path, AWSLambda.class.getName(), settings.handler()));
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(settings.environment());
        environment.put("AWS_LAMBDA_RUNTIME_API", api.address());
        environment.put("AWS_LAMBDA_FUNCTION_NAME", settings.name());
        environment.put("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", String.valueOf(settings.memoryMb()));
        environment.putIfAbsent("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand");
        environment.put("_HANDLER", settings.handler());
        environment.put("LC_ALL", "C.UTF-8");
        try {
            return new Sandbox(
                    api,
                    Child.start(builder, log),
                    settings,
                    learning.isEmpty() ? Optional.empty() : Optional.of(cache));
        } catch (IOException e) {
            api.close();
            throw e;
        }
    }

    /// The runtime client comes first, as in Lambda.
    private static String path(List<Path> classPath) {
        Set<String> all = new LinkedHashSet<>();
        for (Class<?> type : List.of(
                AWSLambda.class,
                PojoSerializer.class,
                Core.class,
                RequestStreamHandler.class,
                SdkInternalThreadLocal.class)) {
            try {
                all.add(Path.of(type.getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI())
                        .toString());
            } catch (URISyntaxException e) {
                throw new IllegalStateException("The place of " + type + " is no path", e);
            }
        }
        classPath.forEach(path -> all.add(path.toString()));
        return String.join(File.pathSeparator, all);
    }

    private void ended(Process process) {
        learning.ifPresent(ClassCache::ended);
        dead.completeExceptionally(new FunctionFailure("The process of " + settings.name() + " ended with exit code "
                + process.exitValue() + (process.exitValue() == 137 ? "" : ":\n" + child.said())));
        api.close();
    }

    /// Completes when the process has made its handler; fails if it ends before.
    public CompletableFuture<Void> ready() {
        return orDead(api.ready());
    }

    /// The answer; fails if the handler did, if the time is up, or if the process ends. The process is dead
    /// then, unless it was the handler.
    public CompletableFuture<byte[]> invoke(byte[] event) {
        long timeoutMs = settings.timeout().toMillis();
        CompletableFuture<byte[]> answer = orDead(api.invoke(event, timeoutMs));
        return ready().orTimeout(START_SECONDS_MAX, TimeUnit.SECONDS)
                .thenCompose(_ -> answer.copy().orTimeout(timeoutMs, TimeUnit.MILLISECONDS))
                .whenComplete((_, _) -> {
                    if (!answer.isDone()) {
                        kill(); // The time is up.
                    }
                });
    }

    private <T> CompletableFuture<T> orDead(CompletableFuture<T> future) {
        CompletableFuture<T> either = new CompletableFuture<>();
        var _ = future.whenComplete((value, failure) -> complete(either, value, failure));
        var _ = dead.whenComplete((_, failure) -> either.completeExceptionally(failure));
        return either;
    }

    private static <T> void complete(CompletableFuture<T> future, T value, Throwable failure) {
        if (failure == null) {
            future.complete(value);
        } else {
            future.completeExceptionally(failure);
        }
    }

    /// Whether it can be invoked.
    public boolean isAlive() {
        return child.process().isAlive();
    }

    /// The last lines that it logged.
    public String said() {
        return child.said();
    }

    /// Whether this process writes what others start faster with, if it ends by itself.
    boolean isLearning() {
        return learning.isPresent() && isAlive();
    }

    /// Ends it at once (`kill -9`), whatever it is doing.
    public void kill() {
        child.kill();
    }

    /// Asks the process to end, and waits until it has: one that learns which classes it uses writes that down
    /// then.
    public void end() throws InterruptedException {
        child.end();
    }

    @Override
    public void close() {
        child.close();
        api.close();
    }
}
