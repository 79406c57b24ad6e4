// Keeps bodies in a map; writes the heap profile as text, then the dump of the whole heap.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
)

var bodies = map[int][]byte{}

//go:noinline
func keep(count int) {
	for i := 0; i < count; i++ {
		bodies[i] = make([]byte, 16<<10)
	}
}

func main() {
	keep(400)
	runtime.GC()
	profile, _ := os.Create("heapdump.profile.txt")
	pprof.Lookup("heap").WriteTo(profile, 1)
	profile.Close()
	dump, _ := os.Create("heapdump")
	debug.WriteHeapDump(dump.Fd())
	dump.Close()
}
