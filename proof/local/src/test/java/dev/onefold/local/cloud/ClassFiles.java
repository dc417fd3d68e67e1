package dev.onefold.local.cloud;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;

/// Class files for an archive of functions, by their paths in it.
final class ClassFiles {
    private final Map<String, byte[]> files = new TreeMap<>();

    private static String path(String type) {
        return type.replace('.', '/') + ".class";
    }

    private static byte[] read(String path) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(ClassFiles.class.getClassLoader().getResourceAsStream(path))) {
            return in.readAllBytes();
        }
    }

    /// With a class and those in it.
    ClassFiles with(Class<?> type) throws IOException {
        files.put(path(type.getName()), read(path(type.getName())));
        for (Class<?> inner : type.getDeclaredClasses()) {
            with(inner);
        }
        return this;
    }

    /// With a class that has a fault.
    ///
    /// @param fault what the methods of this name do first
    ClassFiles with(String type, String method, Consumer<CodeBuilder> fault) throws IOException {
        CodeTransform first = new CodeTransform() {
            @Override
            public void atStart(CodeBuilder code) {
                fault.accept(code);
            }

            @Override
            public void accept(CodeBuilder code, CodeElement element) {
                code.with(element);
            }
        };
        ClassFile classes = ClassFile.of();
        files.put(
                path(type),
                classes.transformClass(
                        classes.parse(read(path(type))),
                        ClassTransform.transformingMethodBodies(
                                model -> model.methodName().equalsString(method), first)));
        return this;
    }

    Map<String, byte[]> files() {
        return files;
    }
}
