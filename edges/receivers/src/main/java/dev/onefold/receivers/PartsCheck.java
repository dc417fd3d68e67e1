package dev.onefold.receivers;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// Whether the parts of divided batches are all there, each record once. A batch is divided into two halves, which may
/// be divided again. Plain contents of all parts in their order are the content of the whole batch; of compressed
/// ones only the numbers can be compared.
final class PartsCheck {
    private static final int HALVES = 2;

    private final Path folder;
    private final SortedMap<BatchNumber, Manifest> manifests;
    private final List<String> findings;

    PartsCheck(Path folder, SortedMap<BatchNumber, Manifest> manifests, List<String> findings) {
        this.folder = folder;
        this.manifests = manifests;
        this.findings = findings;
    }

    void run() {
        SortedMap<Long, List<Manifest>> divided = new TreeMap<>();
        manifests.forEach((number, manifest) -> {
            if (!number.isWhole()) {
                divided.computeIfAbsent(number.number(), _ -> new ArrayList<>()).add(manifest);
            }
        });
        divided.forEach((number, parts) -> {
            int before = findings.size();
            check(BatchNumber.of(number));
            if (findings.size() == before && parts.stream().noneMatch(PartsCheck::isCompressed)) {
                compare(parts);
            }
        });
    }

    /// Whether something is there for a number and nothing twice: the number itself, or both halves of it.
    private void check(BatchNumber number) {
        boolean isThere = manifests.containsKey(number);
        boolean isDivided = isDivided(number);
        if (isThere && isDivided) {
            findings.add("Batch " + id(number) + " is there as one, and in parts: its records are doubled.");
        } else if (isDivided) {
            for (int part = 1; part <= HALVES; part++) {
                check(number.part(part));
            }
            if (isThere(number.part(HALVES + 1))) {
                findings.add("Batch " + id(number) + " has more than two parts.");
            }
        } else if (!isThere) {
            findings.add("Part " + id(number) + " is missing.");
        }
    }

    private boolean isThere(BatchNumber number) {
        return manifests.containsKey(number) || isDivided(number);
    }

    /// Its parts and theirs come right behind a number.
    private boolean isDivided(BatchNumber number) {
        SortedMap<BatchNumber, Manifest> behind = manifests.tailMap(number.part(1));
        if (behind.isEmpty()) {
            return false;
        }
        BatchNumber next = behind.firstKey();
        int depth = number.parts().size();
        return next.number() == number.number()
                && next.parts().size() > depth
                && next.parts().subList(0, depth).equals(number.parts());
    }

    private String id(BatchNumber number) {
        return Manifest.id(manifests.values().iterator().next().pipeline(), number);
    }

    private static boolean isCompressed(Manifest part) {
        return part.file().endsWith(".gz") || part.file().endsWith(".zst");
    }

    private void compare(List<Manifest> parts) {
        MessageDigest digest = Sha256.digest();
        try (OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
            for (Manifest part : parts) {
                try (InputStream in = Files.newInputStream(folder.resolve(part.file()))) {
                    in.transferTo(out);
                }
            }
        } catch (IOException e) {
            findings.add("The parts of batch " + parts.getFirst().number().number() + " cannot be read: "
                    + FolderCheck.shown(String.valueOf(e.getMessage())) + ".");
            return;
        }
        String sha256 = HexFormat.of().formatHex(digest.digest());
        if (!sha256.equals(parts.getFirst().of())) {
            findings.add("The parts of batch "
                    + id(BatchNumber.of(parts.getFirst().number().number()))
                    + " are together not the whole batch: their SHA-256 is " + sha256 + ", 'of' is "
                    + parts.getFirst().of() + ".");
        }
    }
}
