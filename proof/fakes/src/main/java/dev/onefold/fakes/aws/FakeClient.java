package dev.onefold.fakes.aws;

import software.amazon.awssdk.core.SdkClient;

/// A client of the SDK that holds nothing, so that there is nothing to close.
public interface FakeClient extends SdkClient {
    @Override
    default String serviceName() {
        return "fake";
    }

    @Override
    default void close() {}
}
