import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/** micrometer: a gauge for each socket, which stays registered when the socket closes. The control removes it. */
public final class Micrometer {
    static final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    static final Beside beside = new Beside();
    static boolean removes;
    static int sockets;

    static void serveSocket() {
        AtomicInteger pressure = new AtomicInteger(beside.random(100));
        Gauge gauge = Gauge.builder("socket.pressure", pressure, AtomicInteger::get).tag("socket", "s" + sockets++).register(registry);
        for (int i = 0; i < 5; i++) beside.request();
        if (removes) registry.remove(gauge);
    }

    public static void main(String[] words) throws Exception {
        removes = words[4].equals("control");
        for (int step = 1; step <= Integer.parseInt(words[2]); step++) {
            for (int i = 0; i < Integer.parseInt(words[3]); i++) serveSocket();
            Beside.record(words[0], words[1], step);
        }
    }
}
