package dev.onefold.local.gate;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Who may do what. A caller says by its access key which role it has.
///
/// @param accessKey letters and digits
/// @param statements what is allowed; `null` allows everything, to whoever runs the stack
public record Role(String name, String accessKey, @Nullable List<Statement> statements) {
    /// Of whoever runs the stack: commands, producers and tests.
    public static final Role OPERATOR = new Role("Operator", "OPERATOR", null);

    /// Allows some actions on some resources.
    ///
    /// @param resources names; a `*` at the end stands for anything
    public record Statement(String id, List<String> actions, List<String> resources) {
        public Statement {
            actions = List.copyOf(actions);
            resources = List.copyOf(resources);
        }

        boolean allows(Need need) {
            return actions.contains(need.action())
                    && resources.stream().anyMatch(name -> matches(name, need.resource()));
        }

        private static boolean matches(String pattern, String resource) {
            return pattern.endsWith("*")
                    ? resource.startsWith(pattern.substring(0, pattern.length() - 1))
                    : resource.equals(pattern);
        }
    }

    /// One permission that a request needs.
    ///
    /// @param action as a role names it, such as `dynamodb:PutItem`
    /// @param resource its name for all of AWS
    public record Need(String action, String resource) {}

    public Role {
        statements = statements == null ? null : List.copyOf(statements);
    }

    boolean allowsAll() {
        return statements == null;
    }

    /// The statement that allows it.
    Optional<Statement> allowing(Need need) {
        return statements == null
                ? Optional.empty()
                : statements.stream()
                        .filter(statement -> statement.allows(need))
                        .findFirst();
    }
}
