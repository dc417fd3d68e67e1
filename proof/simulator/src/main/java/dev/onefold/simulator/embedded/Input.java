package dev.onefold.simulator.embedded;

import dev.onefold.embedded.source.FileSource;
import dev.onefold.oracle.generate.RandomCase;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/// One source of a simulated run: a file, or lines that are sent.
///
/// @param lines records without line ends; the first may be a header
/// @param ended whether the last line has its end
public record Input(String name, boolean isFile, List<byte[]> lines, boolean ended) {
    private static final int SOURCES_MAX = 4;

    public Input {
        lines = List.copyOf(lines);
    }

    /// Lines `[from, to)`, counted from 0, each with its end, but for a last one that has none.
    public byte[] bytes(int from, int to) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int line = from; line < to; line++) {
            bytes.writeBytes(lines.get(line));
            if (ended || !isFile || line < lines.size() - 1) {
                bytes.write('\n');
            }
        }
        return bytes.toByteArray();
    }

    /// The file as it is when it has so many lines.
    public FileSource file(int count, boolean growing) {
        return file(name, count, growing);
    }

    /// The same under another name.
    public FileSource file(String otherName, int count, boolean growing) {
        byte[] content = bytes(0, count);
        return new FileSource(otherName, () -> new ByteArrayInputStream(content), growing);
    }

    /// Deals the lines of a case to some sources, each in order.
    static List<Input> deal(RandomCase dealt, RandomGenerator random) {
        int count = random.nextInt(1, SOURCES_MAX + 1);
        List<List<byte[]>> hands = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            hands.add(new ArrayList<>());
        }
        int first = dealt.hasHeader() ? 1 : 0;
        for (byte[] line : dealt.lines().subList(first, dealt.lines().size())) {
            hands.get(random.nextInt(count)).add(line);
        }
        List<Input> inputs = new ArrayList<>();
        for (List<byte[]> hand : hands) {
            if (!hand.isEmpty()) {
                if (first == 1) {
                    hand.addFirst(dealt.lines().getFirst());
                }
                boolean isFile = random.nextBoolean() && !dealt.hasHorizon() && isTellable(hand, inputs); // No arrival.
                boolean ended = random.nextInt(3) > 0 || hand.getLast().length == 0;
                inputs.add(new Input((isFile ? "file-" : "stream-") + inputs.size(), isFile, hand, ended));
            }
        }
        return inputs;
    }

    /// A file is known by how it begins, so of two that begin alike one may be taken for the other, grown and renamed.
    private static boolean isTellable(List<byte[]> lines, List<Input> others) {
        return others.stream()
                .filter(Input::isFile)
                .map(other -> other.lines.getFirst())
                .noneMatch(other -> beginsWith(other, lines.getFirst()) || beginsWith(lines.getFirst(), other));
    }

    private static boolean beginsWith(byte[] line, byte[] beginning) {
        return line.length >= beginning.length
                && Arrays.equals(line, 0, beginning.length, beginning, 0, beginning.length);
    }
}
