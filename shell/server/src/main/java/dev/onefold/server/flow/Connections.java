package dev.onefold.server.flow;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// The connections of a service. There is always room for one more: if there are as many as may be, the one that has
/// been silent for longest is closed, of those without a request under way. One address has half of all places at most,
/// so that one client cannot take every place from the others. Any thread may call.
public final class Connections implements Connection.Listener {
    private final int countMax;
    private final Set<InetAddress> proxies;
    private final Map<AbstractEndPoint, Open> open = new HashMap<>();
    private final Map<SocketAddress, Open> byRemote = new HashMap<>();
    private final Map<InetAddress, Integer> ofAddress = new HashMap<>();

    private static final class Open {
        private final AbstractEndPoint end;
        private final SocketAddress remote; // A closed end does not know it any more.
        private final InetAddress address;
        private int requests;

        private Open(AbstractEndPoint end, InetSocketAddress remote) {
            this.end = end;
            this.remote = remote;
            address = remote.getAddress();
        }
    }

    /// @param countMax how many there are at most
    /// @param proxies addresses through which many clients come: they may have all places
    public Connections(int countMax, Set<InetAddress> proxies) {
        this.countMax = countMax;
        this.proxies = Set.copyOf(proxies);
    }

    /// The end of a connection of the network; `null` for the inner half of one with TLS.
    private static @Nullable AbstractEndPoint end(Connection connection) {
        return connection.getEndPoint() instanceof AbstractEndPoint end && !(end instanceof EndPoint.Wrapper)
                ? end
                : null;
    }

    @Override
    public void onOpened(Connection connection) {
        AbstractEndPoint end = end(connection);
        if (end != null && end.getRemoteSocketAddress() instanceof InetSocketAddress remote) {
            AbstractEndPoint toClose = add(end, remote);
            if (toClose != null) {
                toClose.close();
            }
        }
    }

    /// Notes a connection.
    ///
    /// @return the one that has to go for it, which may be itself; `null` if there is room
    private synchronized @Nullable AbstractEndPoint add(AbstractEndPoint end, InetSocketAddress remote) {
        InetAddress address = remote.getAddress();
        boolean isShareTaken =
                !proxies.contains(address) && ofAddress.getOrDefault(address, 0) >= Math.max(countMax / 2, 1);
        AbstractEndPoint toClose = null;
        if (isShareTaken || open.size() >= countMax) {
            Optional<Open> silent = open.values().stream()
                    .filter(each -> each.requests == 0 && (!isShareTaken || each.address.equals(address)))
                    .max(Comparator.comparingLong(each -> each.end.getIdleFor()));
            if (silent.isEmpty()) {
                return end;
            }
            toClose = silent.get().end;
            remove(toClose);
        }
        Open opened = new Open(end, remote);
        open.put(end, opened);
        byRemote.put(remote, opened);
        ofAddress.merge(address, 1, Integer::sum);
        return toClose;
    }

    @Override
    public void onClosed(Connection connection) {
        AbstractEndPoint end = end(connection);
        if (end != null) {
            remove(end);
        }
    }

    private synchronized void remove(AbstractEndPoint end) {
        Open closed = open.remove(end);
        if (closed != null) {
            byRemote.remove(closed.remote, closed);
            ofAddress.computeIfPresent(closed.address, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    /// How many are open.
    synchronized int count() {
        return open.size();
    }

    /// Counts a request as under way, until it is answered.
    public void count(Request request) {
        SocketAddress remote = request.getConnectionMetaData().getRemoteSocketAddress();
        Open of;
        synchronized (this) {
            of = byRemote.get(remote);
            if (of == null) {
                return;
            }
            of.requests++;
        }
        Request.addCompletionListener(request, _ -> end(of));
    }

    private synchronized void end(Open of) {
        of.requests--;
    }
}
