import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** The ordinary work of a service: a bounded cache, a window of timings, requests of varying size. */
public final class Beside {
    private final Random random = new Random(7);
    private final Map<Integer, byte[]> pages = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
            return size() > 200;
        }
    };
    private final ArrayDeque<Double> timings = new ArrayDeque<>();

    public int random(int below) {
        return random.nextInt(below);
    }

    public int request() {
        byte[] page = pages.computeIfAbsent(random(1500), key -> new byte[500 + random(3500)]);
        timings.add(random.nextDouble());
        if (timings.size() > 2000) timings.remove();
        return page.length;
    }

    /** histogram: jcmd GC.class_histogram; dump: jcmd GC.heap_dump. */
    public static void record(String how, String out, int step) throws Exception {
        String pid = Long.toString(ProcessHandle.current().pid());
        Path file = Path.of(out, String.format(how.equals("dump") ? "heap.%03d.hprof" : "histogram.%03d.txt", step)).toAbsolutePath();
        ProcessBuilder jcmd = how.equals("dump") ? new ProcessBuilder("jcmd", pid, "GC.heap_dump", file.toString())
                                                 : new ProcessBuilder("jcmd", pid, "GC.class_histogram").redirectOutput(file.toFile());
        if (jcmd.start().waitFor() != 0 || !Files.exists(file)) throw new IllegalStateException("jcmd failed");
    }
}
