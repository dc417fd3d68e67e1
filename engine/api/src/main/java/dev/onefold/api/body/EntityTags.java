package dev.onefold.api.body;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The field `ETag` of an answer, and `If-None-Match` of a request.
public final class EntityTags {
    private static final String WEAK = "W/";

    private EntityTags() {}

    /// The field of an answer whose bytes may differ, in the time at which it was made, while its tag does not.
    public static String weak(String tag) {
        return WEAK + "\"" + tag + "\"";
    }

    /// Whether a caller has the answer with this field already.
    ///
    /// @param known the field `If-None-Match`; `null` without it
    /// @param tag weak or strong: they are compared alike
    public static boolean isKnown(@Nullable String known, String tag) {
        String opaque = tag.startsWith(WEAK) ? tag.substring(WEAK.length()) : tag;
        return known != null
                && Arrays.stream(known.split("\\s*,\\s*", -1))
                        .anyMatch(each -> each.equals(opaque) || each.equals(WEAK + opaque) || each.equals("*"));
    }
}
