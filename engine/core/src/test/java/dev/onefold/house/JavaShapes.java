package dev.onefold.house;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import dev.onefold.house.SourceTree.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// The types and methods that Java sources declare, as the JDK's own compiler parses them.
record JavaShapes(List<JavaShapes.Type> types, List<JavaShapes.Method> methods) {

    record Type(String place, String packageName, String name) {}

    /// A method or constructor; `lines` counts from its first annotation to its closing brace.
    record Method(String place, String name, long lines, int parameters, boolean inRecord) {
        boolean isConstructor() {
            return name.equals("<init>");
        }
    }

    static JavaShapes of(List<Source> sources) {
        List<Type> types = new ArrayList<>();
        List<Method> methods = new ArrayList<>();
        JavacTask task = (JavacTask) ToolProvider.getSystemJavaCompiler()
                .getTask(
                        null,
                        null,
                        problem -> {},
                        List.of("-proc:none"),
                        null,
                        sources.stream().map(JavaShapes::file).toList());
        Trees trees = Trees.instance(task);
        try {
            for (CompilationUnitTree unit : task.parse()) {
                new Collector(trees, unit, types, methods).scan(unit, null);
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException("The sources cannot be parsed.", unreadable);
        }
        return new JavaShapes(types, methods);
    }

    private static JavaFileObject file(Source source) {
        URI name = URI.create("source:///" + source.path().replace(" ", "%20"));
        return new SimpleJavaFileObject(name, JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source.text();
            }
        };
    }

    private static final class Collector extends TreePathScanner<Void, Void> {
        private final Trees trees;
        private final CompilationUnitTree unit;
        private final List<Type> types;
        private final List<Method> methods;

        Collector(Trees trees, CompilationUnitTree unit, List<Type> types, List<Method> methods) {
            this.trees = trees;
            this.unit = unit;
            this.types = types;
            this.methods = methods;
        }

        @Override
        public Void visitClass(ClassTree type, Void unused) {
            String packageName =
                    unit.getPackageName() == null ? "" : unit.getPackageName().toString();
            types.add(new Type(place(type), packageName, type.getSimpleName().toString()));
            return super.visitClass(type, null);
        }

        @Override
        public Void visitMethod(MethodTree method, Void unused) {
            boolean inRecord = getCurrentPath().getParentPath().getLeaf().getKind() == Tree.Kind.RECORD;
            long lines = lastLine(method) - firstLine(method) + 1;
            int parameters = method.getParameters().size();
            methods.add(new Method(place(method), method.getName().toString(), lines, parameters, inRecord));
            return super.visitMethod(method, null);
        }

        private String place(Tree tree) {
            return unit.getSourceFile().toUri().getPath().substring(1) + ":" + firstLine(tree);
        }

        private long firstLine(Tree tree) {
            return lines().getLineNumber(trees.getSourcePositions().getStartPosition(unit, tree));
        }

        private long lastLine(Tree tree) {
            return lines().getLineNumber(trees.getSourcePositions().getEndPosition(unit, tree));
        }

        private LineMap lines() {
            return unit.getLineMap();
        }
    }
}
