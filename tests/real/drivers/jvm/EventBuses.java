import com.google.common.eventbus.EventBus;
import com.google.common.eventbus.Subscribe;

/** guava: the view of each visit is registered with the bus of the process. The control unregisters it. */
public final class EventBuses {
    static final EventBus bus = new EventBus();
    static final Beside beside = new Beside();

    static final class OrderView {
        private final long[] totals = new long[20];

        @Subscribe
        public void changed(Integer order) {
            totals[order % totals.length]++;
        }
    }

    static void visit(boolean unregisters) {
        OrderView view = new OrderView();
        bus.register(view);
        for (int i = 0; i < 5; i++) beside.request();
        if (unregisters) bus.unregister(view);
    }

    public static void main(String[] words) throws Exception {
        boolean unregisters = words[4].equals("control");
        for (int step = 1; step <= Integer.parseInt(words[2]); step++) {
            for (int i = 0; i < Integer.parseInt(words[3]); i++) visit(unregisters);
            Beside.record(words[0], words[1], step);
        }
    }
}
