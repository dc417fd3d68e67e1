package dev.onefold.api.jwt;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.BadJWSException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.jwt.proc.ExpiredJWTException;
import dev.onefold.api.Scope;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.security.Key;
import java.security.interfaces.RSAPublicKey;
import java.text.ParseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The issuer of the tokens (JWT, RFC 7519) of this service. A token is valid if it is signed with one of the
/// issuer's keys, is for this service, and has not expired. The keys are read from an address of the issuer and
/// kept. They are read again after five minutes, or when a token names an unknown key, at most twice in 30
/// seconds. While they cannot be read, the last keys are used for an hour. Is thread-safe.
///
/// The claims `scope` and `scp` of a token hold its permissions. Each claim is a text of words with blanks
/// between them, or a list, because issuers differ there. The words are `onefold:read`, `onefold:write`,
/// `onefold:operate` and `onefold:administer` for all pipelines, `onefold:read:trades` for one.
public final class Issuer {
    /// The name in a grant for all pipelines.
    public static final String ALL = "*";

    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final int TOKEN_LENGTH_MAX = 8_000;
    private static final int RSA_BITS_MIN = 2_048; // RFC 7518, 3.3.
    private static final Duration FETCH_MAX = Duration.ofSeconds(3);
    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final Duration FETCHED_EACH = Duration.ofSeconds(30);
    private static final Duration OUTAGE_MAX = Duration.ofHours(1);
    private static final String PREFIX = "onefold:";

