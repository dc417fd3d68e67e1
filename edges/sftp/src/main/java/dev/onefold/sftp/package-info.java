/// Batches to an SFTP server: [SftpReceiver] writes each as a file that is never replaced.
@NullMarked
package dev.onefold.sftp;

import org.jspecify.annotations.NullMarked;
