package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Every module's packages have an order: a package imports only those that stand to its right in the line
/// `a > b > c` of the module's root `package-info`.
class PackagesTest {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern ORDER = Pattern.compile("(?m)^///     (\\w[\\w.]*(?: > \\w[\\w.]*)+ ?>?)$");

    private static final List<Source> MAIN = SourceTree.read().stream()
            .filter(file -> file.isMain() && !file.isModuleInfo())
            .toList();

    private static String packageName(Source file) {
        return PACKAGE.matcher(file.text())
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElse("");
    }

    /// The shortest package: the others are below it.
    private static String root(List<Source> files) {
        return files.stream()
                .map(PackagesTest::packageName)
                .min((one, other) -> Integer.compare(one.length(), other.length()))
                .orElseThrow();
    }

    /// `letters` for `dev.onefold.cli.letters`, and `cli` for the root.
    private static String shortName(String name, String root) {
        return name.equals(root) ? root.substring(root.lastIndexOf('.') + 1) : name.substring(root.length() + 1);
    }

    private static List<String> order(List<Source> files, String root) {
        return files.stream()
                .filter(file -> file.fileName().equals("package-info.java")
                        && packageName(file).equals(root))
                .flatMap(file -> ORDER.matcher(file.text()).results())
                .map(MatchResult::group)
                .flatMap(line -> Stream.of(line.substring(3).split("[ >]+")))
                .filter(name -> !name.isEmpty())
                .toList();
    }

    private static List<String> violations(List<Source> files) {
        String root = root(files);
        List<String> order = order(files, root);
        List<String> violations = new ArrayList<>();
        List<String> names = files.stream()
                .map(file -> shortName(packageName(file), root))
                .distinct()
                .toList();
        if (names.size() > 1
                && !order.stream()
                        .sorted()
                        .toList()
                        .equals(names.stream().sorted().toList())) {
            violations.add("%s: package-info names the packages %s; they are %s.".formatted(root, order, names));
        }
        Pattern imports =
                Pattern.compile("(?m)^import (?:static )?(" + Pattern.quote(root) + "(?:\\.[a-z]\\w*)*)\\.[A-Z]");
        for (Source file : files) {
            int from = order.indexOf(shortName(packageName(file), root));
            imports.matcher(file.text())
                    .results()
                    .map(found -> shortName(found.group(1), root))
                    .filter(to -> order.indexOf(to) < from)
                    .forEach(to -> violations.add(
                            "%s imports package %s, which stands to the left of its own.".formatted(file.path(), to)));
        }
        return violations;
    }

    @Test
    void every_package_imports_only_those_to_its_right() {
        Map<String, List<Source>> modules =
                MAIN.stream().collect(Collectors.groupingBy(Source::module, TreeMap::new, Collectors.toList()));
        assertThat(modules).containsKeys("core", "embedded", "aws", "cli");
        assertThat(modules.values().stream().flatMap(files -> violations(files).stream()))
                .isEmpty();
    }
}
