package dev.onefold.core.event;

import dev.onefold.core.pipeline.Input.Format.Debezium;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The logs whose changes a pipeline reads, each by the name of its connector, and the servers of MySQL and
/// MariaDB that the file names for them. Positions in the binary logs of two servers have no order.
///
/// @param isStrict whether the file has to name the server
record LogNames(List<String> logs, List<String> names, boolean isStrict) {
    LogNames(Debezium format, boolean isStrict) {
        this(format.logs(), format.logNames(), isStrict);
    }

    /// Of a log, by its name; below 0 if it is not one of these.
    int generation(String log) {
        return names.isEmpty() ? 0 : names.indexOf(log);
    }

    Malformed unlisted(String log) {
        return new Malformed(
                Reason.REFUSED,
                "The change " + (log.isEmpty() ? "names no log" : "is of the log '" + log + "'")
                        + " (source.name), which is none of input.logs: " + String.join(", ", names)
                        + ". If that log began behind these, add it at the end");
    }

    /// That a change is of a server that the file does not name; `null` if it is not.
    ///
    /// @param server as the change names it; the rows of a snapshot have 0
    @Nullable
    Malformed otherServer(String log, @Nullable BigInteger server) {
        if (server == null || server.signum() == 0 || log.isEmpty()) {
            return null;
        }
        String change = log + Debezium.SERVER + server;
        if (logs.contains(change)) {
            return null;
        }
        List<String> named = logs.stream()
                .filter(each ->
                        each.length() > log.length() && Debezium.logName(each).equals(log))
                .toList();
        if (named.isEmpty() && !isStrict) {
            return null;
        }
        String says = "The change is of the server " + server + " (source.server_id) of the log " + log + ", and ";
        String all = String.join(", ", logs);
        if (named.isEmpty()) {
            String advice = logs.isEmpty()
                    ? change
                    : String.join(
                            ", ",
                            logs.stream()
                                    .map(each -> each.equals(log) ? change : each)
                                    .toList());
            return new Malformed(
                    Reason.REFUSED,
                    says
                            + "the pipeline file names no server: the one behind a failover has other positions. Write under"
                            + " input: 'logs: [" + advice + "]'");
        }
        return new Malformed(
                Reason.REFUSED,
                says + "input.logs has " + String.join(", ", named) + ". Positions of two servers have no order: let a"
                        + " connector with a new topic.prefix read the new server, and add it at the end, as in 'logs: ["
                        + all + ", " + log + "-2" + Debezium.SERVER + server
                        + "]'. If one binary log has the changes of both, as a replica's may, write 'logs: [" + all
                        + ", "
                        + change + "]'");
    }
}
