package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import dev.onefold.api.jwt.Issuer;
import dev.onefold.api.jwt.Reason;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The tokens of callers and their permissions. A token is a secret text, made of 256 random bits. Only its
/// SHA-256 is kept, from which the text cannot be found. Is thread-safe.
///
/// The file of tokens has one line for each: its name, its hash, its scopes and its pipelines, with blanks
/// between them, the latter two with commas. Empty lines and lines that begin with `#` are passed over:
///
///     desk 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 read trades,orders
public final class Tokens {
    /// The name in a token's line for all pipelines.
    public static final String ALL = "*";

    private static final int SECRET_BYTES = 32;
    private static final String HASH = "[0-9a-f]{64}";
    private static final String NAME = "[A-Za-z0-9._-]{1,100}";
    private static final int WORDS = 4;

    private final List<Token> all;
    private final @Nullable Issuer issuer;

    private record Token(byte[] hash, Set<Scope> scopes, Set<String> pipelines) implements Permission {
        @Override
        public boolean allows(String pipeline, Scope scope) {
            return scopes.contains(scope) && (pipelines.contains(ALL) || pipelines.contains(pipeline));
        }
    }

    /// The permission by an issuer's token. The permissions of two tokens are equal if subject and grants are
    /// equal.
    private record Signed(Issuer.Claims claims) implements Permission {
        @Override
        public boolean allows(String pipeline, Scope scope) {
            return claims.allows(pipeline, scope);
        }
    }

    private Tokens(List<Token> all, @Nullable Issuer issuer) {
        this.all = List.copyOf(all);
        this.issuer = issuer;
    }

    /// Tokens that an issuer signs (JWT), and no others.
    ///
    /// @param name as tokens have it in their claim `iss`
    /// @param audience this service, as tokens have it in their claim `aud`
    /// @param keys address of the issuer's keys, as a JSON Web Key Set
    /// @throws IllegalArgumentException if somebody else could give other keys on the way
    public static Tokens signedBy(String name, String audience, URI keys) {
        return new Tokens(List.of(), new Issuer(name, audience, keys));
    }

    /// These tokens, and those that an issuer signs.
    ///
    /// @throws IllegalArgumentException if somebody else could give other keys on the way
    public Tokens orSignedBy(String name, String audience, URI keys) {
        return new Tokens(all, new Issuer(name, audience, keys));
    }

    /// Reads a file of tokens.
    ///
    /// @throws IllegalArgumentException if a line cannot be read; the message has its number and never its text
    public static Tokens read(List<String> lines) {
        List<Token> all = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                all.add(token(line, i + 1));
            }
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException("The file of tokens has none. 'onefold token NAME' makes one");
        }
        return new Tokens(all, null);
    }

    private static Token token(String line, int number) {
        String[] words = line.split("\\s+", -1);
        if (words.length != WORDS || !words[0].matches(NAME) || !words[1].matches(HASH)) {
            throw new IllegalArgumentException("Line " + number + " of the file of tokens is not NAME HASH SCOPES"
                    + " PIPELINES. 'onefold token NAME' makes such a line");
        }
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        for (String word : words[2].split(",", -1)) {
            scopes.add(
                    Stream.of(Scope.values())
                            .filter(scope -> scope.word().equals(word))
                            .findFirst()
                            .orElseThrow(
                                    () -> new IllegalArgumentException(
                                            "Line " + number
                                                    + " of the file of tokens has an unknown scope; there are read, write, operate and administer")));
        }
        return new Token(HexFormat.of().parseHex(words[1]), scopes, Set.copyOf(List.of(words[3].split(",", -1))));
    }

    /// The permission of the caller that sends a secret. The check takes as long for a wrong secret as for a
    /// right one.
    ///
    /// @throws Refusal if the secret is not a valid token
    /// @throws IOException if the keys of the issuer cannot be read
    Permission permission(String secret) throws IOException, Refusal {
        if (issuer != null && Issuer.isToken(secret)) {
            return switch (issuer.verdict(secret)) {
                case Issuer.Claims claims -> new Signed(claims);
                case Reason reason -> throw new Refusal(reason);
            };
        }
        byte[] hash = hash(secret);
        Token found = null;
        for (Token token : all) {
            found = MessageDigest.isEqual(token.hash, hash) ? token : found;
        }
        if (found == null) {
            throw new Refusal(401, Failure.NOT_ALLOWED, "The token is not known here.");
        }
        return found;
    }

    private static byte[] hash(String secret) {
        return Sha256.digest().digest(secret.getBytes(StandardCharsets.UTF_8));
    }

    /// A new secret.
    public static String secret(SecureRandom random) {
        byte[] bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /// The line that lets a secret in.
    ///
    /// @throws IllegalArgumentException if a name has characters that the line cannot hold
    public static String line(String name, String secret, Set<Scope> scopes, List<String> pipelines) {
        String line = name + " " + HexFormat.of().formatHex(hash(secret)) + " "
                + String.join(",", scopes.stream().sorted().map(Scope::word).toList()) + " "
                + String.join(",", pipelines);
        read(List.of(line));
        return line;
    }
}
