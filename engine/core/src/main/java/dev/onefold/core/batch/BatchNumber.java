package dev.onefold.core.batch;

import dev.onefold.core.json.JsonValue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The number of a batch, and of a part of it: `000042`, `000042.1`, `000042.1.2`. Numbers are dense, from 1
/// on, but for [#ofId].
///
/// @param parts number of the part of a divided batch, from 1; then the number of the part of that part, and
///     so on
public record BatchNumber(long number, List<Integer> parts) implements Comparable<BatchNumber> {
    /// How often a batch can be divided: more than enough to halve a million records down to one.
    public static final int DEPTH_MAX = 32;

    /// As it is written in JSON.
    public static final JsonValue<BatchNumber> JSON = JsonValue.text(
            BatchNumber.class,
            text -> read(text)
                    .orElseThrow(() -> new IllegalArgumentException("'" + text + "' is not the number of a batch")));

    /// So many bits are left out that the rest has at most 18 digits, and 9 of a part.
    private static final int NUMBER_SHIFT = 5;
    private static final int PART_SHIFT = 3;
    private static final int ID_PARTS = 3;

    private static final Pattern TEXT = Pattern.compile("[0-9]{1,18}(\\.[0-9]{1,9}){0," + DEPTH_MAX + "}");
    private static final Comparator<BatchNumber> ORDER = Comparator.comparingLong(BatchNumber::number)
            .thenComparing(
                    BatchNumber::parts,
                    (one, other) -> Arrays.compare(one.toArray(Integer[]::new), other.toArray(Integer[]::new)));

    public BatchNumber {
        parts = List.copyOf(parts);
        if (number < 1 || parts.stream().anyMatch(part -> part < 1)) {
            throw new IllegalArgumentException("A batch has no number " + number + parts);
        }
    }

    /// A whole batch.
    public static BatchNumber of(long number) {
        return new BatchNumber(number, List.of());
    }

    /// The number that is written so; empty if none is.
    public static Optional<BatchNumber> read(String text) {
        if (!TEXT.matcher(text).matches()) {
            return Optional.empty();
        }
        String[] numbers = text.split("\\.");
        List<Integer> parts =
                Arrays.stream(numbers).skip(1).map(Integer::valueOf).toList();
        long number = Long.parseLong(numbers[0]);
        return number < 1 || parts.contains(0) ? Optional.empty() : Optional.of(new BatchNumber(number, parts));
    }

    /// The number of a record that is handed over before it is in a batch: 146 bits of the SHA-256 of its id,
    /// written with points as a part's number is. So two ids have two numbers, and every attempt has the same.
    public static BatchNumber ofId(byte[] sha256) {
        ByteBuffer hash = ByteBuffer.wrap(sha256);
        long number = (hash.getLong() >>> NUMBER_SHIFT) + 1;
        List<Integer> parts = new ArrayList<>();
        for (int part = 0; part < ID_PARTS; part++) {
            parts.add((hash.getInt() >>> PART_SHIFT) + 1);
        }
        return new BatchNumber(number, parts);
    }

    /// Whether it is of a whole batch.
    public boolean isWhole() {
        return parts.isEmpty();
    }

    /// The number of a part of this one, from 1.
    public BatchNumber part(int part) {
        List<Integer> more = new ArrayList<>(parts);
        more.add(part);
        return new BatchNumber(number, more);
    }

    @Override
    public int compareTo(BatchNumber other) {
        return ORDER.compare(this, other);
    }

    /// At least six digits, so that names sort by number up to a million batches.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(Long.toString(number));
        while (text.length() < 6) {
            text.insert(0, '0');
        }
        parts.forEach(part -> text.append('.').append(part));
        return text.toString();
    }
}
