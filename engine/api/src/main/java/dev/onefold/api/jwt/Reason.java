package dev.onefold.api.jwt;

import dev.onefold.api.Failure;
import java.util.Locale;

/// The reason to refuse a token, as its sender learns it (RFC 6750, 3.1). The claims of a token are judged only
/// if the issuer has signed it, so no other sender learns which claims would be accepted.
public enum Reason implements Issuer.Verdict {
    MALFORMED("is no JWT that is signed with a key pair, or has another type ('typ')"),
    UNKNOWN_KEY(
            "is signed with a key or an algorithm that is not taken here: it is of another issuer, or its key is new and"
                    + " will be known within 30 seconds"),
    BAD_SIGNATURE("has a signature that is not of the key that it names"),
    UNKNOWN_ISSUER("is of another issuer ('iss') than the one that is trusted here"),
    WRONG_AUDIENCE("is for another audience ('aud') than this service"),
    MISSING_CLAIM("does not say until when it is good ('exp') or for whom it is ('sub')"),
    EXPIRED("has expired ('exp')"),
    NOT_YET_VALID("is not valid yet ('nbf')"),
    NO_SCOPE("allows nothing here: neither 'scope' nor 'scp' has a word such as 'onefold:read'");

    private static final int UNAUTHORIZED = 401;

    private final String sentence;

    Reason(String sentence) {
        this.sentence = sentence;
    }

    /// The reason in a word or three.
    public String words() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// The failure that is the answer to the sender of the token.
    public Failure failure() {
        return new Failure(
                UNAUTHORIZED,
                Failure.NOT_ALLOWED,
                "The token " + sentence + ".",
                "error=\"invalid_token\", error_description=\"" + words() + "\"");
    }
}
