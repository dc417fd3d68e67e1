import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.SplittableRandom;

/// A table of favourites, its change stream, and the customers who save and unsave restaurants all the time. The stream
/// is the file `changes.ndjson`. Commands come on standard input, and each makes a file when it is done:
///
///     scan      reads all rows, each as it is then, while customers go on: rows.ndjson
///     off       the stream is off: what customers do is in no record
///     on        a new stream is on
///     end       customers stop; how many have saved which restaurant is in right.csv
///
///     java Favourites.java ROWS TOGGLES_PER_SECOND FOLDER
final class Favourites {
    private static final int RESTAURANTS = 5_000;
    private static final int OF_USER = 8;
    private static final int STEP = 611; // Of the restaurants of a user; eight steps are less than all restaurants.
    private static final int ROUNDS_PER_SECOND = 100;
    private static final int SCANNED_AT_ONCE = 1_000;

    private final int count;
    private final BitSet saved = new BitSet();
    private final byte[] stars;
    private final SplittableRandom random = new SplittableRandom(1);
    private final Path folder;
    private final BufferedWriter changes;
    private String stream = "2026-11-01T00:00:00.000";
    private boolean on = true;
    private boolean ended;
    private long sequence;
    private long toggles;
    private long unsaved;
    private long lost;

    private Favourites(int rows, Path folder) throws IOException {
        this.folder = folder;
        count = rows + rows / 10;
        stars = new byte[count];
        for (int i = 0; i < count; i++) {
            stars[i] = (byte) (1 + random.nextInt(5));
        }
        saved.set(0, rows); // From before the stream.
        changes = Files.newBufferedWriter(folder.resolve("changes.ndjson"));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Favourites table = new Favourites(Integer.parseInt(arguments[0]), Path.of(arguments[2]));
        int each = Math.max(1, Integer.parseInt(arguments[1]) / ROUNDS_PER_SECOND);
        Thread customers = Thread.ofPlatform().start(() -> table.live(each));
        try (BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String command = commands.readLine(); command != null; command = commands.readLine()) {
                table.obey(command);
                if (command.equals("end")) {
                    customers.join();
                    table.right();
                }
                Files.createFile(table.folder.resolve("done-" + command));
            }
        }
    }

    private void obey(String command) throws IOException {
        switch (command) {
            case "scan" -> scan();
            case "off" -> set(false);
            case "on" -> set(true);
            case "end" -> end();
            default -> throw new IllegalArgumentException(command);
        }
    }

    private synchronized void set(boolean isOn) {
        on = isOn;
        if (isOn) { // Another stream, whose numbers begin anew.
            stream = "2026-11-02T00:00:00.000";
            sequence = 0;
        }
    }

    private synchronized void end() {
        ended = true;
    }

    private static String user(int favourite) {
        return "u" + favourite / OF_USER;
    }

    /// Some restaurants are liked by many; of one user all are different.
    private static String restaurant(int favourite) {
        double liked = new SplittableRandom(favourite / OF_USER).nextDouble();
        int first = (int) (RESTAURANTS * liked * liked * liked);
        return "r" + (first + favourite % OF_USER * STEP) % RESTAURANTS;
    }

    private void live(int each) {
        try {
            while (round(each)) {
                Thread.sleep(1_000 / ROUNDS_PER_SECOND);
            }
            changes.close();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private synchronized boolean round(int each) throws IOException {
        for (int i = 0; i < each && !ended; i++) {
            toggle(random.nextInt(count));
        }
        changes.flush();
        return !ended;
    }

    /// Saves, unsaves, or saves again with other stars. What is unsaved while the stream is off stays in the totals until
    /// they are compared with the table.
    private void toggle(int favourite) throws IOException {
        boolean was = saved.get(favourite);
        boolean unsaves = was && random.nextInt(3) > 0;
        saved.set(favourite, !unsaves);
        stars[favourite] = (byte) (1 + random.nextInt(5));
        toggles++;
        unsaved += unsaves ? 1 : 0;
        lost += on ? 0 : 1;
        sequence++;
        if (on) {
            String keys = "\"user\":{\"S\":\"" + user(favourite) + "\"},\"restaurant\":{\"S\":\""
                    + restaurant(favourite) + "\"}";
            changes.write("{\"eventName\":\"" + (unsaves ? "REMOVE" : was ? "MODIFY" : "INSERT")
                    + "\",\"eventSourceARN\":\"arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream/"
                    + stream + "\",\"dynamodb\":{\"SequenceNumber\":\"" + sequence + "\",\"Keys\":{" + keys + "}"
                    + (unsaves ? "" : ",\"NewImage\":{" + keys + ",\"stars\":{\"N\":\"" + stars[favourite] + "\"}}")
                    + "}}\n");
        }
    }

    private void scan() throws IOException {
        try (Writer rows = Files.newBufferedWriter(folder.resolve("rows.ndjson"))) {
            for (int from = 0; from < count; from += SCANNED_AT_ONCE) {
                scan(from, Math.min(count, from + SCANNED_AT_ONCE), rows);
            }
        }
    }

    private synchronized void scan(int from, int to, Writer rows) throws IOException {
        for (int i = saved.nextSetBit(from); i >= 0 && i < to; i = saved.nextSetBit(i + 1)) {
            rows.write("{\"user\":\"" + user(i) + "\",\"restaurant\":\"" + restaurant(i) + "\",\"stars\":" + stars[i]
                    + "}\n");
        }
    }

    private void right() throws IOException {
        int[] favourites = new int[RESTAURANTS];
        int[] ofStars = new int[RESTAURANTS];
        for (int i = saved.nextSetBit(0); i >= 0; i = saved.nextSetBit(i + 1)) {
            int restaurant = Integer.parseInt(restaurant(i).substring(1));
            favourites[restaurant]++;
            ofStars[restaurant] += stars[i];
        }
        try (Writer right = Files.newBufferedWriter(folder.resolve("right.csv"))) {
            for (int i = 0; i < RESTAURANTS; i++) {
                if (favourites[i] > 0) {
                    right.write("r" + i + "," + favourites[i] + "," + ofStars[i] + "\n");
                }
            }
        }
        System.out.printf(
                "Customers have toggled %,d times, %,d times to unsave; %,d times while the stream was off.%n",
                toggles, unsaved, lost);
    }
}
