/// What a receiver of batches in Java needs. It has no dependency.
module dev.onefold.batch {
    requires static org.jspecify;

    exports dev.onefold.batch;
}
