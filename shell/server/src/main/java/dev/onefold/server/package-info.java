/// [HttpService] serves engines by HTTP/1.1 and HTTP/2: the routes of [dev.onefold.api.Routes] behind tokens and
/// limits.
///
/// A package imports only those to its right:
///
///     server > page > flow
@NullMarked
package dev.onefold.server;

import org.jspecify.annotations.NullMarked;
