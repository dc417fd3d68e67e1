package dev.onefold.core.event;

/// Text in a record: escapes and UTF-8.
final class TextBytes {
    public static final int INVALID = -1;
    public static final int CUT_OFF = -2;

    private TextBytes() {}

    /// The offset behind the escape that begins at `at` (a backslash). A surrogate must come as a pair,
    /// because a lone one is not a text.
    public static int escapeEnd(byte[] bytes, int at, int end) {
        if (at + 1 >= end) {
            return CUT_OFF;
        }
        switch (bytes[at + 1]) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
                return at + 2;
            }
            case 'u' -> {
                int unit = hex4(bytes, at + 2, end);
                if (unit < 0) {
                    return unit;
                }
                if (Character.isLowSurrogate((char) unit)) {
                    return INVALID;
                }
                if (!Character.isHighSurrogate((char) unit)) {
                    return at + 6;
                }
                if (at + 6 < end && bytes[at + 6] != '\\' || at + 7 < end && bytes[at + 7] != 'u') {
                    return INVALID;
                }
                int low = hex4(bytes, at + 8, end);
                return low < 0 ? low : Character.isLowSurrogate((char) low) ? at + 12 : INVALID;
            }
            default -> {
                return INVALID;
            }
        }
    }

    private static int hex4(byte[] bytes, int at, int end) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            if (at + i >= end) {
                return CUT_OFF;
            }
            int digit = Character.digit(bytes[at + i], 16);
            if (digit < 0) {
                return INVALID;
            }
            value = value << 4 | digit;
        }
        return value;
    }

    /// The offset behind the UTF-8 sequence at `at`, which is not ASCII; `INVALID` for overlong, surrogate
    /// and too large ones (the table of well-formed byte sequences: Unicode 3.9, D92).
    public static int utf8End(byte[] bytes, int at, int end) {
        int lead = bytes[at] & 0xff;
        int length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
        if (length == 0 || at + length > end) {
            return INVALID;
        }
        int second = bytes[at + 1] & 0xff;
        int least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        int most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (second < least || second > most) {
            return INVALID;
        }
        for (int i = 2; i < length; i++) {
            if ((bytes[at + i] & 0xc0) != 0x80) {
                return INVALID;
            }
        }
        return at + length;
    }

    /// The offset of the first byte in `[from, to)` that is not valid UTF-8; `to` if there is none.
    public static int utf8Ends(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to) {
            int next = bytes[at] >= 0 ? at + 1 : utf8End(bytes, at, to);
            if (next < 0) {
                return at;
            }
            at = next;
        }
        return to;
    }

    /// Writes the text of a checked string, escapes read, and returns its length; it is never longer than the
    /// source.
    public static int unescape(byte[] bytes, int from, int to, byte[] target, int targetAt) {
        int out = targetAt;
        int at = from;
        while (at < to) {
            byte b = bytes[at++];
            if (b != '\\') {
                target[out++] = b;
                continue;
            }
            byte kind = bytes[at++];
            switch (kind) {
                case 'b' -> target[out++] = '\b';
                case 'f' -> target[out++] = '\f';
                case 'n' -> target[out++] = '\n';
                case 'r' -> target[out++] = '\r';
                case 't' -> target[out++] = '\t';
                case 'u' -> {
                    int point = hex4(bytes, at, at + 4);
                    at += 4;
                    if (Character.isHighSurrogate((char) point)) {
                        point = Character.toCodePoint((char) point, (char) hex4(bytes, at + 2, at + 6));
                        at += 6;
                    }
                    out = encode(point, target, out);
                }
                default -> target[out++] = kind;
            }
        }
        return out - targetAt;
    }

    private static int encode(int point, byte[] target, int at) {
        int out = at;
        if (point < 0x80) {
            target[out++] = (byte) point;
        } else if (point < 0x800) {
            target[out++] = (byte) (0xc0 | point >> 6);
            target[out++] = (byte) (0x80 | point & 0x3f);
        } else if (point < 0x10000) {
            target[out++] = (byte) (0xe0 | point >> 12);
            target[out++] = (byte) (0x80 | point >> 6 & 0x3f);
            target[out++] = (byte) (0x80 | point & 0x3f);
        } else {
            target[out++] = (byte) (0xf0 | point >> 18);
            target[out++] = (byte) (0x80 | point >> 12 & 0x3f);
            target[out++] = (byte) (0x80 | point >> 6 & 0x3f);
            target[out++] = (byte) (0x80 | point & 0x3f);
        }
        return out;
    }
}
