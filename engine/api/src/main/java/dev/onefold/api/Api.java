package dev.onefold.api;

/// The version of the API. A client sends it with each request: an older engine answers a newer client as far as it
/// can; a client that is older than the engine is refused.
final class Api {
    /// The version of the answers. It rises when an answer changes in a way that an older client would
    /// misread.
    static final int LEVEL = 1;

    static final String LEVEL_HEADER = "onefold-api";
    static final String VERSION_HEADER = "onefold-version";

    /// Names one opening of a data directory; a request that names another one is refused.
    static final String OWNER_HEADER = "onefold-owner";

    private Api() {}

    /// The version of Onefold that the build wrote into the jar.
    static String version() {
        String version = Api.class.getPackage().getImplementationVersion();
        return version == null ? "unpackaged" : version;
    }
}
