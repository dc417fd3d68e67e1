package dev.onefold.sftp;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.receivers.Handover;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClient.CloseableHandle;
import org.apache.sshd.sftp.client.SftpClient.OpenMode;
import org.apache.sshd.sftp.client.extensions.openssh.OpenSSHFsyncExtension;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.common.SftpException;

/// Makes a file on a server whole or not at all, and never in the place of another one.
///
///     .NAME.ID.part   written under a new ID, forced if the server can (`fsync@openssh.com`)
///     NAME            the part, renamed; version 3 of the protocol refuses that if there is a NAME
///
/// Before the rename there is no NAME, so every failure until then has no effect. A server may execute the
/// rename of a broken connection at any later time. So each attempt has a part of its own: a late rename
/// gives NAME the content that its attempt has written whole, or finds that its part is removed. It never
/// publishes a part that another attempt has half written.
final class RemoteFile {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final SecureRandom RANDOM = new SecureRandom();

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

    /// The content that a file is to have.
    ///
    /// @param sha256 SHA-256 of the bytes, in hex
    record Content(Handover.Source source, long bytes, String sha256) {}

    /// @param path of the file
    /// @param part see [#part]
    RemoteFile(SftpClient client, String path, String part) {
        this.client = client;
        this.path = path;
        this.part = part;
    }

    /// A path for the part of a file, which no attempt had before.
    static String part(String path) {
        int name = path.lastIndexOf('/') + 1;
        return path.substring(0, name) + "." + path.substring(name) + "."
                + HexFormat.of().toHexDigits(RANDOM.nextLong()) + ".part";
    }

    /// The pattern of the names of parts, without their folder.
    ///
    /// @param names pattern of the names of the files
    static Pattern parts(Pattern names) {
        return Pattern.compile("\\.(?:" + names.pattern() + ")\\.[0-9a-f]{8,16}\\.part");
    }

    /// Makes the file, unless it is there.
    ///
    /// @return whether the file has this content now; if not, another one is there, and was left as it is
    boolean make(Content content) throws IOException {
        boolean isThere;
        try {
            isThere = exists(path);
            if (!isThere) {
                write(content);
            }
        } catch (IOException e) {
            throw new NotMade(e);
        }
        if (isThere) {
            return has(content);
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
