package dev.onefold.sftp;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching.Destination;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The place of a pipeline's files.
///
/// @param path with [Destination#NUMBER] in the place of the batch's number; one that does not begin with `/` is below
///     the folder in which the server begins
record SftpAddress(String user, String host, int port, String path) {
    private static final Pattern ADDRESS =
            Pattern.compile("sftp://(?<user>[^/@]+)@(?<host>\\[[^/\\]]+\\]|[^/:]+)(:(?<port>[0-9]{1,5}))?(?<path>/.+)");
    private static final int PORT_DEFAULT = 22;
    private static final int PORT_MAX = 65_535;
    private static final String HOME = "/~/";

    /// The address that a pipeline file has.
    ///
    /// @throws IllegalArgumentException if it is not valid
    static SftpAddress of(Destination destination) {
        String text = destination.target().getFirst();
        Matcher parts = ADDRESS.matcher(text);
        int port =
                parts.matches() && parts.group("port") != null ? Integer.parseInt(parts.group("port")) : PORT_DEFAULT;
        if (!parts.matches() || port < 1 || port > PORT_MAX) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not an address. Write it like sftp://user@host:22/drop/quakes-{number}.ndjson");
        }
        String host = parts.group("host").replaceAll("[\\[\\]]", "");
        String path = parts.group("path");
        return new SftpAddress(
                parts.group("user"), host, port, path.startsWith(HOME) ? path.substring(HOME.length()) : path);
    }

    String path(BatchNumber number) {
        return path.replace(Destination.NUMBER, number.toString());
    }

    /// For messages.
    String at(String file) {
        return file + " on " + host;
    }
}
