// A service that keeps every request's body in a map, and a pool of large buffers that it gives back. Writes into the
// folder it is given, at two moments: heap.N.txt (profile with MemStats), smaps.N, status.N, memstats.N.expected.txt.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

var bodies = map[int][]byte{}

//go:noinline
func keep(from, to int) {
	for i := from; i < to; i++ {
		body := make([]byte, 2048)
		for k := range body {
			body[k] = byte(k)
		}
		bodies[i] = body
	}
}

//go:noinline
func burst(megabytes int) int {
	var parts [][]byte
	for i := 0; i < megabytes; i++ {
		part := make([]byte, 1<<20)
		for k := range part {
			part[k] = 1
		}
		parts = append(parts, part)
	}
	return len(parts)
}

func write(folder string, moment int) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	name := func(stem, ending string) string { return fmt.Sprintf("%s/%s.%d%s", folder, stem, moment, ending) }
	profile, _ := os.Create(name("heap", ".txt"))
	pprof.Lookup("heap").WriteTo(profile, 1)
	profile.Close()
	for _, stem := range []string{"smaps", "status"} {
		text, _ := os.ReadFile("/proc/self/" + stem)
		os.WriteFile(name(stem, ""), text, 0o644)
	}
	text, _ := json.Marshal(map[string]uint64{"HeapAlloc": stats.HeapAlloc, "HeapInuse": stats.HeapInuse, "HeapIdle": stats.HeapIdle,
		"HeapReleased": stats.HeapReleased, "Sys": stats.Sys, "HeapSys": stats.HeapSys, "StackSys": stats.StackSys})
	os.WriteFile(name("memstats", ".expected.txt"), text, 0o644)
}

func main() {
	keep(0, 16000)
	write(os.Args[1], 1)
	burst(8)
	keep(16000, 48000)
	write(os.Args[1], 2)
}
