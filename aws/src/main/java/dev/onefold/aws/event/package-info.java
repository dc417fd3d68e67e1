/// The events that functions are invoked with, decoded: the JSON of an event source mapping becomes arrivals,
/// whole and in their order, or messages of a queue. Nothing is decided here.
@NullMarked
package dev.onefold.aws.event;

import org.jspecify.annotations.NullMarked;
