package dev.onefold.fakes.disk;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/// A program that does random things to the files of a directory and tells what it saw. It draws the same numbers
/// whatever it sees, as long as it sees the same.
final class FileScript implements AutoCloseable {
    private static final List<String> PLACES = List.of("a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/x");
    private static final int POSITION_MAX = 10_000;
    private static final int CHANNELS_MAX = 3;

    private final Path base;
    private final List<FileChannel> channels = new ArrayList<>();

    @FunctionalInterface
    private interface Action {
        Object perform() throws IOException;
    }

    FileScript(Path base) {
        this.base = base;
    }

    /// Does one thing; the result starts with its name.
    String step(RandomGenerator random) {
        Path path = place(random);
        return switch (random.nextInt(19)) {
            case 0, 1, 2 -> open(path, random);
            case 3, 4 -> onChannel("write", random, channel -> channel.write(bytes(random)));
            case 5 -> onChannel("writeAt", random, channel -> channel.write(bytes(random), position(random)));
            case 6 ->
                onChannel("gather", random, channel -> channel.write(new ByteBuffer[] {bytes(random), bytes(random)}));
            case 7 ->
                onChannel("read", random, channel -> {
                    ByteBuffer target = ByteBuffer.allocate(random.nextInt(5_000));
                    return channel.read(target) + " " + Arrays.hashCode(target.array());
                });
            case 8 ->
                onChannel("readAt", random, channel -> {
                    ByteBuffer target = ByteBuffer.allocate(random.nextInt(5_000));
                    return channel.read(target, position(random)) + " " + Arrays.hashCode(target.array());
                });
            case 9 ->
                onChannel("position", random, channel -> {
                    long before = channel.position();
                    return before + " " + channel.position(position(random)).position();
                });
            case 10 ->
                onChannel("truncate", random, channel -> {
                    channel.truncate(position(random));
                    return channel.size() + " " + channel.position();
                });
            case 11 ->
                onChannel("force", random, channel -> {
                    channel.force(random.nextBoolean());
                    return "";
                });
            case 12 -> result("mkdir", () -> relative(Files.createDirectory(path)));
            case 13 -> result("mkdirs", () -> relative(Files.createDirectories(path)));
            case 14 -> result("delete", () -> random.nextBoolean() ? Files.deleteIfExists(path) : delete(path));
            case 15, 16 -> move(path, place(random), random);
            case 17 -> whole(path, random);
            default -> look(path, random);
        };
    }

    /// Everything there is.
    List<String> tree() throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(base)) {
            for (Path path : walk.sorted().toList()) {
                all.add(relative(path) + " " + (Files.isDirectory(path) ? "/" : contentOf(path)));
            }
        }
        return all;
    }

    @Override
    public void close() throws IOException {
        for (FileChannel channel : channels) {
            channel.close();
        }
    }

    private String open(Path path, RandomGenerator random) {
        Set<OpenOption> options = new HashSet<>();
        for (StandardOpenOption option : List.of(
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.WRITE,
                StandardOpenOption.CREATE,
                StandardOpenOption.CREATE,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.APPEND,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            if (random.nextInt(3) == 0) {
                options.add(option);
            }
        }
        return result("open", () -> {
            FileChannel channel = FileChannel.open(path, options);
            channels.add(channel);
            if (channels.size() > CHANNELS_MAX) {
                channels.removeFirst().close();
            }
            return Files.isDirectory(path) ? "a directory" : channel.size();
        });
    }

    private String move(Path source, Path target, RandomGenerator random) {
        List<CopyOption> options = new ArrayList<>();
        if (random.nextBoolean()) {
            options.add(ATOMIC_MOVE);
        }
        if (random.nextBoolean()) {
            options.add(REPLACE_EXISTING);
        }
        return result(
                "move " + relative(source) + " " + relative(target) + options,
                () -> relative(Files.move(source, target, options.toArray(CopyOption[]::new))));
    }

    private String whole(Path path, RandomGenerator random) {
        return switch (random.nextInt(5)) {
            case 0 -> result("writeString", () -> relative(Files.writeString(path, "text" + random.nextInt(9))));
            case 1 ->
                result("append", () -> relative(Files.write(path, bytes(random).array(), StandardOpenOption.APPEND)));
            case 2 ->
                result(
                        "readString",
                        () -> Files.readString(path, StandardCharsets.ISO_8859_1)
                                .hashCode());
            case 3 -> result("copy", () -> relative(Files.copy(path, base.resolve("copy"), REPLACE_EXISTING)));
            default -> result("createFile", () -> relative(Files.createFile(path)));
        };
    }

    private String look(Path path, RandomGenerator random) {
        return switch (random.nextInt(3)) {
            case 0 ->
                result("list", () -> {
                    try (Stream<Path> entries = Files.list(path)) {
                        return entries.map(this::relative).sorted().toList();
                    }
                });
            case 1 -> result("size", () -> Files.isDirectory(path) ? "a directory" : Files.size(path));
            default ->
                "exists " + Files.exists(path) + Files.notExists(path) + Files.isRegularFile(path)
                        + Files.isDirectory(path);
        };
    }

    @FunctionalInterface
    private interface ChannelAction {
        Object perform(FileChannel channel) throws IOException;
    }

    private String onChannel(String name, RandomGenerator random, ChannelAction action) {
        if (channels.isEmpty()) {
            return "none";
        }
        FileChannel channel = channels.get(random.nextInt(channels.size()));
        return result(name, () -> action.perform(channel));
    }

    private static String result(String name, Action action) {
        try {
            return name + " " + action.perform();
        } catch (FileSystemException failure) {
            return name + " " + failure.getClass().getSimpleName() + " "
                    + (failure.getClass() == FileSystemException.class ? failure.getReason() : "");
        } catch (IOException failure) {
            return name + " " + failure.getClass().getSimpleName() + " " + failure.getMessage();
        } catch (RuntimeException failure) {
            return name + " " + failure.getClass().getSimpleName();
        }
    }

    private static Object delete(Path path) throws IOException {
        Files.delete(path);
        return "";
    }

    private static String contentOf(Path path) throws IOException {
        byte[] content = Files.readAllBytes(path);
        return content.length + " " + Arrays.hashCode(content);
    }

    private Path place(RandomGenerator random) {
        return base.resolve(PLACES.get(random.nextInt(PLACES.size())));
    }

    private String relative(Path path) {
        return base.relativize(path).toString();
    }

    private static long position(RandomGenerator random) {
        return random.nextInt(POSITION_MAX);
    }

    private static ByteBuffer bytes(RandomGenerator random) {
        byte[] bytes = new byte[random.nextInt(3) == 0 ? random.nextInt(20) : random.nextInt(5_000)];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }
}
