package dev.onefold.local.cloud;

import dev.onefold.local.template.StackTemplate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// One stack from its making to its deletion: its status, its resources and its events. Any thread.
final class StackLife {
    static final String STACK = "AWS::CloudFormation::Stack";

    private Order order;
    private StackTemplate template;
    private final List<Event> events = new ArrayList<>();
    private final Map<String, Resource> resources = new LinkedHashMap<>();
    private Status status = new Status("", "");
    private Map<String, String> outputs = Map.of();
    private Optional<Instant> deleted = Optional.empty();
    private boolean cancelled;

    /// What was asked for.
    record Order(
            String name,
            String id,
            String yaml,
            List<String> capabilities,
            Map<String, String> tags,
            String onFailure,
            String token,
            Instant at) {}

    /// A status with its reason, which may be empty.
    record Status(String name, String reason) {}

    /// A resource as it is now.
    record Resource(String logical, String physical, String type, Status status, Instant at) {}

    /// What happened.
    record Event(int number, Resource resource) {}

    /// A stack as it is at one moment.
    record Picture(
            Order order,
            Status status,
            Map<String, String> parameters,
            Map<String, String> outputs,
            String description,
            Optional<Instant> deleted) {}

    StackLife(Order order, StackTemplate template) {
        this.order = order;
        this.template = template;
    }

    synchronized Order order() {
        return order;
    }

    /// Of the one thread that makes or removes the stack.
    synchronized StackTemplate template() {
        return template;
    }

    /// Lets another template be the stack's, or the one before again.
    synchronized void become(Order other, StackTemplate its) {
        order = other;
        template = its;
    }

    /// Notes what became of the stack.
    synchronized void set(String name, String reason) {
        status = new Status(name, reason);
        note(new Resource(order.name(), order.id(), STACK, status, Instant.now()));
        if (name.equals("DELETE_COMPLETE")) {
            deleted = Optional.of(Instant.now());
        }
        notifyAll();
    }

    /// Notes what became of a resource, of the stack's template or left over from the one before.
    synchronized void mark(String resource, String name, String reason) {
        Status now = new Status(name, reason);
        Resource was = resources.get(resource);
        if (was != null && !template.resources().contains(resource)) {
            mark(new Resource(resource, was.physical(), was.type(), now, Instant.now()));
        } else {
            mark(new Resource(resource, template.value(resource), template.type(resource), now, Instant.now()));
        }
    }

    /// Notes that a resource is no more.
    synchronized void forget(String resource) {
        resources.remove(resource);
    }

    private synchronized void mark(Resource resource) {
        resources.put(resource.logical(), resource);
        note(resource);
    }

    private void note(Resource resource) {
        events.add(new Event(events.size() + 1, resource));
    }

    synchronized void setOutputs(Map<String, String> told) {
        outputs = Map.copyOf(told);
    }

    synchronized Picture picture() {
        return new Picture(order, status, template.parameters(), outputs, template.description(), deleted);
    }

    synchronized String status() {
        return status.name();
    }

    synchronized List<Resource> resources() {
        return List.copyOf(resources.values());
    }

    /// The latest first.
    synchronized List<Event> events() {
        return List.copyOf(events).reversed();
    }

    boolean isGone() {
        return status().equals("DELETE_COMPLETE");
    }

    /// Lets its making end as soon as it can.
    synchronized void cancel() {
        cancelled = true;
    }

    synchronized boolean isCancelled() {
        return cancelled;
    }
}
