package dev.onefold.sftp;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.receivers.Handover;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClient.CloseableHandle;
import org.apache.sshd.sftp.client.SftpClient.OpenMode;
import org.apache.sshd.sftp.client.extensions.openssh.OpenSSHFsyncExtension;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.common.SftpException;

/// Makes a file on a server whole or not at all, and never in the place of another one.
///
///     .NAME.OWN.part   written, forced if the server can (`fsync@openssh.com`)
///     NAME             the part, renamed; version 3 of the protocol refuses that if there is a NAME
///
/// Before the rename there is no NAME, so every failure until then has no effect. OWN is another word in each process:
/// two of them do not write one part.
final class RemoteFile {
    private static final int BUFFER_BYTES = 1 << 16;

    private final SftpClient client;
    private final String path;
    private final String part;

    /// A failure before the file could have got its name.
    static final class NotMade extends IOException {
        private static final long serialVersionUID = 1;

        NotMade(IOException cause) {
            super(cause);
        }
    }

    /// What a file is to have.
    ///
    /// @param sha256 of the bytes, in hex
    record Content(Handover.Source source, long bytes, String sha256) {}

    /// @param own a word of this process
    RemoteFile(SftpClient client, String path, String own) {
        this.client = client;
        this.path = path;
        int name = path.lastIndexOf('/') + 1;
        part = path.substring(0, name) + "." + path.substring(name) + "." + own + ".part";
    }

    /// Makes the file, unless it is there.
    ///
    /// @return whether the file has this content now; if not, another one is there, and was left as it is
    boolean make(Content content) throws IOException {
        try {
            if (exists(path)) {
                return has(content);
            }
            write(content);
        } catch (IOException e) {
            throw new NotMade(e);
        }
        try {
            client.rename(part, path);
            return true;
        } catch (SftpException refused) {
            // Somebody else may have made the file meanwhile. If not, the server says why it cannot.
            if (!exists(path)) {
                throw new NotMade(refused);
            }
            client.remove(part);
            return has(content);
        }
    }

    private boolean exists(String file) throws IOException {
        try {
            client.lstat(file);
            return true;
        } catch (SftpException e) {
            if (e.getStatus() == SftpConstants.SSH_FX_NO_SUCH_FILE) {
                return false;
            }
            throw e;
        }
    }

    private void write(Content content) throws IOException {
        if (exists(part)) {
            client.remove(part); // Not written over: a server may still write for a connection that broke.
        }
        try (InputStream in = content.source().open();
                OutputStream out =
                        client.write(part, BUFFER_BYTES, OpenMode.Write, OpenMode.Create, OpenMode.Exclusive)) {
            in.transferTo(out);
        }
        OpenSSHFsyncExtension fsync = client.getExtension(OpenSSHFsyncExtension.class);
        if (fsync != null && fsync.isSupported()) {
            try (CloseableHandle handle = client.open(part, OpenMode.Write)) {
                fsync.fsync(handle);
            }
        }
    }

    private boolean has(Content content) throws IOException {
        SftpClient.Attributes found = client.lstat(path);
        if (!found.isRegularFile() || found.getSize() != content.bytes()) {
            return false;
        }
        MessageDigest digest = Sha256.digest();
        try (InputStream in = new DigestInputStream(client.read(path, BUFFER_BYTES), digest)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return HexFormat.of().formatHex(digest.digest()).equals(content.sha256());
    }
}
