package dev.onefold.jdbc;

import dev.onefold.receivers.Context;
import java.util.Optional;
import java.util.Properties;

/// The limits of a login. A database that hangs takes the connection and never answers: it is not waited for.
/// PostgreSQL's driver has limits for that, none of them set, and a limit on a connection can be set only when
/// there is one. Parameters in the address override these.
final class Login {
    /// The limit until there is a connection.
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
            login.setProperty("socketTimeout", SECONDS_MAX); // Or the thread that the driver leaves would wait on.
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
