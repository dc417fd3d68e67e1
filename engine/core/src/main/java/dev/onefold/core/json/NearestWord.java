package dev.onefold.core.json;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Finds the word that was meant.
public final class NearestWord {
    /// A longer word is not compared: it is not a known word with a typing error.
    private static final int LENGTH_MAX = 80;

    private NearestWord() {}

    /// The advice for a word that is not a known one: the nearest known word, or else the list of them.
    public static String advice(String word, Collection<String> known) {
        return nearest(word, known)
                .map(near -> "did you mean '" + near + "'?")
                .orElseGet(() -> "write " + oneOf(known));
    }

    /// The nearest of these, if one is near enough to be meant.
    public static Optional<String> nearest(String word, Collection<String> known) {
        if (word.isEmpty() || word.length() > LENGTH_MAX) {
            return Optional.empty();
        }
        String nearest = null;
        int distanceMin = Integer.MAX_VALUE;
        for (String candidate : known) {
            int distance =
                    candidate.length() > LENGTH_MAX ? Integer.MAX_VALUE : distance(lower(word), lower(candidate));
            if (distance < distanceMin && distance <= (Math.max(word.length(), candidate.length()) + 2) / 4) {
                distanceMin = distance;
                nearest = candidate;
            }
        }
        return Optional.ofNullable(nearest);
    }

    /// These words as a person lists them: `a, b or c`.
    public static String oneOf(Collection<String> words) {
        List<String> list = List.copyOf(words);
        if (list.size() < 2) {
            return String.join("", list);
        }
        return String.join(", ", list.subList(0, list.size() - 1)) + " or " + list.getLast();
    }

    private static String lower(String word) {
        return word.toLowerCase(Locale.ROOT);
    }

    /// The number of characters to leave out, put in, replace or swap with their neighbour.
    private static int distance(String a, String b) {
        int[][] rows = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    rows[i][j] = i + j;
                    continue;
                }
                boolean same = a.charAt(i - 1) == b.charAt(j - 1);
                int least = Math.min(Math.min(rows[i - 1][j], rows[i][j - 1]) + 1, rows[i - 1][j - 1] + (same ? 0 : 1));
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    least = Math.min(least, rows[i - 2][j - 2] + 1);
                }
                rows[i][j] = least;
            }
        }
        return rows[a.length()][b.length()];
    }
}
