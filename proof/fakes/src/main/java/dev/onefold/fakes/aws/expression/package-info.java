/// The expression language of DynamoDB: conditions, updates, projections and key conditions.
@NullMarked
package dev.onefold.fakes.aws.expression;

import org.jspecify.annotations.NullMarked;
