package dev.onefold.simulator.seeding;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One seeding of a table: reads its rows in the order of their keys, each as it is then, and brings them to an engine
/// at some later time. Not thread-safe.
final class Seeder {
    private static final String END = "\uffff";

    private final UserTable table;
    private final long number;
    private final String identity;
    private final long generation;
    private final List<UserTable.Row> read = new ArrayList<>();
    private String position;
    private String mark;
    private String saved;

    /// What goes to the engine.
    ///
    /// @param mark where the seeding goes on when it is in
    record Lines(byte[] bytes, int count, String mark) {}

    /// @param mark behind which it begins
    private Seeder(UserTable table, long number, String mark) {
        this.table = table;
        this.number = number;
        this.mark = mark;
        saved = mark;
        position = mark;
        identity = table.identity();
        generation = table.generation();
    }

    /// A seeding from the beginning.
    static Seeder begin(UserTable table, long number) {
        return new Seeder(table, number, "");
    }

    /// A seeding that goes on where this one was interrupted, if the table's log is the same.
    Seeder resume(long newNumber) {
        return new Seeder(table, newNumber, table.identity().equals(identity) ? saved : "");
    }

    long number() {
        return number;
    }

    /// Reads some rows.
    void read(int max) {
        for (int i = 0; i < max && !position.equals(END); i++) {
            UserTable.Row next = table.next(position);
            position = next == null ? END : next.id();
            if (next != null) {
                read.add(next);
            }
        }
    }

    /// What was read and is not written; `null` if there is nothing.
    @Nullable
    Lines lines() {
        if (read.isEmpty()) {
            return null;
        }
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        for (UserTable.Row row : read) {
            lines.writeBytes(table.seed(row, generation, number));
            lines.write('\n');
        }
        return new Lines(lines.toByteArray(), read.size(), read.getLast().id());
    }

    /// These are in.
    ///
    /// @param saves whether the mark is noted, which is not done each time
    void written(Lines lines, boolean saves) {
        mark = lines.mark();
        saved = saves ? mark : saved;
        read.subList(0, lines.count()).clear();
    }

    /// Whether all rows are in.
    boolean isDone() {
        return position.equals(END) && read.isEmpty();
    }

    @Override
    public String toString() {
        return "seeding " + number + " behind '" + mark + "'";
    }
}
