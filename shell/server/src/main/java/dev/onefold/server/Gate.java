package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Routes.Permission;
import dev.onefold.server.flow.Rate;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// Checks the origin, the permission and the rate of requests. Is thread-safe.
final class Gate {
    private static final String BEARER = "bearer ";

    /// An issuer may have many subjects.
    private static final int CALLERS_MAX = 10_000;

    private final @Nullable Tokens tokens;
    private final int requestsPerSecond;
    private final Map<Permission, Rate> rates = new ConcurrentHashMap<>();

    Gate(Settings settings) {
        tokens = settings.tokens();
        requestsPerSecond = settings.limits().requestsPerSecond();
    }

    /// A page of another site, open in the browser of a person who may reach this service, may not use the
    /// service. A link there may lead to the live page, which holds no data.
    ///
    /// @param isPage whether the request is for the live page
    void requireSameSite(Request request, boolean isPage) throws Refusal {
        HttpFields head = request.getHeaders();
        boolean isLink = "navigate".equals(head.get("Sec-Fetch-Mode")) && "document".equals(head.get("Sec-Fetch-Dest"));
        if ("cross-site".equals(head.get("Sec-Fetch-Site")) && !(isPage && isLink)) { // Also where no origin is said.
            throw otherSite();
        }
        String origin = head.get(HttpHeader.ORIGIN);
        String host = request.getHttpURI().getAuthority();
        if (origin != null && (host == null || !isOf(origin, host))) {
            throw otherSite();
        }
        if (tokens == null && host != null && !isLocal(host)) {
            throw new Refusal(
                    403,
                    Failure.NOT_ALLOWED,
                    "The request names another host than this machine. Without tokens, ask for localhost.");
        }
    }

    private static Refusal otherSite() {
        return new Refusal(
                403, Failure.NOT_ALLOWED, "The request comes from a page of another site, which may not ask here.");
    }

    private static boolean isOf(String origin, String host) {
        try {
            return host.equals(URI.create(origin).getAuthority());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isLocal(String host) {
        String name = host.replaceFirst(":[0-9]*$", "");
        return List.of("localhost", "127.0.0.1", "[::1]").contains(name);
    }

    private static Permission known(Tokens tokens, String secret) throws Refusal {
        try {
            return tokens.permission(secret);
        } catch (IOException e) {
            throw new Refusal(
                    503, Failure.NOT_READY, "The keys of the issuer of tokens cannot be read now. Try again later.");
        }
    }

    /// The permission of the caller.
    ///
    /// @throws Refusal if the token is missing or invalid, cannot be verified now, or has sent too many requests
    Permission permission(Request request) throws Refusal {
        if (tokens == null) {
            return (_, _) -> true;
        }
        String given = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        if (given == null || !given.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            throw new Refusal(
                    401, Failure.NOT_ALLOWED, "The request has no token. Send 'Authorization: Bearer TOKEN'.");
        }
        Permission permission = known(tokens, given.substring(BEARER.length()).strip());
        if (rates.size() > CALLERS_MAX) {
            rates.clear();
        }
        Rate rate = rates.computeIfAbsent(permission, _ -> new Rate(requestsPerSecond));
        if (!rate.tryTake(System.nanoTime())) {
            throw new Refusal(
                    429,
                    Failure.BUSY,
                    "The token has sent more than " + requestsPerSecond + " requests in a second. Send more records in"
                            + " each request.");
        }
        return permission;
    }
}
