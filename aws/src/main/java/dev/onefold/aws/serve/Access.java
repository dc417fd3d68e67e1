package dev.onefold.aws.serve;

import dev.onefold.api.Failure;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import dev.onefold.api.jwt.Issuer;
import dev.onefold.api.jwt.Reason;
import dev.onefold.aws.event.UrlRequest;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;

/// The callers that are let in. No form of it lets everybody in.
public sealed interface Access {
    /// Callers whose signature Lambda has checked: they may read, and write where the deployment takes records.
    record Signed() implements Access {}

    /// Callers with a token of an issuer: they may do what it says.
    record Tokens(Issuer issuer) implements Access {}

    /// Access as a deployment has it.
    ///
    /// @param issuer as tokens name it; empty, with the other two, for [Signed]
    /// @param audience this service, as tokens name it
    /// @param keys address of the issuer's keys, or the keys, as a JSON Web Key Set
    /// @throws IllegalArgumentException if only some are said, or one cannot be
    static Access of(String issuer, String audience, String keys) {
        if (issuer.isEmpty() && audience.isEmpty() && keys.isEmpty()) {
            return new Signed();
        }
        if (issuer.isEmpty() || audience.isEmpty() || keys.isEmpty()) {
            throw new IllegalArgumentException("Tokens need an issuer, an audience and keys, and one of the three is"
                    + " missing: nobody is let in. Deploy with ServeJwtIssuer, ServeJwtAudience and ServeJwtKeys.");
        }
        return new Tokens(
                keys.startsWith("{")
                        ? Issuer.withKeys(issuer, audience, keys)
                        : new Issuer(issuer, audience, URI.create(keys)));
    }

    /// Why a request is refused before it is looked at; empty if it is not.
    default Optional<Failure> refusal(UrlRequest request) {
        return this instanceof Signed && !request.isSigned()
                ? Optional.of(new Failure(
                        403,
                        Failure.NOT_ALLOWED,
                        "The request is not signed, and this function is for callers that AWS has checked. Its URL must"
                                + " have the type AWS_IAM."))
                : Optional.empty();
    }

    /// The permission of the caller of a request.
    ///
    /// @throws Refused if the caller may do nothing
    default Permission permission(UrlRequest request) {
        return switch (this) {
            case Signed _ -> (_, scope) -> scope == Scope.READ || scope == Scope.WRITE;
            case Tokens(Issuer issuer) -> {
                Issuer.Claims claims = Bearer.claims(request, issuer);
                yield claims::allows;
            }
        };
    }

    /// Tokens in the head of a request.
    final class Bearer {
        private static final String SCHEME = "bearer ";

        private Bearer() {}

        private static Issuer.Claims claims(UrlRequest request, Issuer issuer) {
            String field = request.header("Authorization").orElse("");
            if (!field.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
                throw refused(401, "The request has no token. Send it as 'Authorization: Bearer TOKEN'.");
            }
            String token = field.substring(SCHEME.length()).strip();
            try {
                if (!Issuer.isToken(token)) {
                    throw refused(401, "The token is not known here.");
                }
                return switch (issuer.verdict(token)) {
                    case Issuer.Claims claims -> claims;
                    case Reason reason -> throw new Refused(reason.failure());
                };
            } catch (IOException e) {
                throw new Refused(new Failure(
                        503,
                        Failure.NOT_READY,
                        "The keys of the issuer of tokens cannot be read now. Try again later."));
            }
        }

        private static Refused refused(int status, String detail) {
            return new Refused(new Failure(status, Failure.NOT_ALLOWED, detail));
        }
    }
}
