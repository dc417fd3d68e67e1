/// HTTP over an [dev.onefold.core.Engine]: [Routes] make answers from requests, [EngineSocket] serves them on
/// the socket of a data directory, and [RemoteEngine] is the engine on the other side of the socket or of a
/// service. It is one idea: both ends of a route change together.
///
/// A package imports only those to its right:
///
///     jwt > api > sync > page > body > reading
@NullMarked
package dev.onefold.api;

import org.jspecify.annotations.NullMarked;
