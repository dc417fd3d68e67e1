package dev.onefold.fakes.disk;

import dev.onefold.fakes.disk.EntryOperation.Binding;
import dev.onefold.fakes.disk.EntryOperation.State;
import dev.onefold.fakes.disk.Node.Inode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// A state that a power cut may leave: what was forced, and whatever chance keeps of the rest. Of the operations on
/// directory entries any subset survives that makes sense ([EntryOperation#needs]), or a prefix, as on a journaling
/// file system; of each file, see [FileRemains]. One object makes one state.
final class PowerCut {
    private final RandomGenerator random;
    private final Tree source;
    private final FileRemains remains;
    private final Map<StoredDirectory, SortedMap<String, Node>> entries = new HashMap<>();
    private final Set<Long> numbersTaken = new HashSet<>();
    private final Set<StoredFile> files = new HashSet<>();
    private long numberNext;

    private PowerCut(Tree source, RandomGenerator random) {
        this.source = source;
        this.random = random;
        this.remains = new FileRemains(List.copyOf(source.freed()), random);
        this.numberNext = source.numberNext();
    }

    static Tree strike(Tree source, RandomGenerator random) {
        // The first numbers of a Random are nearly the same for all small seeds; of these they are not.
        return new PowerCut(source, new SplittableRandom(random.nextLong())).strike();
    }

    private Tree strike() {
        boolean[] survives = survivors(source.log());
        for (int i = 0; i < survives.length; i++) {
            if (survives[i]) {
                for (Binding binding : source.log().get(i).bindings()) {
                    Tree.bind(entriesOf(binding.directory()), binding);
                }
            }
        }
        StoredDirectory root = directory(source.root());
        Tree tree = new Tree(root, numberNext);
        tree.files().addAll(files);
        tree.freed().addAll(source.freed());
        return tree;
    }

    private boolean[] survivors(List<EntryOperation> log) {
        boolean[] survives = new boolean[log.size()];
        boolean prefix = random.nextBoolean();
        int cut = random.nextInt(log.size() + 1);
        double odds = new double[] {0, 0.1, 0.5, 0.9, 1}[random.nextInt(5)];
        // From the last to the first, since an operation that survives takes with it what it cannot be without.
        for (int i = log.size() - 1; i >= 0; i--) {
            EntryOperation operation = log.get(i);
            survives[i] = operation.state() == State.FORCED
                    || (prefix ? i < cut : random.nextDouble() < odds)
                    || isNeeded(log, survives, i);
        }
        return survives;
    }

    private static boolean isNeeded(List<EntryOperation> log, boolean[] survives, int index) {
        for (int later = index + 1; later < log.size(); later++) {
            if (survives[later] && log.get(later).needs(log.get(index))) {
                return true;
            }
        }
        return false;
    }

    private SortedMap<String, Node> entriesOf(StoredDirectory directory) {
        return entries.computeIfAbsent(directory, _ -> new TreeMap<>(directory.durableEntries()));
    }

    private StoredDirectory directory(StoredDirectory original) {
        StoredDirectory left = new StoredDirectory(inode(original));
        entriesOf(original).forEach((name, node) -> {
            Node survivor = switch (node) {
                case StoredFile file -> file(file);
                case StoredDirectory directory -> directory(directory);
            };
            left.entries().put(name, survivor);
            left.durableEntries().put(name, survivor);
        });
        return left;
    }

    private StoredFile file(StoredFile original) {
        Content content = remains.of(original);
        StoredFile file = new StoredFile(inode(original), content, content.copy());
        files.add(file);
        return file;
    }

    /// A file that comes back may find its number taken.
    private Inode inode(Node original) {
        long number = original.inode().number();
        if (!numbersTaken.add(number)) {
            number = numberNext++;
            numbersTaken.add(number);
        }
        return original.inode().copy(number);
    }
}
