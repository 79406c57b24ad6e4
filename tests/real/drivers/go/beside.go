package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
)

// The ordinary work of a service: a bounded cache, a window of timings, requests of varying size.
type beside struct {
	random  *rand.Rand
	pages   map[int][]byte
	order   []int
	timings []float64
}

func newBeside() *beside {
	return &beside{random: rand.New(rand.NewSource(7)), pages: map[int][]byte{}}
}

func (b *beside) render(key int) []byte {
	if page, ok := b.pages[key]; ok {
		return page
	}
	page := make([]byte, 2000+b.random.Intn(14000))
	b.pages[key] = page
	b.order = append(b.order, key)
	if len(b.order) > 400 {
		delete(b.pages, b.order[0])
		b.order = append([]int(nil), b.order[1:]...)
	}
	return page
}

func (b *beside) request() int {
	page := b.render(b.random.Intn(1500))
	if b.timings = append(b.timings, b.random.Float64()); len(b.timings) > 5000 {
		b.timings = append([]float64(nil), b.timings[2500:]...)
	}
	return len(page)
}

// main records: service OUT STEPS PER_STEP leak|control
func main() {
	steps, _ := strconv.Atoi(os.Args[2])
	perStep, _ := strconv.Atoi(os.Args[3])
	prepare(os.Args[4] == "control")
	for step := 1; step <= steps; step++ {
		serve(perStep)
		runtime.GC()
		runtime.GC()
		out, err := os.Create(filepath.Join(os.Args[1], fmt.Sprintf("heap.%03d.pb.gz", step)))
		if err != nil {
			panic(err)
		}
		if err := pprof.WriteHeapProfile(out); err != nil {
			panic(err)
		}
		out.Close()
	}
}
