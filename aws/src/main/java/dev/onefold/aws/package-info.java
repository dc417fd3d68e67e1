/// The runtime on AWS: Kinesis, Lambda, DynamoDB and SQS are the distributed engine.
///
/// A package imports only those to its right:
///
///     function > template > upkeep > serve > aws > resync > stream > publication > read > reduce >
///     state > batch > content > letter > item > store > event
@NullMarked
package dev.onefold.aws;

import org.jspecify.annotations.NullMarked;
