package dev.onefold.core.aggregate;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Counts of keys in the unsigned order of their bytes: a B+tree in [Pages] (Bayer, McCreight, "Organization and
/// Maintenance of Large Ordered Indexes", 1972; separators are cut as in Bayer, Unterauer, "Prefix B-Trees", 1977). A
/// page is freed when it is empty and never merged before, which costs little space in practice (Johnson, Shasha,
/// "B-Trees with Inserts and Deletes: Why Free-at-Empty Is Better Than Merge-at-Half", 1993). A count is never zero:
/// such a key leaves at once. Is not thread-safe.
final class ValueTree {
    static final int DEPTH_MAX = 24;
    static final long CHANGED = Long.MIN_VALUE;
    private final Pages pages;
    private final int[] path = new int[DEPTH_MAX];
    private final int[] children = new int[DEPTH_MAX];
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Pages.BYTES]);
    private int root = -1;
    private int[] changedPages = new int[16];
    private int changedPageCount;
    private int changedCount;
    private long size;

    ValueTree(Pages pages) {
        this.pages = pages;
    }

    private int newPage(int level) {
        int number = pages.take();
        MemorySegment page = pages.page(number);
        page.asSlice(0, TreePage.HEADER).fill((byte) 0);
        page.set(TreePage.BYTE, 0, (byte) level);
        page.set(TreePage.U16, 4, (char) Pages.BYTES);
        return number;
    }

    private static boolean isChanged(long number) {
        return (number & CHANGED) != 0;
    }

    /// Adds `more` to the count of a key.
    ///
    /// @return 1 if the key is new, -1 if it was removed, else 0
    /// @throws IllegalStateException if the count would be negative
    int add(byte[] key, int length, long more) {
        int depth = descend(key, length);
        MemorySegment page = pages.page(path[depth]);
        int index = TreePage.search(page, key, length);
        if (index < 0) {
            if (more <= 0) {
                throw new IllegalStateException("A value is retracted that was never added");
            }
            insert(depth, ~index, key, length, more | CHANGED);
            size++;
            noteChange(path[depth]);
            changedCount++;
            return 1;
        }
        int entry = TreePage.entry(page, index);
        long old = TreePage.number(page, entry);
        long count = Math.addExact(old & ~CHANGED, more);
        if (count < 0) {
            throw new IllegalStateException("A value is retracted more often than it was added");
        }
        changedCount += (count == 0 ? 0 : 1) - (isChanged(old) ? 1 : 0);
        if (count == 0) {
            remove(depth, index);
            return -1;
        }
        page.set(TreePage.LONG, entry + 2L, count | CHANGED);
        noteChange(path[depth]);
        return 0;
    }

    /// Sets the count of a key without noting a change; 0 removes it.
    ///
    /// @return 1 if the key is new, -1 if it was removed, else 0
    int set(byte[] key, int length, long count) {
        int depth = descend(key, length);
        MemorySegment page = pages.page(path[depth]);
        int index = TreePage.search(page, key, length);
        if (index < 0) {
            if (count != 0) {
                insert(depth, ~index, key, length, count);
                size++;
            }
            return count == 0 ? 0 : 1;
        }
        int entry = TreePage.entry(page, index);
        changedCount -= isChanged(TreePage.number(page, entry)) ? 1 : 0;
        if (count == 0) {
            remove(depth, index);
            return -1;
        }
        page.set(TreePage.LONG, entry + 2L, count);
        return 0;
    }

    private int descend(byte[] key, int length) {
        if (root < 0) {
            root = newPage(0);
        }
        int number = root;
        for (int depth = 0; ; depth++) {
            path[depth] = number;
            MemorySegment page = pages.page(number);
            if (TreePage.level(page) == 0) {
                return depth;
            }
            children[depth] = TreePage.childOf(page, key, length);
            number = TreePage.child(page, children[depth]);
        }
    }

    private void noteChange(int number) {
        MemorySegment page = pages.page(number);
        if (page.get(TreePage.BYTE, 1) == 0) {
            page.set(TreePage.BYTE, 1, (byte) 1);
            if (changedPageCount == changedPages.length) {
                changedPages = Arrays.copyOf(changedPages, 2 * changedPageCount);
            }
            changedPages[changedPageCount++] = number;
        }
    }

    /// Inserts an entry into the page of the path at that depth, which then names the page that holds the entry.
    private void insert(int depth, int index, byte[] key, int length, long number) {
        int left = path[depth];
        MemorySegment page = pages.page(left);
        int need = TreePage.SLOT + TreePage.ENTRY + length;
        if (TreePage.room(page) < need && TreePage.room(page) + page.get(TreePage.U16, 6) >= need) {
            TreePage.compact(page, scratch);
        }
        if (TreePage.room(page) >= need) {
            TreePage.place(page, index, key, length, number);
            return;
        }
        int rightNumber = newPage(TreePage.level(page));
        MemorySegment right = pages.page(rightNumber);
        if (page.get(TreePage.BYTE, 1) != 0) {
            noteChange(rightNumber);
        }
        int size = TreePage.size(page);
        int cut = index == size && TreePage.level(page) == 0 ? size : TreePage.middle(page);
        byte[] separator = new byte[0];
        int separatorLength = 0;
        int rightFrom = cut;
        if (TreePage.level(page) > 0) {
            separator = TreePage.key(page, TreePage.entry(page, cut));
            separatorLength = separator.length - TreePage.PADDING;
            right.set(TreePage.INT, 8, (int) TreePage.number(page, TreePage.entry(page, cut)));
            rightFrom = cut + 1;
        }
        for (int i = rightFrom; i < size; i++) {
            byte[] moved = TreePage.key(page, TreePage.entry(page, i));
            TreePage.place(
                    right,
                    i - rightFrom,
                    moved,
                    moved.length - TreePage.PADDING,
                    TreePage.number(page, TreePage.entry(page, i)));
        }
        page.set(TreePage.U16, 2, (char) cut);
        TreePage.compact(page, scratch);
        if (index <= cut && cut < size) {
            TreePage.place(page, index, key, length, number);
        } else {
            TreePage.place(right, index - rightFrom, key, length, number);
            path[depth] = rightNumber;
        }
        if (TreePage.level(page) == 0) {
            separator = TreePage.key(right, TreePage.entry(right, 0));
            separatorLength = cutSeparator(page, separator);
        }
        insertRight(depth, left, separator, separatorLength, rightNumber);
    }

    /// The length of the shortest prefix of the right page's first key that differs from the left page's last
    /// key.
    private static int cutSeparator(MemorySegment left, byte[] first) {
        byte[] last = TreePage.key(left, TreePage.entry(left, TreePage.size(left) - 1));
        int same = Arrays.mismatch(last, 0, last.length - TreePage.PADDING, first, 0, first.length - TreePage.PADDING);
        return same + 1;
    }

    private void insertRight(int depth, int left, byte[] separator, int length, int right) {
        if (depth > 0) {
            insert(depth - 1, children[depth - 1], separator, length, right);
            return;
        }
        int top = newPage(TreePage.level(pages.page(left)) + 1);
        pages.page(top).set(TreePage.INT, 8, left);
        TreePage.place(pages.page(top), 0, separator, length, right);
        root = top;
    }

    private void remove(int depth, int index) {
        size--;
        MemorySegment page = pages.page(path[depth]);
        TreePage.removeSlot(page, index);
        if (TreePage.size(page) == 0 && depth > 0) {
            pages.give(path[depth]);
            removeChild(depth - 1);
        }
    }

    private void removeChild(int depth) {
        MemorySegment page = pages.page(path[depth]);
        if (TreePage.size(page) == 0) { // It was the only child.
            pages.give(path[depth]);
            if (depth == 0) {
                root = newPage(0);
            } else {
                removeChild(depth - 1);
            }
            return;
        }
        if (children[depth] == 0) {
            page.set(TreePage.INT, 8, (int) TreePage.number(page, TreePage.entry(page, 0)));
            TreePage.removeSlot(page, 0);
        } else {
            TreePage.removeSlot(page, children[depth] - 1);
        }
        while (TreePage.level(pages.page(root)) > 0 && TreePage.size(pages.page(root)) == 0) {
            int old = root;
            root = TreePage.child(pages.page(old), 0);
            pages.give(old);
        }
    }

    /// How many keys there are.
    long size() {
        return size;
    }

    /// Notes an entry as changed; whether there is one.
    boolean touch(byte[] key, int length) {
        int depth = descend(key, length);
        MemorySegment page = pages.page(path[depth]);
        int index = TreePage.search(page, key, length);
        if (index >= 0 && !isChanged(TreePage.number(page, TreePage.entry(page, index)))) {
            int entry = TreePage.entry(page, index);
            page.set(TreePage.LONG, entry + 2L, TreePage.number(page, entry) | CHANGED);
            noteChange(path[depth]);
            changedCount++;
        }
        return index >= 0;
    }

    /// Notes all entries as unchanged.
    void noteUnchanged() {
        writeChanged((_, _, _) -> {});
    }

    /// How many entries have changed since [#writeChanged].
    int changedCount() {
        return changedCount;
    }

    /// Receives keys and their counts.
    interface Visitor {
        void value(byte[] key, int length, long count);
    }

    /// Visits the entries that have changed, and notes them as unchanged.
    void writeChanged(Visitor visitor) {
        for (int i = 0; i < changedPageCount; i++) {
            MemorySegment page = pages.page(changedPages[i]);
            if (page.get(TreePage.BYTE, 1) == 0) {
                continue; // It was freed and is another page now, or is listed twice.
            }
            page.set(TreePage.BYTE, 1, (byte) 0);
            for (int index = 0; index < TreePage.size(page); index++) {
                int entry = TreePage.entry(page, index);
                long number = TreePage.number(page, entry);
                if (isChanged(number)) {
                    page.set(TreePage.LONG, entry + 2L, number & ~CHANGED);
                    byte[] key = TreePage.key(page, entry);
                    visitor.value(key, key.length - TreePage.PADDING, number & ~CHANGED);
                }
            }
        }
        changedPageCount = 0;
        changedCount = 0;
    }

    /// Removes all keys.
    void clear() {
        if (root >= 0) {
            clear(root);
            root = -1;
        }
        size = 0;
        changedPageCount = 0;
        changedCount = 0;
    }

    private void clear(int number) {
        MemorySegment page = pages.page(number);
        for (int child = 0; TreePage.level(page) > 0 && child <= TreePage.size(page); child++) {
            clear(TreePage.child(page, child));
        }
        pages.give(number);
    }

    /// A cursor that is at no entry yet.
    TreeCursor cursor() {
        return new TreeCursor(this, pages);
    }

    int root() {
        return root;
    }

    /// Whether the key of the entry at an address is the same as another, both from the `from`-th byte on.
    boolean isSame(long address, byte[] key, int from, int length) {
        MemorySegment page = pages.page((int) (address / Pages.BYTES));
        int entry = (int) (address % Pages.BYTES);
        if (TreePage.keyLength(page, entry) != length) {
            return false;
        }
        for (int i = from; i < length; i++) {
            if (page.get(TreePage.BYTE, entry + (long) TreePage.ENTRY + i) != key[i]) {
                return false;
            }
        }
        return true;
    }
}
