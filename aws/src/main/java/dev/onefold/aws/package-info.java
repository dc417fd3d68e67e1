/// The runtime on AWS: Kinesis, Lambda, DynamoDB and SQS are the distributed engine.
@NullMarked
package dev.onefold.aws;

import org.jspecify.annotations.NullMarked;
