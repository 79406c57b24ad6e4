import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Leaks class loaders and direct buffers; waits for a line on its input between steps. */
public class Loaders {
  static final List<Object> kept = new ArrayList<>();
  public static class Plug { int x; }
  public static void main(String[] args) throws Exception {
    URL[] urls = {new File(".").toURI().toURL()};
    for (int step = 1;; ++step) {
      for (int i = 0; i < 6; ++i) {
        ClassLoader loader = new URLClassLoader(urls, null);
        kept.add(loader.loadClass("Loaders$Plug").getDeclaredConstructor().newInstance());
        kept.add(ByteBuffer.allocateDirect(1 << 20));
      }
      System.out.println("step " + step);
      if (System.in.read() < 0) return;
    }
  }
}
