/// The receiver of batches that writes files on an SFTP server.
@SuppressWarnings({"module", "requires-automatic"})
module dev.onefold.sftp {
    requires transitive dev.onefold.receivers;
    requires org.apache.sshd.osgi;
    requires org.apache.sshd.sftp;
    requires org.bouncycastle.pkix; // The library looks for it by name.
    requires static org.jspecify;

    exports dev.onefold.sftp to
            dev.onefold.cli;
}
