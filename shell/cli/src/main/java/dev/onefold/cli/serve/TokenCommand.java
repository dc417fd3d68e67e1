package dev.onefold.cli.serve;

import dev.onefold.api.Scope;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.server.Tokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold token`: makes a token for `onefold serve`.
@Command(
        name = "token",
        description = {
            "Makes a token for 'onefold serve --tokens FILE'.",
            "Writes the secret to standard output, this once, and its hash into the file. A line that is deleted there"
                    + " takes the token back; the service reads the file when it starts."
        },
        footer = {
            "  onefold token desk --allow read --file tokens.txt",
            "  onefold token feed --allow write --pipeline trades --file tokens.txt"
        })
public final class TokenCommand implements Callable<Integer> {
    private final Caller caller;

    @Parameters(index = "0", paramLabel = "NAME", description = "Names the token in the file.")
    private String name = "";

    @Option(
            names = "--allow",
            required = true,
            split = ",",
            paramLabel = "SCOPE",
            description = "What the token allows: read (results and status), write (records), operate (dead letters,"
                    + " verification, rebuilding), administer (seeding, comparing, repairing, releasing). May be given"
                    + " several times.")
    private List<String> scopes = List.of();

    @Option(
            names = "--pipeline",
            split = ",",
            paramLabel = "NAME",
            description = "The pipelines that it is for. Default: all.")
    private List<String> pipelines = List.of(Tokens.ALL);

    @Option(
            names = "--file",
            required = true,
            paramLabel = "FILE",
            description = "The file of tokens; made if need be.")
    private String file = "";

    public TokenCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() throws IOException {
        Path path = caller.path(file);
        if (!Files.exists(path)) {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        String text = Files.readString(path);
        List<String> lines = text.lines().toList();
        if (lines.stream().anyMatch(line -> line.startsWith(name + " "))) {
            throw CommandFailure.usage("The file " + caller.shown(path) + " has a token " + name
                    + ". Delete its line first, or say another name.");
        }
        String secret = Tokens.secret(new SecureRandom());
        try {
            String line = Tokens.line(name, secret, allowed(), pipelines) + "\n";
            Files.writeString(
                    path, text.isEmpty() || text.endsWith("\n") ? line : "\n" + line, StandardOpenOption.APPEND);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e.getMessage() + ".");
        }
        caller.printLine(secret);
        caller.note("The secret is shown this once; " + caller.shown(path) + " has its hash.");
        return 0;
    }

    private Set<Scope> allowed() {
        Set<Scope> allowed = EnumSet.noneOf(Scope.class);
        for (String word : scopes) {
            allowed.add(Arrays.stream(Scope.values())
                    .filter(scope -> scope.word().equals(word))
                    .findFirst()
                    .orElseThrow(() -> CommandFailure.usage(
                            "--allow is read, write, operate or administer, not '" + word + "'.")));
        }
        return allowed;
    }
}
