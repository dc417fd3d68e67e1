package dev.onefold.aws.function;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The input that an update of State requests, and those that State has accepted: the present one and the one
/// before. All records before an accepted start were in when it was accepted. So it is accepted again at any
/// time, though nothing may prove it any more: a rollback requests it, and one that was refused would leave the
/// stack as it is.
///
/// CloudFormation keeps the name of a resource and sends it with each request. So the name is the memory:
///
///     onefold-ready INPUT FROM [INPUT FROM]       the present input, the one before
///
/// @param requested ARN and start
/// @param accepted the present one first; at most two
record AcceptedInput(String requested, List<String> accepted) {
    private static final String NAME = "onefold-ready";
    private static final int ACCEPTED_MAX = 2; // A name has 1,024 bytes at most, and an ARN some 350.

    AcceptedInput {
        accepted = List.copyOf(accepted);
    }

    static AcceptedInput of(UpdateRequest deploying) {
        String[] words = deploying.name().split(" ", -1);
        List<String> accepted = new ArrayList<>();
        for (int i = 1; i + 1 < words.length && words[0].equals(NAME); i += 2) {
            accepted.add(words[i] + " " + words[i + 1]);
        }
        return new AcceptedInput(deploying.property("Input") + " " + deploying.property("From"), accepted);
    }

    boolean isAccepted() {
        return accepted.contains(requested);
    }

    /// The name of the resource if the update is accepted. It stays as it is if the input does.
    String name() {
        return Stream.concat(Stream.of(requested), accepted.stream())
                .distinct()
                .limit(ACCEPTED_MAX)
                .collect(Collectors.joining(" ", NAME + " ", ""));
    }
}