    /// Signatures with a key pair alone. If a shared secret were allowed, the public key could be taken for
    /// one.
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512);

    private final String name;
    private final String audience;
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    private final AtomicLong warnedNanos = new AtomicLong(System.nanoTime() - FETCHED_EACH.toNanos());
    private final AtomicLong notedNanos = new AtomicLong(System.nanoTime() - FETCHED_EACH.toNanos());
    private final AtomicLong unnoted = new AtomicLong();
    private volatile boolean hasKeys; // Whether they could be read the last time.

    /// The verdict on a token: its claims if it is valid, or the reason for its refusal.
    public sealed interface Verdict permits Claims, Reason {}

    /// One thing that a token allows.
    ///
    /// @param pipeline its name, or [#ALL]
    public record Grant(Scope scope, String pipeline) {}

    /// The claims of a valid token: its subject and its grants.
    public record Claims(String subject, Set<Grant> grants) implements Verdict {
        public Claims {
            grants = Set.copyOf(grants);
        }

        /// Whether it allows this.
        public boolean allows(String pipeline, Scope scope) {
            return grants.contains(new Grant(scope, ALL)) || grants.contains(new Grant(scope, pipeline));
        }
    }

    /// @param name as tokens have it in their claim `iss`
    /// @param audience this service, as tokens have it in their claim `aud`
    /// @param keys address of the issuer's keys, as a JSON Web Key Set (RFC 7517)
    /// @throws IllegalArgumentException if somebody else could give other keys on the way
    public Issuer(String name, String audience, URI keys) {
        this(name, audience, keys, new Times(KEPT, FETCHED_EACH, OUTAGE_MAX));
    }

    /// @param kept before they are read again
    /// @param fetchedEach in which they are read twice at most
    /// @param outageMax for which they are good while they cannot be read
    record Times(Duration kept, Duration fetchedEach, Duration outageMax) {}

    Issuer(String name, String audience, URI keys, Times times) {
        this(name, audience, fetched(keys, times));
    }

    private Issuer(String name, String audience, JWKSource<SecurityContext> keys) {
        this.name = name;
        this.audience = audience;
        JWSKeySelector<SecurityContext> selector = new JWSVerificationKeySelector<>(ALGORITHMS, keys);
        processor.setJWSKeySelector((header, context) -> strong(selector, header, context));
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                audience, new JWTClaimsSet.Builder().issuer(name).build(), Set.of("exp", "sub")));
    }

    /// The same with keys that are known.
    ///
    /// @param keys a JSON Web Key Set; private parts in it are left out
    /// @throws IllegalArgumentException if it cannot be read, or has no keys
    public static Issuer withKeys(String name, String audience, String keys) {
        try {
            JWKSet set = JWKSet.parse(keys).toPublicJWKSet();
            if (set.isEmpty()) {
                throw new IllegalArgumentException("The keys of an issuer are given as a JSON Web Key Set without one");
            }
            return new Issuer(name, audience, new ImmutableJWKSet<>(set));
        } catch (ParseException e) {
            throw new IllegalArgumentException(
                    "The keys of an issuer are neither an address nor a JSON Web Key Set", e);
        }
    }

    private static JWKSource<SecurityContext> fetched(URI keys, Times times) {
        boolean isLocal = List.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(keys.getHost()));
        if (!"https".equals(keys.getScheme()) && !("http".equals(keys.getScheme()) && isLocal)) {
            throw new IllegalArgumentException("The keys of an issuer are read by https: " + keys + " is not");
        }
        try {
            return JWKSourceBuilder.create(keys.toURL(), new KeysAddress(FETCH_MAX))
                    .cache(times.kept.toMillis(), 2 * FETCH_MAX.toMillis())
                    .refreshAheadCache(false)
                    .rateLimited(times.fetchedEach.toMillis())
                    .outageTolerant(times.outageMax.toMillis())
                    .build();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("The address of the issuer's keys cannot be read: " + keys, e);
        }
    }

    private List<? extends Key> strong(
            JWSKeySelector<SecurityContext> selector, JWSHeader header, SecurityContext context)
            throws KeySourceException {
        List<? extends Key> keys = selector.selectJWSKeys(header, context);
        hasKeys |= !keys.isEmpty();
        List<? extends Key> strong = keys.stream()
                .filter(key ->
                        !(key instanceof RSAPublicKey rsa) || rsa.getModulus().bitLength() >= RSA_BITS_MIN)
                .toList();
        if (strong.isEmpty()) {
            throw new NoKey();
        }
        return strong;
    }

    /// No key of the issuer fits a token.
    private static final class NoKey extends KeySourceException {
        private static final long serialVersionUID = 1;

        NoKey() {
            super("No key fits");
        }
    }

    /// Whether a text may be such a token.
    public static boolean isToken(String text) {
        return text.length() <= TOKEN_LENGTH_MAX
                && text.chars().filter(c -> c == '.').count() == 2;
    }

    /// Verifies a token.
    ///
    /// @throws IOException if the keys of the issuer cannot be read
    public Verdict verdict(String token) throws IOException {
        Verdict verdict = judged(token);
        if (verdict instanceof Reason reason) {
            note(reason);
        }
        return verdict;
    }

    private Verdict judged(String token) throws IOException {
        try {
            SignedJWT signed = SignedJWT.parse(token);
            try {
                return verdict(processor.process(signed, null));
            } catch (BadJWTException e) { // The issuer has signed it.
                return reason(signed.getJWTClaimsSet(), e);
            }
        } catch (RateLimitReachedException e) {
            if (!hasKeys) {
                throw new IOException("The keys of the issuer could not be read a moment ago", e);
            }
            return Reason.UNKNOWN_KEY; // It names a key that was not there a moment ago.
        } catch (NoKey e) {
            return Reason.UNKNOWN_KEY;
        } catch (KeySourceException e) {
            hasKeys = false;
            if (isDue(warnedNanos)) { // Otherwise each request with a token would log it while the issuer is away.
                LOG.log(
                        System.Logger.Level.WARNING,
                        "The keys of the issuer of tokens cannot be read: " + e.getMessage());
            }
            throw new IOException("The keys of the issuer cannot be read", e);
        } catch (BadJWSException | JOSEException e) {
            return Reason.BAD_SIGNATURE;
        } catch (ParseException | BadJOSEException e) {
            return Reason.MALFORMED;
        }
    }

    private static Verdict verdict(JWTClaimsSet claims) {
        String subject = claims.getSubject();
        if (subject == null || claims.getExpirationTime() == null) {
            return Reason.MISSING_CLAIM; // A claim that is null is there for the library, and says nothing.
        }
        Set<Grant> grants = grants(claims);
        return grants.isEmpty() ? Reason.NO_SCOPE : new Claims(subject, grants);
    }

    private Reason reason(JWTClaimsSet refused, BadJWTException e) {
        if (!name.equals(refused.getIssuer())) {
            return Reason.UNKNOWN_ISSUER;
        }
        if (!refused.getAudience().contains(audience)) {
            return Reason.WRONG_AUDIENCE;
        }
        if (refused.getSubject() == null || refused.getExpirationTime() == null) {
            return Reason.MISSING_CLAIM;
        }
        return e instanceof ExpiredJWTException ? Reason.EXPIRED : Reason.NOT_YET_VALID;
    }

    /// Anybody may send a token, so a line of the log is for many of them.
    private void note(Reason reason) {
        unnoted.incrementAndGet();
        if (isDue(notedNanos)) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "Tokens were refused, " + unnoted.getAndSet(0) + " since the last such line, the last of them for"
                            + " this reason: " + reason.words());
        }
    }

    private static boolean isDue(AtomicLong lastNanos) {
        long now = System.nanoTime();
        long last = lastNanos.get();
        return now - last >= FETCHED_EACH.toNanos() && lastNanos.compareAndSet(last, now);
    }

    private static Stream<String> words(@Nullable Object claim) {
        return switch (claim) {
            case String words -> Arrays.stream(words.split(" ", -1));
            case Collection<?> list ->
                list.stream().filter(String.class::isInstance).map(String.class::cast);
            case null, default -> Stream.empty();
        };
    }

    private static Set<Grant> grants(JWTClaimsSet claims) {
        Set<Grant> grants = new HashSet<>();
        for (String word : Stream.of("scope", "scp")
                .flatMap(name -> words(claims.getClaim(name)))
                .toList()) {
            if (word.startsWith(PREFIX)) {
                String[] parts = word.substring(PREFIX.length()).split(":", 2);
                Stream.of(Scope.values())
                        .filter(scope -> scope.word().equals(parts[0]))
                        .forEach(scope -> grants.add(new Grant(scope, parts.length == 1 ? ALL : parts[1])));
            }
        }
        return grants;
    }
}
