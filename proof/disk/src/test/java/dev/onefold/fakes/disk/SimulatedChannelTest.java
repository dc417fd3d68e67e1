package dev.onefold.fakes.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SimulatedChannelTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();
    private final Path file = disk.getPath("/file");

    @Test
    void buffers_may_be_direct_or_views_of_segments() throws Exception {
        byte[] bytes = "some bytes".getBytes(UTF_8);
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, READ, WRITE, CREATE)) {
            MemorySegment segment = arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            assertThat(channel.write(segment.asByteBuffer().asReadOnlyBuffer())).isEqualTo(bytes.length);
            ByteBuffer direct = ByteBuffer.allocateDirect(100);
            assertThat(channel.read(direct, 0)).isEqualTo(bytes.length);
            MemorySegment found = arena.allocate(4);
            assertThat(channel.read(found.asByteBuffer(), 5)).isEqualTo(4);
            assertThat(found.toArray(ValueLayout.JAVA_BYTE)).asString().isEqualTo("byte");
            assertThat(direct.flip()).isEqualTo(ByteBuffer.wrap(bytes));
        }
    }

    @Test
    void a_file_is_locked_once() throws Exception {
        try (FileChannel one = FileChannel.open(file, WRITE, CREATE);
                FileChannel other = FileChannel.open(file, WRITE)) {
            FileLock lock = one.tryLock();
            assertThat(lock.isValid()).isTrue();
            assertThatThrownBy(other::tryLock).isInstanceOf(OverlappingFileLockException.class);
            assertThat(disk.lockElsewhere(file)).isFalse();
            lock.release();
            assertThat(lock.isValid()).isFalse();
            assertThat(other.tryLock().isValid()).isTrue();
        }
    }

    @Test
    void a_lock_ends_with_its_channel() throws Exception {
        FileLock lock;
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            lock = channel.lock();
        }
        assertThat(lock.isValid()).isFalse();
        try (FileChannel channel = FileChannel.open(file, WRITE)) {
            assertThat(channel.tryLock()).isNotNull();
        }
    }

    @Test
    void a_lock_of_another_process_is_met_as_null() throws Exception {
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            assertThat(disk.lockElsewhere(file)).isTrue();
            assertThat(channel.tryLock()).isNull();
            disk.unlockElsewhere(file);
            assertThat(channel.tryLock()).isNotNull();
        }
    }

    @Test
    void as_on_linux_closing_any_channel_of_a_file_lets_another_process_lock_it() throws Exception {
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            assertThat(channel.tryLock()).isNotNull();
            assertThat(Files.readString(file)).isEmpty();
            assertThat(disk.lockElsewhere(file)).isTrue();
        }
    }

    @Test
    void a_killed_process_holds_no_lock() throws Exception {
        FileChannel channel = FileChannel.open(file, WRITE, CREATE);
        FileLock lock = channel.lock();
        SimulatedDisk next = disk.kill();
        assertThat(lock.acquiredBy()).isSameAs(channel);
        try (FileChannel other = FileChannel.open(next.getPath("/file"), WRITE)) {
            assertThat(other.tryLock()).isNotNull();
        }
    }

    @Test
    void an_interrupted_thread_loses_its_channel() throws Exception {
        try (FileChannel channel = FileChannel.open(file, WRITE, CREATE)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void threads_that_append_to_one_file_lose_nothing() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(4);
                FileChannel channel = FileChannel.open(file, APPEND, CREATE)) {
            List<Future<?>> futures = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                futures.add(threads.submit(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        channel.write(ByteBuffer.allocate(7));
                    }
                    return null;
                }));
            }
            for (Future<?> future : futures) {
                future.get();
            }
            assertThat(channel.size()).isEqualTo(4 * 1_000 * 7);
        }
    }

    @Test
    void what_is_not_simulated_is_refused() throws Exception {
        assertThatThrownBy(() -> FileChannel.open(file, WRITE, CREATE, DSYNC))
                .isInstanceOf(UnsupportedOperationException.class);
        try (FileChannel channel = FileChannel.open(file, READ, WRITE, CREATE)) {
            assertThatThrownBy(() -> channel.map(FileChannel.MapMode.READ_ONLY, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void bytes_are_transferred_between_channels() throws Exception {
        Files.write(file, new byte[100_000]);
        disk.inject(Faults.none().withShortWriteEvery(2));
        try (FileChannel source = FileChannel.open(file);
                FileChannel target = FileChannel.open(disk.getPath("/copy"), READ, WRITE, CREATE)) {
            assertThat(target.transferFrom(source, 0, 200_000)).isEqualTo(100_000);
            assertThat(source.position()).isEqualTo(100_000);
            assertThat(target.size()).isEqualTo(100_000);
            long done = 0;
            while (done < 100_000) {
                done += source.transferTo(done, 100_000 - done, target.position(done));
            }
        }
        assertThat(Files.readAllBytes(disk.getPath("/copy"))).isEqualTo(new byte[100_000]);
    }

    @Test
    void a_listing_takes_a_pattern_and_comes_in_no_useful_order() throws Exception {
        List<Path> files = IntStream.range(0, 20)
                .mapToObj(i -> disk.getPath("/%04d.log".formatted(i)))
                .toList();
        for (Path path : files) {
            Files.createFile(path);
        }
        Files.createFile(file);
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(disk.getPath("/"), "*.log")) {
            entries.forEach(found::add);
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(files).isNotEqualTo(files);
        try (Stream<Path> walk = Files.walk(disk.getPath("/"))) {
            assertThat(walk).hasSize(22);
        }
    }

    @Test
    void a_modification_is_later_than_the_one_before() throws Exception {
        Files.writeString(file, "a");
        FileTime first = Files.getLastModifiedTime(file);
        BasicFileAttributes before = Files.readAttributes(file, BasicFileAttributes.class);
        Files.writeString(file, "b");
        assertThat(Files.getLastModifiedTime(file)).isGreaterThan(first);
        assertThat(Files.readAttributes(file, BasicFileAttributes.class).fileKey())
                .isEqualTo(before.fileKey());
        assertThat(before.creationTime()).isLessThan(first);
        Files.setLastModifiedTime(file, FileTime.fromMillis(5));
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(FileTime.fromMillis(5));
        assertThat(Files.isSameFile(file, disk.getPath("/x/../file"))).isTrue();
    }
}
