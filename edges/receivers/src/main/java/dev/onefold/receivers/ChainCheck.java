package dev.onefold.receivers;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Whether the numbers of a pipeline's batches are dense, and whether each names the one before it.
final class ChainCheck {
    private final String pipeline;
    private final SortedMap<BatchNumber, Manifest> manifests;
    private final long from;
    private final List<String> findings;

    ChainCheck(String pipeline, SortedMap<BatchNumber, Manifest> manifests, long from, List<String> findings) {
        this.pipeline = pipeline;
        this.manifests = manifests;
        this.from = from;
        this.findings = findings;
    }

    /// The batch of a number, by its manifests.
    ///
    /// @param sha256 SHA-256 of the whole batch, by the first of its manifests
    /// @param naming manifests that name the batch before: of the whole batch, and of parts; parts that an
    ///     earlier version delivered name none
    private record Link(String sha256, List<Manifest> naming) {}

    void run() {
        SortedMap<Long, Link> links = links();
        long expected = from;
        Link before = null;
        for (var entry : links.entrySet()) {
            long number = entry.getKey();
            if (number > expected) {
                findings.add(missing(expected, number - 1));
            }
            if (!links.containsKey(number - 1)) {
                before = null;
            }
            Link link = entry.getValue();
            for (Manifest manifest : link.naming) {
                compare(number, manifest, before);
            }
            before = link;
            expected = Math.max(expected, number + 1);
        }
        if (expected == from) {
            findings.add(id(BatchNumber.of(from)) + " is missing, and there is none after it.");
        }
    }

    private SortedMap<Long, Link> links() {
        SortedMap<Long, Link> links = new TreeMap<>();
        manifests.forEach((number, manifest) -> {
            String sha256 = number.isWhole() ? manifest.sha256() : manifest.of();
            Link link = links.computeIfAbsent(number.number(), _ -> new Link(sha256, new ArrayList<>()));
            if (number.isWhole() || !manifest.previous().isEmpty()) {
                link.naming.add(manifest);
            }
            if (!link.sha256.equals(sha256)) {
                findings.add(id(number) + " is a part of another batch " + number.number()
                        + " than what else is there of it: 'of' differs.");
            }
        });
        return links;
    }

    private void compare(long number, Manifest manifest, @Nullable Link before) {
        if (number == 1 && !manifest.previous().isEmpty()) {
            findings.add(id(manifest.number()) + " is the first one, but names a batch before it.");
        } else if (number > 1 && manifest.previous().isEmpty()) {
            findings.add(id(manifest.number()) + " names no batch before it.");
        } else if (before != null && !manifest.previous().equals(before.sha256)) {
            findings.add(id(manifest.number()) + " follows another batch " + (number - 1)
                    + " than the one that is there: 'previous' is " + manifest.previous()
                    + ", but the SHA-256 of batch "
                    + (number - 1) + " is " + before.sha256 + ".");
        }
    }

    private String missing(long first, long last) {
        return first == last
                ? id(BatchNumber.of(first)) + " is missing."
                : "Batches " + FolderCheck.shown(pipeline) + "-" + BatchNumber.of(first) + " to " + BatchNumber.of(last)
                        + " are missing.";
    }

    private String id(BatchNumber number) {
        return "Batch " + FolderCheck.shown(pipeline) + "-" + number;
    }
}
