/// Items as DynamoDB keeps them: canonical values, their order and size, keys, and how a request is refused.
@NullMarked
package dev.onefold.fakes.aws.item;

import org.jspecify.annotations.NullMarked;
