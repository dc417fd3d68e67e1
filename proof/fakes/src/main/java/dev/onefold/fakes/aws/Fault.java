package dev.onefold.fakes.aws;

/// What goes wrong with a request. Of all but the last three, an attempt meets at most one.
public enum Fault {
    /// The request never arrives, and the client hears nothing.
    REQUEST_LOST,
    /// The request is done, and the client hears nothing.
    REPLY_LOST,
    /// The client gives up, and the request is done long after.
    ZOMBIE,
    /// The service has had enough for now; of a transaction, one item may be the reason.
    THROTTLED,
    /// The service fails, and the request is not done.
    ERROR_BEFORE,
    /// The service fails, and the request is done.
    ERROR_AFTER,
    /// Somebody else's transaction holds one of the items.
    CONFLICT,
    /// Per item of a batch: it stays unprocessed.
    UNPROCESSED,
    /// Per page of a query: it has no items, and the key of a place before the first one, as at the border of a
    /// partition whose items are gone.
    EMPTY_PAGE,
    /// Per request in flight when its client is killed: it is not done any more.
    DIES_WITH_CLIENT
}
