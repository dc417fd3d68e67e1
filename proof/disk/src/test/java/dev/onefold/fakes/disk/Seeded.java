package dev.onefold.fakes.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/// What the tests of the disk share: outcomes over many seeds, and files made of letters.
final class Seeded {
    static final int SECTOR = 512;

    @FunctionalInterface
    interface Trial {
        /// What came out, as a word.
        String outcome(RandomGenerator random) throws Exception;
    }

    private Seeded() {}

    /// All outcomes of so many trials, each with the seed of its number.
    static Set<String> outcomes(int trials, Trial trial) throws Exception {
        Set<String> outcomes = new TreeSet<>();
        for (int seed = 0; seed < trials; seed++) {
            try {
                outcomes.add(trial.outcome(new Random(seed)));
            } catch (Exception | AssertionError failure) {
                throw new AssertionError("failed with seed " + seed, failure);
            }
        }
        return outcomes;
    }

    static byte[] sectors(String letters) {
        byte[] bytes = new byte[letters.length() * SECTOR];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) letters.charAt(i / SECTOR);
        }
        return bytes;
    }

    /// One letter per sector: the one that fills it, `0` for zeros, `?` for anything else; a part of a sector counts.
    static String letters(byte[] bytes) {
        StringBuilder letters = new StringBuilder();
        for (int at = 0; at < bytes.length; at += SECTOR) {
            boolean same = true;
            for (int i = at; i < Math.min(bytes.length, at + SECTOR); i++) {
                same &= bytes[i] == bytes[at];
            }
            letters.append(!same ? '?' : bytes[at] == 0 ? '0' : (char) bytes[at]);
        }
        return letters.toString();
    }

    static String letters(Path path) throws IOException {
        return Files.exists(path) ? letters(Files.readAllBytes(path)) : "absent";
    }

    static void write(FileChannel channel, byte[] bytes, long position) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer, position + buffer.position());
        }
    }
}
