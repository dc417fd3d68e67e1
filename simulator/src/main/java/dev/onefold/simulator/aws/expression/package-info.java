/// The expression language of DynamoDB: conditions, updates, projections and key conditions.
@NullMarked
package dev.onefold.simulator.aws.expression;

import org.jspecify.annotations.NullMarked;
