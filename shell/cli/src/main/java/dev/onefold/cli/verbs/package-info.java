/// The everyday verbs on an engine, each written once, whether the engine runs here or in another process.
@NullMarked
package dev.onefold.cli.verbs;

import org.jspecify.annotations.NullMarked;
