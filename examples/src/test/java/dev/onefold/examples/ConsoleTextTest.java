package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the documents show of a console is what it says. `mvn test -pl examples -am -Donefold.write=true` brings
/// them up to date.
class ConsoleTextTest {
    static List<String> documents() {
        return Stream.concat(
                        Stream.of("README.md"),
                        Stream.concat(Clone.examples().stream(), Stream.of("runners"))
                                .map(example -> "examples/" + example + "/README.md"))
                .toList();
    }

    @BeforeAll
    static void build() {
        FunctionJars.build("runners");
    }

    @ParameterizedTest
    @MethodSource("documents")
    void a_readme_shows_what_its_commands_say(String document, @TempDir Path data) throws IOException {
        ConsoleText shown = new ConsoleText(Clone.text(document));
        assertThat(shown.commands()).isNotEmpty();
        ConsoleText said = new ConsoleText(shown.rerun(new Shell(data))
                .replace(data.toString(), "onefold-data")
                .replace(Clone.root() + "/", ""));
        if (Boolean.getBoolean("onefold.write") && !said.steady().equals(shown.steady())) {
            Files.writeString(Clone.root().resolve(document), said.document());
        } else {
            assertThat(said.steady()).isEqualTo(shown.steady());
        }
    }
}
