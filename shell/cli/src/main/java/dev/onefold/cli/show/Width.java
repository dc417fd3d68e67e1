package dev.onefold.cli.show;

/// How many columns of a terminal a text takes: two for wide East Asian characters and emoji, none for marks that
/// combine.
final class Width {
    private Width() {}

    static int of(String text) {
        int width = 0;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            width += of(text.codePointAt(i));
        }
        return width;
    }

    private static int of(int codePoint) {
        int type = Character.getType(codePoint);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        boolean wide = codePoint >= 0x1100
                && (codePoint <= 0x115f
                        || codePoint >= 0x2e80 && codePoint <= 0xa4cf
                        || codePoint >= 0xac00 && codePoint <= 0xd7a3
                        || codePoint >= 0xf900 && codePoint <= 0xfaff
                        || codePoint >= 0xfe30 && codePoint <= 0xfe6f
                        || codePoint >= 0xff00 && codePoint <= 0xff60
                        || codePoint >= 0xffe0 && codePoint <= 0xffe6
                        || codePoint >= 0x1f300 && codePoint <= 0x1faff
                        || codePoint >= 0x20000 && codePoint <= 0x3fffd);
        return wide ? 2 : 1;
    }

    /// The text in at most so many columns; the last one is `…` if something is cut.
    static String cut(String text, int columns) {
        if (of(text) <= columns) {
            return text;
        }
        StringBuilder cut = new StringBuilder();
        int width = 0;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int codePoint = text.codePointAt(i);
            width += of(codePoint);
            if (width > columns - 1) {
                break;
            }
            cut.appendCodePoint(codePoint);
        }
        return cut.append('…').toString();
    }
}
