// Live arrays and a counter of the runtime, one snapshot a step, as a snapdiff-tracker file. Leaks 10 arrays a step.
using System.Text.Json;

var keep = new List<byte[]>();
using var output = new StreamWriter(args[0]) { NewLine = "\n" };
void Emit(object line) => output.WriteLine(JsonSerializer.Serialize(line));
Emit(new { k = "header", format = "snapdiff-tracker", version = 1, producer = "LeakyArrays.cs" });
for (int step = 0; step < 8; ++step) {
    for (int i = 0; i < 10; ++i) keep.Add(new byte[1000]);
    Emit(new { k = "snapshot", id = $"step-{step}", seq = step, time = DateTime.UtcNow.ToString("o") });
    Emit(new { k = "live", type = "byte[]", count = keep.Count, bytes = keep.Sum(array => (long)array.Length) });
    Emit(new { k = "counter", name = "GC.GetTotalMemory", value = GC.GetTotalMemory(true), unit = "bytes" });
    Emit(new { k = "end", id = $"step-{step}", rows = 2 });
}
