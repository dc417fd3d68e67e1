package dev.onefold.receivers;

import java.nio.file.Path;
import java.util.List;

/// The proof, by the manifests in a folder, that no batch beside them is missing or doubled, and that each
/// content is whole. Only the folder is read.
///
/// @param pipelines the pipelines whose batches are there, in the order of their names
/// @param findings the faults, as sentences; empty if all is proven
public record Verification(Path folder, List<Numbers> pipelines, List<String> findings) {
    public Verification {
        pipelines = List.copyOf(pipelines);
        findings = List.copyOf(findings);
    }

    /// The batches of one pipeline.
    ///
    /// @param first number that is there
    /// @param last number that is there
    /// @param contents files; a batch that was divided has several
    /// @param records in these
    /// @param bytes of these
    public record Numbers(String pipeline, long first, long last, long contents, long records, long bytes) {}

    /// Whether nothing is wrong.
    public boolean isProven() {
        return findings.isEmpty();
    }

    /// Reads a folder of batches.
    ///
    /// @param from number of the first batch that has to be there; earlier ones may have been removed
    /// @throws java.io.UncheckedIOException if the folder cannot be read
    public static Verification of(Path folder, long from) {
        return new FolderCheck(folder, from).run();
    }
}
