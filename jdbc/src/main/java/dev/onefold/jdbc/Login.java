package dev.onefold.jdbc;

import dev.onefold.receivers.Context;
import java.util.Optional;
import java.util.Properties;

/// How a connection begins. A database that takes the connection and says nothing, as one does that hangs, is not
/// waited for: the driver of PostgreSQL has limits of its own for that, none of them set, and a limit on a connection
/// can be set only when there is one. Parameters in the address go before these.
final class Login {
    /// Until there is a connection.
    private static final String SECONDS_MAX = "10";

    private Login() {}

    /// The properties that the driver gets.
    ///
    /// @param password the environment variable that has the password
    /// @throws IllegalArgumentException if the variable is not set
    static Properties of(
            String address, Optional<String> user, Optional<String> password, Context.Environment environment) {
        Properties login = new Properties();
        if (address.startsWith("jdbc:postgresql:")) {
            login.setProperty("connectTimeout", SECONDS_MAX);
            login.setProperty("loginTimeout", SECONDS_MAX); // Of several answers, also of a second try without TLS.
            login.setProperty("socketTimeout", SECONDS_MAX); // Or the thread that the driver leaves then would wait on.
            login.setProperty("tcpKeepAlive", "true");
        }
        user.ifPresent(name -> login.setProperty("user", name));
        password.ifPresent(variable -> {
            String value = environment.get(variable);
            if (value == null) {
                throw new IllegalArgumentException(
                        "The environment variable " + variable + " is not set. It holds the password of the database");
            }
            login.setProperty("password", value);
        });
        return login;
    }
}
