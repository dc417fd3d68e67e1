import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.SplittableRandom;

/// Customers who save and unsave restaurants all the time, and what they have saved: the truth that totals are compared
/// with. Who uses it holds its lock while it reads several favourites.
final class Customers {
    private static final int RESTAURANTS = 5_000;
    private static final int OF_USER = 8;
    private static final int STEP = 611; // Of the restaurants of a user; eight steps are less than all restaurants.
    private static final int ROUNDS_PER_SECOND = 100;

    final int count;
    final BitSet saved = new BitSet();
    /// Unsaved while the stream was off. Nobody saves them again: a later change would hide that the totals are wrong.
    private final BitSet left = new BitSet();
    final byte[] stars;
    private final SplittableRandom random = new SplittableRandom(1);
    private final Table table;
    private boolean isOn = true;
    private boolean ended;
    private long toggles;
    private long unsaved;
    private long lost;

    /// Where changes go to; called under the lock.
    interface Table {
        void change(int favourite, boolean wasSaved, boolean isSaved) throws IOException;

        /// Some changes are done.
        void flush() throws IOException;
    }

    /// What a program does with the commands that come on its standard input.
    interface Command {
        void run(String command) throws IOException, InterruptedException;
    }

    Customers(int rows, Table table) {
        this.table = table;
        count = rows + rows / 10;
        stars = new byte[count];
        for (int i = 0; i < count; i++) {
            stars[i] = (byte) (1 + random.nextInt(5));
        }
        saved.set(0, rows); // From before the stream.
    }

    /// Runs each command of standard input, and makes the file `done-COMMAND` behind it.
    static void obey(Path folder, Command command) throws IOException, InterruptedException {
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                command.run(line);
                Files.createFile(folder.resolve("done-" + line));
            }
        }
    }

    static String user(int favourite) {
        return "u" + favourite / OF_USER;
    }

    /// Some restaurants are liked by many; of one user all are different.
    static String restaurant(int favourite) {
        double liked = new SplittableRandom(favourite / OF_USER).nextDouble();
        int first = (int) (RESTAURANTS * liked * liked * liked);
        return "r" + (first + favourite % OF_USER * STEP) % RESTAURANTS;
    }

    /// Toggles until [#end], about so many times a second.
    Thread start(int togglesPerSecond) {
        int each = Math.max(1, togglesPerSecond / ROUNDS_PER_SECOND);
        int pauseMs = 1_000 * each / togglesPerSecond;
        return Thread.ofPlatform().start(() -> {
            try {
                while (round(each)) {
                    Thread.sleep(pauseMs);
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private synchronized boolean round(int each) throws IOException {
        for (int i = 0; i < each && !ended; i++) {
            int favourite = random.nextInt(count);
            if (!left.get(favourite)) {
                toggle(favourite);
            }
        }
        table.flush();
        return !ended;
    }

    /// Saves, unsaves, or saves again with other stars.
    private void toggle(int favourite) throws IOException {
        boolean was = saved.get(favourite);
        boolean unsaves = was && random.nextInt(3) > 0;
        saved.set(favourite, !unsaves);
        left.set(favourite, unsaves && !isOn);
        stars[favourite] = (byte) (1 + random.nextInt(5));
        toggles++;
        unsaved += unsaves ? 1 : 0;
        lost += isOn ? 0 : 1;
        table.change(favourite, was, !unsaves);
    }

    /// Whether the totals hear of what customers do from now on.
    synchronized void set(boolean on) {
        isOn = on;
    }

    synchronized boolean isOn() {
        return isOn;
    }

    synchronized void end() {
        ended = true;
    }

    /// How many have saved which restaurant, and with how many stars: `right.csv`.
    synchronized void writeTotals(Path folder) throws IOException {
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
                "Customers have toggled %,d times, %,d times to unsave; the stream tells nothing of %,d times.%n",
                toggles, unsaved, lost);
    }
}
