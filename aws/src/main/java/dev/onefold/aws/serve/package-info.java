/// The service as a function: requests to its URL, answered by the routes of every other way of serving.
@NullMarked
package dev.onefold.aws.serve;

import org.jspecify.annotations.NullMarked;
