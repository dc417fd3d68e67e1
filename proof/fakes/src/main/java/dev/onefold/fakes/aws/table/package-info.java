/// Tables in memory and every operation on them, each at one instant: no delay, no fault, no chance.
@NullMarked
package dev.onefold.fakes.aws.table;

import org.jspecify.annotations.NullMarked;
