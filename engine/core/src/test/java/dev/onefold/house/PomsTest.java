package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The rules of Maven's repository for a POM:
/// https://maven.apache.org/repository/guide-central-repository-upload.html
class PomsTest {
    private static final List<Source> POMS = SourceTree.read().stream()
            .filter(file -> file.fileName().equals("pom.xml"))
            .toList();

    private static Source root() {
        return POMS.stream()
                .filter(pom -> pom.path().equals("pom.xml"))
                .findFirst()
                .orElseThrow();
    }

    /// Whether the project has this element itself, so that a name of a licence is not taken for that of a
    /// module.
    private static boolean has(Source pom, String element) {
        return Pattern.compile("(?m)^  <" + element + "[ >]")
                .matcher(pom.text())
                .find();
    }

    @Test
    void every_module_says_its_name_and_what_it_is() {
        assertThat(POMS).hasSizeGreaterThan(20);
        assertThat(POMS.stream()
                        .filter(pom -> !has(pom, "name") || !has(pom, "description"))
                        .map(Source::path))
                .isEmpty();
    }

    @Test
    void the_root_says_what_all_modules_inherit() {
        assertThat(Stream.of("url", "licenses", "developers", "scm").filter(element -> !has(root(), element)))
                .isEmpty();
        assertThat(root().text())
                .containsPattern("<license>\\s*<name>Apache-2.0</name>\\s*<url>https://")
                .containsPattern("<developer>\\s*<name>.+</name>");
        assertThat(POMS.stream()
                        .filter(pom -> !pom.equals(root()) && has(pom, "url"))
                        .map(Source::path))
                .isEmpty();
    }

    @Test
    void a_module_that_is_handed_on_has_its_sources_and_javadoc_with_it() {
        for (Source pom : POMS) {
            boolean deployed = !pom.text().contains("<maven.deploy.skip>true<");
            assertThat(pom.text().contains("<maven.source.skip>true<")
                            || pom.text().contains("<maven.javadoc.skip>true<"))
                    .as("%s skips sources or Javadoc", pom.path())
                    .isNotEqualTo(deployed);
        }
    }
}
