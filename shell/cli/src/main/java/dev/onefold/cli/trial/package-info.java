/// `onefold demo`, `onefold generate`, `onefold aws trial` and `onefold aws clean`: generated load is fed to an engine,
/// and
/// the engine's totals are compared with those of the producer. It is one idea: the commands share the load and its
/// pace, the comparison and the stand-ins for AWS.
@NullMarked
package dev.onefold.cli.trial;

import org.jspecify.annotations.NullMarked;
