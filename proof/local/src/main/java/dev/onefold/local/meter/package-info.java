/// What was asked of the services and how much of it, minute by minute, as CloudWatch counts it.
@NullMarked
package dev.onefold.local.meter;

import org.jspecify.annotations.NullMarked;
