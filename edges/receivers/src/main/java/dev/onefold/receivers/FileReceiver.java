package dev.onefold.receivers;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching.Destination;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// Makes a file of each batch, and then its manifest beside it, which shows that the content is whole.
final class FileReceiver implements Receiver {
    private static final System.Logger LOG = System.getLogger("dev.onefold.receivers");

    private final Destination destination;
    private final Path folder;
    private final NewFile.Link link;
    private final AtomicBoolean isSwept = new AtomicBoolean();

    FileReceiver(Destination destination, Path folder) {
        this(destination, folder, Files::createLink);
    }

    FileReceiver(Destination destination, Path folder, NewFile.Link link) {
        this.destination = destination;
        this.folder = folder;
        try {
            Path _ = folder.resolve(destination.target().getFirst());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(
                    "The path " + destination.target().getFirst()
                            + " has a character that cannot be written in this locale. Set LC_ALL=C.UTF-8, and try again",
                    e);
        }
        this.link = link;
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        Manifest manifest = handover.manifest();
        Path content = folder.resolve(Receivers.name(destination, manifest.number()));
        Path at = content;
        NewFile file = new NewFile(content, link);
        try {
            if (!isSwept.getAndSet(true)) {
                sweep(content);
            }
            if (file.make(handover::open, manifest.bytes(), manifest.sha256()) == NewFile.Found.OTHER) {
                return new Outcome.Conflict(content + " is there already, and is not batch " + manifest.id()
                        + ". Find out who wrote it; move it away before the batch is released");
            }
            if (destination.hasManifest()) {
                String name = String.valueOf(content.getFileName());
                at = content.resolveSibling(Receivers.manifestName(name));
                if (!makeManifest(at, manifest.in(name))) {
                    return new Outcome.Conflict(at + " is there already, and is not the manifest of batch "
                            + manifest.id() + ", though " + name
                            + " has the same content. Perhaps it was delivered from"
                            + " another data directory, or before a backup was restored. If so, say that it is there:"
                            + " 'batches release NUMBER --delivered'");
                }
            }
            return new Outcome.Done();
        } catch (ClosedByInterruptException e) {
            throw Handover.interrupted(e);
        } catch (IOException e) {
            return file.isPerhapsThere() ? new Outcome.Unknown(reason(at, e)) : new Outcome.NotNow(reason(at, e), null);
        }
    }

    @Override
    public Optional<String> trouble() {
        Path at = folder.resolve(destination.target().getFirst()).getParent();
        if (at == null || at.toString().contains(Destination.NUMBER)) {
            return Optional.empty();
        }
        return !Files.isDirectory(at)
                ? Optional.of(noFolder(at))
                : Files.isWritable(at)
                        ? Optional.empty()
                        : Optional.of("There is no permission to write in " + at
                                + ". Let the user of this process write there");
    }

    private static String noFolder(Path folder) {
        return "There is no folder " + folder + ". Create it, or correct the path of the receiver";
    }

    /// Deletes contents and manifests that crashes have left unfinished. Nothing that is to be delivered
    /// depends on it.
    private void sweep(Path content) {
        try {
            NewFile.sweep(content.resolveSibling(""), Receivers.fileNames(destination));
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.WARNING, "What a crash may have left beside " + content + " stays: " + e);
        }
    }

    private boolean makeManifest(Path file, Manifest manifest) throws IOException {
        byte[] text = (manifest.toJson() + "\n").getBytes(StandardCharsets.UTF_8);
        return new NewFile(file, link).make(() -> new ByteArrayInputStream(text), text.length, Sha256.hex(text))
                == NewFile.Found.SAME;
    }

    private static String reason(Path file, IOException e) {
        Path folder = file.getParent();
        String why = e instanceof FileSystemException named && named.getReason() != null
                ? named.getReason()
                : e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        if (folder != null && !Files.isDirectory(folder)) {
            return noFolder(folder);
        }
        String failed = file + " cannot be written: ";
        return switch (e) {
            case AccessDeniedException _ ->
                failed + "there is no permission. Let the user of this process write in " + folder;
            case NoSuchFileException _ -> failed + "somebody removed " + e.getMessage() + " in the meantime";
            default -> failed + why + ". Check the disk; the next attempt begins again";
        };
    }
}
