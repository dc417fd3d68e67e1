package dev.onefold.cli.call;

import java.util.List;

/// One call of the command line: by whom, with which arguments.
public record Call(Caller caller, List<String> arguments) {
    public Call {
        arguments = List.copyOf(arguments);
    }
}
