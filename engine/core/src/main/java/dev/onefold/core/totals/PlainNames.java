package dev.onefold.core.totals;

import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/// Names of levels, measures and roll-ups as other programs like them: small letters, digits and `_`, each once.
/// Not thread-safe.
public final class PlainNames {
    private final Set<String> taken;
    private final int lengthMax;

    /// @param taken names that are never given
    public PlainNames(Collection<String> taken, int lengthMax) {
        this.taken = new HashSet<>(taken);
        this.lengthMax = lengthMax;
    }

    /// The plain form of a name; it may not be unique.
    public static String plain(String name) {
        String plain =
                name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_").replaceAll("^_|_$", "");
        return plain.isEmpty() || Character.isDigit(plain.charAt(0)) ? "c_" + plain : plain;
    }

    /// The next name: a plain one, with a number behind it if it was given before.
    public String next(String name) {
        String plain = plain(name);
        String next = cut(plain, "");
        for (int i = 2; !taken.add(next); i++) {
            next = cut(plain, "_" + i);
        }
        return next;
    }

    private String cut(String name, String end) {
        return name.substring(0, Math.min(name.length(), lengthMax - end.length())) + end;
    }
}
