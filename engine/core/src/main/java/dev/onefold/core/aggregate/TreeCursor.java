package dev.onefold.core.aggregate;

import java.lang.foreign.MemorySegment;

/// A place between the entries of a [ValueTree]. Valid until the tree changes.
final class TreeCursor {
    private final int[] cursorPath = new int[ValueTree.DEPTH_MAX];
    private final int[] indexes = new int[ValueTree.DEPTH_MAX];
    private final ValueTree tree;
    private final Pages pages;
    private int depth;
    private MemorySegment page = MemorySegment.NULL;
    private int index;

    TreeCursor(ValueTree tree, Pages pages) {
        this.tree = tree;
        this.pages = pages;
    }

    /// Goes to the first entry that is not below a key; whether there is one.
    boolean seek(byte[] key, int length) {
        if (tree.root() < 0) {
            return false;
        }
        depth = 0;
        cursorPath[0] = tree.root();
        while (true) {
            page = pages.page(cursorPath[depth]);
            if (TreePage.level(page) == 0) {
                int found = TreePage.search(page, key, length);
                index = found < 0 ? ~found : found;
                break;
            }
            indexes[depth] = TreePage.childOf(page, key, length);
            cursorPath[depth + 1] = TreePage.child(page, indexes[depth]);
            depth++;
        }
        return settle(1);
    }

    /// Goes to the next entry; whether there is one.
    boolean next() {
        index++;
        return settle(1);
    }

    /// Goes to the entry before; also after a search that found none.
    boolean previous() {
        if (tree.root() < 0) {
            return false;
        }
        index--;
        return settle(-1);
    }

    private boolean settle(int step) {
        return index >= 0 && index < TreePage.size(page) || climb(step);
    }

    /// Goes to the nearest leaf on one side. If there is none it stays, behind the last or before the first entry.
    private boolean climb(int step) {
        int up = depth - 1;
        while (up >= 0) {
            int child = indexes[up] + step;
            if (child >= 0 && child <= TreePage.size(pages.page(cursorPath[up]))) {
                break;
            }
            up--;
        }
        if (up < 0) {
            return false;
        }
        indexes[up] += step;
        while (up < depth) {
            cursorPath[up + 1] = TreePage.child(pages.page(cursorPath[up]), indexes[up]);
            up++;
            page = pages.page(cursorPath[up]);
            indexes[up] = step == 1 ? 0 : TreePage.size(page);
        }
        index = step == 1 ? 0 : TreePage.size(page) - 1;
        return true;
    }

    /// Copies the key here, which is to have [TreePage#PADDING] bytes behind it, and gives its length.
    int key(byte[] target) {
        int entry = TreePage.entry(page, index);
        int length = TreePage.keyLength(page, entry);
        MemorySegment.copy(page, TreePage.BYTE, entry + (long) TreePage.ENTRY, target, 0, length);
        return length;
    }

    boolean startsWith(byte[] prefix, int length) {
        int entry = TreePage.entry(page, index);
        if (TreePage.keyLength(page, entry) < length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (page.get(TreePage.BYTE, entry + (long) TreePage.ENTRY + i) != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    long count() {
        return TreePage.number(page, TreePage.entry(page, index)) & ~ValueTree.CHANGED;
    }

    /// Where the entry is: its page, and its offset there.
    long address() {
        return (long) cursorPath[depth] * Pages.BYTES + TreePage.entry(page, index);
    }
}
