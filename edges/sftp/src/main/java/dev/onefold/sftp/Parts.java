package dev.onefold.sftp;

import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Receivers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClient.DirEntry;
import org.apache.sshd.sftp.common.SftpException;

/// Removes parts of files that attempts have left. No delivery depends on it, and none fails by it: if the
/// part of an attempt that is under way is removed, the attempt makes no file and is repeated.
///
/// A part of this process is removed as soon as its attempt has ended and a connection carries the request. Parts of
/// other processes are removed when nothing was written to them for [#ABANDONED], longer than a delivery may take.
/// Any thread.
final class Parts {
    static final Duration ABANDONED = Duration.ofDays(1);

    private static final System.Logger LOG = System.getLogger("dev.onefold.sftp");

    private final Pattern names;
    private final Set<String> left = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Instant> sweepsAt = new AtomicReference<>(Instant.MIN);

    Parts(Destination destination) {
        names = RemoteFile.parts(Receivers.fileNames(destination));
    }

    /// Removes the part of an attempt that has failed, now or later.
    void leave(SftpClient client, String part) {
        left.add(part);
        removeLeft(client);
    }

    /// Removes parts before an attempt begins.
    ///
    /// @param path of a file in the folder
    void sweep(SftpClient client, String path) {
        removeLeft(client);
        Instant now = Instant.now();
        Instant at = sweepsAt.get();
        if (now.isBefore(at) || !sweepsAt.compareAndSet(at, now.plus(ABANDONED))) {
            return;
        }
        String folder = path.substring(0, path.lastIndexOf('/') + 1);
        try {
            for (DirEntry file : client.readDir(folder.isEmpty() ? "." : folder)) {
                if (names.matcher(file.getFilename()).matches()
                        && file.getAttributes().isRegularFile()
                        && file.getAttributes().getModifyTime().toInstant().isBefore(now.minus(ABANDONED))) {
                    remove(client, folder + file.getFilename());
                }
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.log(System.Logger.Level.WARNING, "Parts that a crash may have left beside " + path + " stay: " + e);
        }
    }

    /// Removes an abandoned part. If the server refuses that, for example because the part is another user's,
    /// the other parts are still removed.
    private static void remove(SftpClient client, String part) throws IOException {
        try {
            client.remove(part);
        } catch (SftpException refused) {
            LOG.log(System.Logger.Level.WARNING, "The part " + part + " that a crash may have left stays: " + refused);
        }
    }

    private void removeLeft(SftpClient client) {
        for (String part : List.copyOf(left)) {
            try {
                client.remove(part);
                left.remove(part);
            } catch (SftpException answer) {
                left.remove(part); // It is not there. If the server refuses to remove it, it does so each time.
            } catch (IOException broken) {
                return; // The part is removed on the next connection.
            }
        }
    }
}
