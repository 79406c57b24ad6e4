import java.lang.management.ManagementFactory;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import com.sun.management.HotSpotDiagnosticMXBean;

/** A cache of pages behind soft references, 20 orders that stay, 9 handlers that are lambdas, one made by each caller. */
public class SoftCache {
  record Order(long number, Object next) {}

  static final List<SoftReference<byte[]>> PAGES = new ArrayList<>();
  static final List<Supplier<Object>> HANDLERS = new ArrayList<>();
  static Order last;

  static void handle(int number) {
    Object request = new byte[40];
    HANDLERS.add(() -> request);
  }

  public static void main(String[] arguments) throws Exception {
    for (int page = 0; page < 19; ++page) PAGES.add(new SoftReference<>(new byte[65536]));
    for (int order = 0; order < 1000; ++order) last = new Order(order, last);
    for (int number = 0; number < 9; ++number) handle(number);
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(arguments[0], true);
    new ProcessBuilder("sh", "-c", "jmap -histo " + ProcessHandle.current().pid() + " > " + arguments[1]).start().waitFor();
  }
}
