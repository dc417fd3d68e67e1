package dev.onefold.fakes.disk;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// Copies a tree, with all that is not forced yet, but without channels and locks. One object makes one copy.
final class TreeCopy {
    private final Map<Node, Node> copies = new HashMap<>();

    private TreeCopy() {}

    static Tree of(Tree source) {
        TreeCopy copy = new TreeCopy();
        Tree tree = new Tree(copy.directory(source.root()), source.numberNext());
        List<EntryOperation> log =
                source.log().stream().map(operation -> operation.on(copy)).toList();
        tree.log().addAll(log);
        tree.numbersFree().addAll(source.numbersFree());
        tree.freed().addAll(source.freed());
        for (StoredFile file : source.files()) {
            if (file.isLinked()) {
                tree.files().add(copy.file(file));
            }
        }
        return tree;
    }

    Node node(Node original) {
        return switch (original) {
            case StoredFile file -> file(file);
            case StoredDirectory directory -> directory(directory);
        };
    }

    StoredDirectory directory(StoredDirectory original) {
        @Nullable Node known = copies.get(original);
        if (known != null) {
            return (StoredDirectory) known;
        }
        StoredDirectory copy = new StoredDirectory(original.inode().copy());
        copies.put(original, copy);
        copyEntries(original.entries(), copy.entries());
        copyEntries(original.durableEntries(), copy.durableEntries());
        return copy;
    }

    private StoredFile file(StoredFile original) {
        return (StoredFile) copies.computeIfAbsent(original, _ -> original.copy());
    }

    private void copyEntries(SortedMap<String, Node> from, SortedMap<String, Node> to) {
        from.forEach((name, node) -> to.put(name, node(node)));
    }
}
