import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/// A table of favourites that is a file, and its change stream, the file `changes.ndjson`. Commands come on standard
/// input, and each makes a file when it is done:
///
///     scan      reads all rows, each as it is then, while customers go on: rows.ndjson
///     off       the stream is off: what customers do is in no record
///     on        a new stream is on
///     end       customers stop; how many have saved which restaurant is in right.csv
///
///     java Favourites.java ROWS TOGGLES_PER_SECOND FOLDER
final class Favourites implements Customers.Table {
    private static final int SCANNED_AT_ONCE = 1_000;

    private final Path folder;
    private final Customers customers;
    private final BufferedWriter changes;
    private String stream = "2026-11-01T00:00:00.000";
    private long sequence;

    private Favourites(int rows, Path folder) throws IOException {
        this.folder = folder;
        changes = Files.newBufferedWriter(folder.resolve("changes.ndjson"));
        customers = new Customers(rows, this);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path folder = Path.of(arguments[2]);
        Favourites table = new Favourites(Integer.parseInt(arguments[0]), folder);
        Thread toggling = table.customers.start(Integer.parseInt(arguments[1]));
        Customers.obey(folder, command -> table.obey(command, toggling));
    }

    private void obey(String command, Thread toggling) throws IOException, InterruptedException {
        switch (command) {
            case "scan" -> scan();
            case "off" -> customers.set(false);
            case "on" -> switchOn();
            case "end" -> {
                customers.end();
                toggling.join();
                changes.close();
                customers.writeTotals(folder);
            }
            default -> throw new IllegalArgumentException(command);
        }
    }

    /// Another stream, whose numbers begin again.
    private void switchOn() {
        synchronized (customers) {
            stream = "2026-11-02T00:00:00.000";
            sequence = 0;
            customers.set(true);
        }
    }

    /// What is unsaved while the stream is off stays in the totals until they are compared with the table.
    @Override
    public void change(int favourite, boolean was, boolean is) throws IOException {
        if (!customers.isOn()) {
            return;
        }
        sequence++;
        String keys = "\"user\":{\"S\":\"" + Customers.user(favourite) + "\"},\"restaurant\":{\"S\":\""
                + Customers.restaurant(favourite) + "\"}";
        changes.write("{\"eventName\":\"" + (is ? was ? "MODIFY" : "INSERT" : "REMOVE")
                + "\",\"eventSourceARN\":\"arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream/"
                + stream + "\",\"dynamodb\":{\"SequenceNumber\":\"" + sequence + "\",\"Keys\":{" + keys + "}"
                + (is ? ",\"NewImage\":{" + keys + ",\"stars\":{\"N\":\"" + customers.stars[favourite] + "\"}}" : "")
                + "}}\n");
    }

    @Override
    public void flush() throws IOException {
        changes.flush();
    }

    private void scan() throws IOException {
        try (Writer rows = Files.newBufferedWriter(folder.resolve("rows.ndjson"))) {
            for (int from = 0; from < customers.count; from += SCANNED_AT_ONCE) {
                scan(from, Math.min(customers.count, from + SCANNED_AT_ONCE), rows);
            }
        }
    }

    private void scan(int from, int to, Writer rows) throws IOException {
        synchronized (customers) {
            for (int i = customers.saved.nextSetBit(from); i >= 0 && i < to; i = customers.saved.nextSetBit(i + 1)) {
                rows.write("{\"user\":\"" + Customers.user(i) + "\",\"restaurant\":\"" + Customers.restaurant(i)
                        + "\",\"stars\":" + customers.stars[i] + "}\n");
            }
        }
    }
}
