import java.io.*;
import java.nio.file.*;
import java.util.*;

/** Keeps a loader for each request: its classes stay. Waits for a line at each moment; the recorder asks jcmd meanwhile. */
public class Classes {
  static final List<ClassLoader> KEPT = new ArrayList<>();

  public static class Plan {
    static final Map<String, Integer> TABLE = new HashMap<>();
    int a, b, c;
    String name() { return "plan" + a + b + c; }
    int cost(int x) { return x * a + b - c; }
    Object copy() { Plan p = new Plan(); p.a = a; p.b = b; return p; }
  }

  static class Loader extends ClassLoader {
    Loader() { super(null); }
    Class<?> make(byte[] code) { return defineClass(null, code, 0, code.length); }
  }

  static void keep(int count, byte[] code) throws Exception {
    for (int i = 0; i < count; i++) {
      Loader loader = new Loader();
      Class.forName(loader.make(code).getName(), true, loader);
      KEPT.add(loader);
    }
  }

  public static void main(String[] args) throws Exception {
    byte[] code;
    try (InputStream in = Classes.class.getResourceAsStream("Classes$Plan.class")) { code = in.readAllBytes(); }
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    keep(500, code);
    for (int moment = 1; ; moment++) {
      System.out.println("moment " + moment);
      System.out.flush();
      if (lines.readLine() == null || moment == 2) return;
      keep(6000, code);
    }
  }
}
