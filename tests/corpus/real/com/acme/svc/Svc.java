package com.acme.svc;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import javax.management.ObjectName;

/** A service whose parts are chosen on the command line: Svc OUT STEPS SEED histo|hprof NAME... */
public final class Svc {
  static final class Session { final int id; final byte[] body = new byte[200]; final String name; Session(int id) { this.id = id; name = "session " + id; } }
  static final class Ticket { final Map<Integer, String> parts = new HashMap<>(); Ticket(int id) { parts.put(id, "part " + id); } }
  static final class Listener implements Runnable { final long[] seen = new long[8]; public void run() { seen[0]++; } }
  static final class Tile { final int[] cells = new int[64]; }
  static final class Order { final byte[] body = new byte[400]; }

  static final Map<Integer, Session> SESSIONS = new HashMap<>();
  static final List<Ticket> TICKETS = new ArrayList<>();
  static final List<Runnable> LISTENERS = new ArrayList<>();
  static final Map<Integer, Tile> CACHE = new LinkedHashMap<>();
  static final ArrayDeque<Order> QUEUE = new ArrayDeque<>();
  static List<String> table;
  static List<Tile> burst;
  static Random random;

  static void part(String name, int step) {
    switch (name) {
      case "session" -> { for (int i = 0; i < 400; i++) SESSIONS.put(SESSIONS.size(), new Session(SESSIONS.size())); }
      case "ticket" -> { for (int i = 0; i < 200; i++) TICKETS.add(new Ticket(TICKETS.size())); }
      case "listener" -> { for (int i = 0; i < 500; i++) LISTENERS.add(new Listener()); }
      case "cache" -> { for (int i = 0; i < 500; i++) CACHE.computeIfAbsent((int) (-Math.log(1 - random.nextDouble()) * 100), k -> new Tile()); }
      case "table" -> { if (step == 2) { table = new ArrayList<>(); for (int i = 0; i < 20000; i++) table.add("row " + i); } }
      case "burst" -> { if (step == 3) { burst = new ArrayList<>(); for (int i = 0; i < 9000; i++) burst.add(new Tile()); } if (step == 5) burst = null; }
      case "queue" -> { for (int i = random.nextInt(400); i > 0; i--) QUEUE.add(new Order()); for (int i = random.nextInt(410); i > 0; i--) QUEUE.poll(); }
      default -> throw new IllegalArgumentException(name);
    }
  }

  public static void main(String[] a) throws Exception {
    random = new Random(Long.parseLong(a[2]));
    var server = ManagementFactory.getPlatformMBeanServer();
    var diagnostics = new ObjectName("com.sun.management:type=DiagnosticCommand");
    for (int step = 1; step <= Integer.parseInt(a[1]); step++) {
      for (int i = 4; i < a.length; i++) part(a[i], step);
      if (a[3].equals("hprof")) {
        ManagementFactory.newPlatformMXBeanProxy(server, "com.sun.management:type=HotSpotDiagnostic", HotSpotDiagnosticMXBean.class)
            .dumpHeap(Path.of(a[0], String.format("heap.%02d.hprof", step)).toString(), true);
      } else {
        Object text = server.invoke(diagnostics, "gcClassHistogram", new Object[] {new String[0]}, new String[] {String[].class.getName()});
        Files.write(Path.of(a[0], String.format("histo.%02d.txt", step)), text.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
  }
}
