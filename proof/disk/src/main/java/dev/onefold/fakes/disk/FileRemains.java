package dev.onefold.fakes.disk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/// What a power cut leaves of a file. Forced bytes stay. Of the rest any sectors of any changes survive, in any order;
/// the size is one that the file had since, or lies between two of them; and where it covers sectors that did not
/// survive, these hold zeros or garbage: noise, or what a removed file once had there.
final class FileRemains {
    /// More than so many sectors of garbage in a row find no fault that fewer do not.
    private static final int GARBAGE_SECTORS_MAX = 128;

    private final List<Content> freed;
    private final RandomGenerator random;

    FileRemains(List<Content> freed, RandomGenerator random) {
        this.freed = freed;
        this.random = random;
    }

    Content of(StoredFile file) {
        Content content = file.durable().copy();
        List<Change> lost = new ArrayList<>();
        for (StoredFile.Doubtful doubtful : file.doubtful()) {
            if (doubtful.forced()) {
                keepSome(lost, content);
                lost.clear();
                grow(content, doubtful.change().sizeBeforeMin());
                doubtful.change().applyTo(content);
            } else {
                lost.add(doubtful.change());
            }
        }
        keepSome(lost, content);
        keepSome(file.pending(), content);
        return content;
    }

    private void keepSome(List<Change> changes, Content content) {
        if (changes.isEmpty()) {
            return;
        }
        switch (random.nextInt(5)) {
            case 0 -> {} // Nothing reached the disk.
            case 1 -> changes.forEach(change -> change.applyTo(content));
            case 2 -> keepPrefix(changes, content);
            default -> keepAnything(changes, content);
        }
    }

    /// As if written in order, and cut off in the middle of one.
    private void keepPrefix(List<Change> changes, Content content) {
        int whole = random.nextInt(changes.size());
        changes.subList(0, whole).forEach(change -> change.applyTo(content));
        long[] sizes = sizes(List.of(changes.get(whole)), content.size());
        tear(List.of(changes.get(whole)), sizes, content);
    }

    private void keepAnything(List<Change> changes, Content content) {
        long[] sizes = sizes(changes, content.size());
        List<Change> order = new ArrayList<>(changes);
        if (random.nextBoolean()) {
            Collections.shuffle(order, Random.from(random));
        }
        tear(order, sizes, content);
    }

    private void tear(List<Change> changes, long[] sizes, Content content) {
        grow(content, Arrays.stream(sizes).max().orElseThrow());
        double odds = new double[] {0.1, 0.5, 0.9, 1}[random.nextInt(4)];
        changes.forEach(change -> change.tearInto(content, () -> random.nextDouble() < odds));
        content.truncate(anyOf(sizes));
    }

    /// The sizes that the file has had, the first being the one before all changes.
    private static long[] sizes(List<Change> changes, long before) {
        long[] sizes = new long[changes.size() + 1];
        sizes[0] = before;
        for (int i = 0; i < changes.size(); i++) {
            sizes[i + 1] = changes.get(i).sizeAfter(sizes[i]);
        }
        return sizes;
    }

    private long anyOf(long[] sizes) {
        long last = sizes[sizes.length - 1];
        return switch (random.nextInt(4)) {
            case 0 -> sizes[0];
            case 1 -> last;
            case 2 -> sizes[random.nextInt(sizes.length)];
            default -> {
                int step = random.nextInt(sizes.length - 1);
                long low = sizes[step];
                long high = sizes[step + 1];
                // A cut is one operation and cannot stop half-way; a file that grows may stop at any sector.
                yield high <= low ? high : Math.min(high, Change.sectorEnd(random.nextLong(low, high)));
            }
        };
    }

    /// Covers what lies between the size and another one with zeros, with noise, with a run of what a removed file
    /// held, or with each of these here and there.
    private void grow(Content content, long size) {
        Stale stale = freed.isEmpty() ? new Stale(new Content(), 0) : Stale.anyOf(freed, random);
        byte[] sector = new byte[Change.SECTOR_BYTES];
        int filler = random.nextInt(4);
        for (int count = 0; count < GARBAGE_SECTORS_MAX && content.size() < size; count++) {
            switch (filler == 3 ? random.nextInt(3) : filler) {
                case 0 -> Arrays.fill(sector, (byte) 0);
                case 1 -> random.nextBytes(sector);
                default -> stale.read(count, sector);
            }
            long from = content.size();
            content.write(from, sector, 0, (int) (Math.min(size, Change.sectorEnd(from)) - from));
        }
        content.zero(Math.min(content.size(), size), size);
    }

    /// A run of sectors of a removed file.
    private record Stale(Content content, long firstSector) {
        static Stale anyOf(List<Content> freed, RandomGenerator random) {
            Content content = freed.get(random.nextInt(freed.size()));
            return new Stale(content, random.nextLong(content.size() / Change.SECTOR_BYTES + 1));
        }

        void read(int index, byte[] sector) {
            Arrays.fill(sector, (byte) 0);
            content.read((firstSector + index) * Change.SECTOR_BYTES, sector, sector.length);
        }
    }
}
