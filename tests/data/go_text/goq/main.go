// Writes heap.debug1.txt: what /debug/pprof/heap?debug=1 serves, from a process with a known heap.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

type order struct {
	id   int
	body []byte
}

var backlog []*order
var index = map[int][]byte{}

//go:noinline
func newBody(n int) []byte { return make([]byte, n) }

//go:noinline
func leakBacklog(n int) {
	for i := 0; i < n; i++ {
		backlog = append(backlog, &order{i, newBody(512)})
	}
}

//go:noinline
func leakIndex(depth, n int) {
	if depth > 0 {
		leakIndex(depth-1, n)
		return
	}
	for i := 0; i < n; i++ {
		index[i] = newBody(4096)
	}
}

//go:noinline
func churn(n int) {
	for i := 0; i < n; i++ {
		newBody(1024)
	}
}

func main() {
	if len(os.Args) > 2 && os.Args[2] == "all" {
		runtime.MemProfileRate = 1
	}
	leakBacklog(10000)
	leakIndex(3, 500)
	churn(5000)
	runtime.GC()
	runtime.GC()
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.Lookup("heap").WriteTo(out, 1); err != nil {
		panic(err)
	}
	out.Close()
}
